"""Reading NQ records in Python: the peer of internal/corpora/nq's Reader.

    pip install -r requirements-data.txt
    python nq_extract.py FILE.jsonl.gz [...] [--gzip isal|gzip] [--json orjson|simdjson] [--runs 3]

Takes the fields that a Record has: example_id, question_text, document_url,
document_title, document_html as UTF-8 bytes, and per token its text, html_token,
start_byte and end_byte; or document_text of the simplified format. Prints one JSON
line: the best run's seconds, and counts by which both sides can be compared.
"""
import argparse
import json
import time
from importlib import import_module
from importlib.metadata import version

import orjson
import simdjson


def fields(r):
    tokens = [
        (t["token"], t["html_token"], t["start_byte"], t["end_byte"])
        for t in r.get("document_tokens", ())
    ]
    return (
        r["example_id"], r["question_text"], r["document_url"],
        r.get("document_title", ""), r.get("document_html", "").encode(), tokens, r.get("document_text", ""),
    )


def records(path, opened, parse):
    with opened(path, "rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            yield len(line), fields(parse(line))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("files", nargs="+")
    p.add_argument("--gzip", choices=["isal", "gzip"], default="isal")
    p.add_argument("--json", choices=["orjson", "simdjson"], default="orjson", help="simdjson makes objects of what is read alone")
    p.add_argument("--runs", type=int, default=3)
    a = p.parse_args()
    best = None
    opened = import_module({"isal": "isal.igzip_threaded", "gzip": "gzip"}[a.gzip]).open
    parse = {"orjson": orjson.loads, "simdjson": simdjson.Parser().parse}[a.json]
    for _ in range(a.runs):
        counts = dict(records=0, text_bytes=0, html_bytes=0, tokens=0)
        start = time.perf_counter()
        for path in a.files:
            for size, (_, _, _, _, html, tokens, _) in records(path, opened, parse):
                counts["records"] += 1
                counts["text_bytes"] += size
                counts["html_bytes"] += len(html)
                counts["tokens"] += len(tokens)
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
    told = {"isal": "isal " + version("isal"), "gzip": "gzip"}[a.gzip]
    print(json.dumps({"is": f"{told} and {a.json} {version({'simdjson': 'pysimdjson'}.get(a.json, a.json))}", "seconds": best, "work": counts["text_bytes"],
                      "check": "{records} records, {tokens} tokens, {html_bytes} bytes of HTML".format(**counts), **counts}))


if __name__ == "__main__":
    main()
