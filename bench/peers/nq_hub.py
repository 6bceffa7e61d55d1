"""Natural Questions as Parquet, as the Hugging Face hub has them: the peer of internal/corpora/nq's NewHubReader.

    pip install -r requirements-data.txt
    python nq_hub.py --write FILE.jsonl.gz FILE.parquet
    python nq_hub.py FILE.parquet

The second reads the columns that a Record has, one group of rows after another, with as many threads as there are. Groups have
1,000 rows, as those of datasets' first writers. Prints one JSON line, as nq_extract.py does.
"""
import argparse
import gzip
import json
import time

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

COLUMNS = ["id", "question.text", "document.url", "document.title", "document.html",
           "document.tokens.token", "document.tokens.is_html", "document.tokens.start_byte", "document.tokens.end_byte"]
TOKENS = {"token": ("token", pa.string()), "is_html": ("html_token", pa.bool_()), "start_byte": ("start_byte", pa.int64()), "end_byte": ("end_byte", pa.int64())}
DOCUMENT = pa.struct([("title", pa.string()), ("url", pa.string()), ("html", pa.string()),
                      ("tokens", pa.struct([(name, pa.list_(kind)) for name, (_, kind) in TOKENS.items()]))])
SCHEMA = pa.schema([("id", pa.string()), ("document", DOCUMENT), ("question", pa.struct([("text", pa.string()), ("tokens", pa.list_(pa.string()))]))])


def row(line):
    r = orjson.loads(line)
    tokens = {name: [t[old] for t in r["document_tokens"]] for name, (old, _) in TOKENS.items()}
    return {"id": str(r["example_id"]), "question": {"text": r["question_text"], "tokens": r["question_tokens"]},
            "document": {"title": r["document_title"], "url": r["document_url"], "html": r["document_html"], "tokens": tokens}}


def write(source, to):
    with gzip.open(source) as lines, pq.ParquetWriter(to, SCHEMA) as out:
        batches, held = [], []
        for line in lines:
            held.append(row(line))
            if len(held) == 100:
                batches.append(pa.Table.from_pylist(held, SCHEMA))
                held = []
        batches.append(pa.Table.from_pylist(held, SCHEMA))
        out.write_table(pa.concat_tables(batches), row_group_size=1000)


def read(path):
    records = tokens = html = 0
    f = pq.ParquetFile(path)
    for i in range(f.num_row_groups):
        t = f.read_row_group(i, columns=COLUMNS)
        document = t["document"].combine_chunks()
        records += len(t)
        html += pc.sum(pc.binary_length(document.field("html"))).as_py()
        tokens += len(document.field("tokens").field("token").flatten())
    return records, tokens, html


def main():
    p = argparse.ArgumentParser()
    p.add_argument("files", nargs="+")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    start = time.perf_counter()
    if a.write:
        write(*a.files)
        print(json.dumps({"seconds": time.perf_counter() - start, "work": 1, "check": ""}))
        return
    records, tokens, html = read(a.files[0])
    print(json.dumps({"is": f"pyarrow {pa.__version__}", "seconds": time.perf_counter() - start, "work": html, "check": f"{records} records, {tokens} tokens, {html} bytes of HTML"}))


if __name__ == "__main__":
    main()
