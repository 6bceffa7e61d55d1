"""Sample files of internal/corpora/collect: one collection in every format that it reads.

The documents are Aesop's fables in George Fyler Townsend's translation of 1867, which is in the
public domain; queries and judgments were written for the test. Parquet is pyarrow's
(collect_requirements.txt).

    python tools/golden/collect.py internal/corpora/collect/testdata
"""
import bz2
import csv
import gzip
import html
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

OUT = pathlib.Path(sys.argv[1])

DOCUMENTS = [
    ("grapes", "The Fox and the Grapes",
     "A FAMISHED FOX saw some clusters of ripe black grapes hanging from a trellised vine. She resorted to all her tricks "
     "to get at them, but wearied herself in vain, for she could not reach them. At last she turned away, hiding her "
     "disappointment and saying: “The Grapes are sour, and not ripe as I thought.”"),
    ("pitcher", "The Crow and the Pitcher",
     "A CROW perishing with thirst saw a pitcher, and hoping to find water, flew to it with delight. When he reached it, he "
     "discovered to his grief that it contained so little water that he could not possibly get at it. He tried everything "
     "he could think of to reach the water, but all his efforts were in vain. At last he collected as many stones as he "
     "could carry and dropped them one by one with his beak into the pitcher, until he brought the water within his reach "
     "and thus saved his life."),
    ("mouse", "The Lion and the Mouse",
     "A LION was awakened from sleep by a Mouse running over his face. Rising up angrily, he caught him and was about to "
     "kill him, when the Mouse piteously entreated, saying: \"If you would only spare my life, I would be sure to repay "
     "your kindness.\" The Lion laughed & let him go."),
    ("42", "", "A DOG, crossing a bridge over a stream with a piece of flesh in his mouth, saw his own shadow in the water."),
    ("goose", "The Goose With the Golden Eggs",
     "A CERTAIN COTTAGER had a Hen that laid a golden egg every day. They supposed that the Hen must contain a great lump of "
     "gold in its inside, and in order to get the gold they killed it."),
]
QUERIES = [
    ("q1", "train", "who could not reach the grapes"),
    ("q2", "train", "how did the bird raise the water?"),
    ("q3", "dev", "a small animal repays <a great one>"),
    ("q4", "test", "animals near water"),
    ("q5", "test", "nobody judged this"),
]
QRELS = [
    ("train", "q1", "grapes", 1), ("train", "q2", "pitcher", 2), ("train", "q2", "42", 0), ("dev", "q3", "mouse", 1),
    ("test", "q4", "pitcher", 1), ("test", "q4", "42", 2), ("test", "q4", "grapes", 0),
]


def write(name, text, pack=None):
    path = OUT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(pack(data) if pack else data)


def gz(data):
    return gzip.compress(data, mtime=0)


def rows(lines):
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in lines)


def table(lines, sep="\t"):
    return "".join(sep.join(str(c) for c in r) + "\n" for r in lines)


def of(split):
    return [q for q in QUERIES if q[1] == split], [r[1:] for r in QRELS if r[0] == split]


def main():
    beir = [{"_id": i, "title": t, "text": x, "metadata": {}} for i, t, x in DOCUMENTS]
    write("beir/corpus.jsonl", rows(beir))
    write("beir/queries.jsonl", rows({"_id": q[0], "text": q[2], "metadata": {}} for q in QUERIES))
    write("jsonl/documents.jsonl.gz", rows({"docid": int(i) if i.isdigit() else i, "headline": t or None, "contents": x} for i, t, x in DOCUMENTS), gz)
    inline = [{"qid": q[0], "query": q[2], "split": q[1], "documents": {d: g for _, n, d, g in QRELS if n == q[0]}} for q in QUERIES]
    write("jsonl/queries.jsonl.zst", rows(inline), lambda b: zstandard.ZstdCompressor().compress(b))
    write("msmarco/collection.tsv.bz2", table((i, t, x) for i, t, x in DOCUMENTS), bz2.compress)
    docs = "".join(f"<DOC>\n<DOCNO> {i} </DOCNO>\n" + (f"<HEADLINE>\n{html.escape(t)}\n</HEADLINE>\n" if t else "")
                   + f"<TEXT>\n{html.escape(x, quote=False)}\n</TEXT>\n</DOC>\n" for i, t, x in DOCUMENTS)
    write("trec/documents.trec", docs)
    (OUT / "csv").mkdir(parents=True, exist_ok=True)
    with (OUT / "csv/documents.csv").open("w", newline="") as f:
        w = csv.writer(f, lineterminator="\r\n")
        w.writerow(["id", "title", "text"])
        w.writerows(DOCUMENTS)
    write("csv/queries.csv", "id,text,split\r\n" + "".join(f'{i},"{x}",{s}\r\n' for i, s, x in QUERIES))
    for split in ("train", "dev", "test"):
        queries, qrels = of(split)
        write(f"beir/qrels/{split}.tsv", table([("query-id", "corpus-id", "score")] + qrels))
        write(f"csv/qrels-{split}.csv", table([("query-id", "corpus-id", "score")] + qrels, ","))
        write(f"msmarco/queries.{split}.tsv", table((q[0], q[2]) for q in queries))
        write(f"msmarco/qrels.{split}.tsv", table((q, 0, d, g) for q, d, g in qrels))
        write(f"trec/topics.{split}.trec", "".join(f"<top>\n<num> Number: {q[0]}\n<title> {html.escape(q[2], quote=False)}\n"
                                                   f"<desc> Description:\nMore of it.\n</top>\n\n" for q in queries))
        write(f"trec/qrels.{split}.txt", table(((q, 0, d, g) for q, d, g in qrels), " "))
    parquet = OUT / "parquet"
    (parquet / "corpus").mkdir(parents=True, exist_ok=True)
    (parquet / "queries").mkdir(parents=True, exist_ok=True)
    (parquet / "qrels").mkdir(parents=True, exist_ok=True)
    for n, part in enumerate((DOCUMENTS[:3], DOCUMENTS[3:])):
        pq.write_table(pa.table({"_id": [d[0] for d in part], "title": [d[1] for d in part], "text": [d[2] for d in part],
                                 "vector": [[0.5, 1.5]] * len(part)}),
                       parquet / f"corpus/corpus-{n:05d}-of-00002.parquet", row_group_size=2)
    pq.write_table(pa.table({"_id": [q[0] for q in QUERIES], "text": [q[2] for q in QUERIES]}), parquet / "queries/queries-00000-of-00001.parquet")
    for split in ("train", "dev", "test"):
        qrels = of(split)[1]
        pq.write_table(pa.table({"query-id": [r[0] for r in qrels], "corpus-id": [r[1] for r in qrels], "score": pa.array([float(r[2]) for r in qrels])}),
                       parquet / f"qrels/{split}-00000.parquet", compression="zstd")
    pq.write_table(pa.table({"qid": [q[0] for q in QUERIES], "question": [q[2] for q in QUERIES], "split": [q[1] for q in QUERIES],
                             "relevant": [[d for _, n, d, g in QRELS if n == q[0] and g > 0] for q in QUERIES]}),
                   OUT / "relevant.parquet")


main()
