"""Scanning a stub dump with mwxml: a peer of wikipedia.ScanStub.

    pip install -r requirements-data.txt
    python stub_mwxml.py DUMP.xml[.gz] [--wanted IDS.txt] [--limit MB] [--runs 1]

--limit stops after that many MB (10^6 bytes) of text, at the next page's end; mwxml
is slow, so 20 MB say enough. Prints one JSON line.
"""
import argparse
import gzip
import json
import time
from importlib.metadata import version

import mwxml


class Counted:
    def __init__(self, raw):
        self.raw, self.n = raw, 0

    def read(self, size=-1):
        b = self.raw.read(size)
        self.n += len(b)
        return b


def scan(path, wanted, limit):
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as raw:
        text = Counted(raw)
        pages = revisions = redirects = 0
        found = {}
        for page in mwxml.Dump.from_file(text):
            pages += 1
            redirects += page.redirect is not None
            for revision in page:
                revisions += 1
                if revision.id in wanted:
                    found[revision.id] = (page.id, page.title)
            if limit and text.n >= limit:
                break
        return dict(pages=pages, revisions=revisions, redirects=redirects, found=len(found), text_bytes=text.n)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dump")
    p.add_argument("--wanted", help="a file with one revision id per line")
    p.add_argument("--limit", type=float, default=0, help="MB of text")
    p.add_argument("--runs", type=int, default=1)
    a = p.parse_args()
    wanted = set()
    if a.wanted:
        with open(a.wanted) as f:
            wanted = {int(line) for line in f}
    best = None
    for _ in range(a.runs):
        start = time.perf_counter()
        counts = scan(a.dump, wanted, int(a.limit * 1e6))
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
    print(json.dumps({"is": "mwxml " + version("mwxml"), "seconds": best, "work": counts["text_bytes"],
                      "check": "{pages} pages, {revisions} revisions, {found} found".format(**counts), **counts}))


if __name__ == "__main__":
    main()
