"""Scanning a stub dump with lxml.etree.iterparse: a peer of wikipedia.ScanStub.

    pip install -r requirements-data.txt
    python stub_lxml.py DUMP.xml[.gz] [--wanted IDS.txt] [--limit MB] [--runs 1]

Elements are dropped as soon as they are read, so memory is flat. --limit stops
after that many MB (10^6 bytes) of text; seconds and text_bytes then belong
together. Prints one JSON line.
"""
import argparse
import gzip
import json
import time

from lxml import etree


class Counted:
    """A reader that counts its bytes and ends the text at limit."""

    def __init__(self, raw, limit):
        self.raw, self.limit, self.n = raw, limit, 0

    def read(self, size=-1):
        if self.limit and self.n >= self.limit:
            return b""
        b = self.raw.read(1 << 16 if size < 0 else size)
        self.n += len(b)
        return b


def scan(path, wanted, limit):
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as raw:
        text = Counted(raw, limit)
        pages = revisions = redirects = 0
        found = {}
        # recover lets the text end at the limit; one event a page is twice as fast as one an element
        for _, page in etree.iterparse(text, events=("end",), tag="{*}page", recover=bool(limit), huge_tree=True):
            pages += 1
            ns = page.tag[: page.tag.rfind("}") + 1]
            redirects += page.find(ns + "redirect") is not None
            for revision in page.iterchildren(ns + "revision"):
                revisions += 1
                rev = int(revision.findtext(ns + "id"))
                if rev in wanted:
                    found[rev] = (int(page.findtext(ns + "id")), page.findtext(ns + "title"))
            page.clear()
            while page.getprevious() is not None:
                del page.getparent()[0]
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
    print(json.dumps({"is": "gzip and lxml " + etree.__version__, "seconds": best, "work": counts["text_bytes"],
                      "check": "{pages} pages, {revisions} revisions, {found} found".format(**counts), **counts}))


if __name__ == "__main__":
    main()
