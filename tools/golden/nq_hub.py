"""Natural Questions as datasets writes them to Parquet, with the features of the hub's card, for internal/corpora/nq: of the
original JSON lines the same records, once as of revision 68b664d and later, once as before, without candidates and offsets
(nq_hub_requirements.txt).

    python tools/golden/nq_hub.py internal/corpora/nq/testdata
"""
import gzip
import json
import pathlib
import sys

import datasets
import pyarrow.parquet as pq
from datasets import ClassLabel, Sequence, Value

OUT = pathlib.Path(sys.argv[1])


def lines(name):
    with gzip.open(OUT / name, "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


YES_NO = ClassLabel(names=["NO", "YES"])
SPAN = {"start_token": Value("int64"), "end_token": Value("int64"), "start_byte": Value("int64"), "end_byte": Value("int64")}


def features(old):
    """The card's; old is that of dataset_infos.json before candidates came."""
    tokens = {"token": Value("string"), "is_html": Value("bool")}
    long_answer = dict(SPAN)
    if not old:
        tokens |= {"start_byte": Value("int64"), "end_byte": Value("int64")}
        long_answer |= {"candidate_index": Value("int64")}
    f = {
        "id": Value("string"),
        "document": {"title": Value("string"), "url": Value("string"), "html": Value("string"), "tokens": Sequence(tokens)},
        "question": {"text": Value("string"), "tokens": Sequence(Value("string"))},
        "long_answer_candidates": Sequence(SPAN | {"top_level": Value("bool")}),
        "annotations": Sequence({
            "id": Value("string"), "long_answer": long_answer, "short_answers": Sequence(SPAN | {"text": Value("string")}),
            "yes_no_answer": YES_NO,
        }),
    }
    if old:
        del f["long_answer_candidates"]
    return datasets.Features(f)


def columns(items, names):
    return {new: [item[old] for item in items] for new, old in names.items()}


def example(r, old):
    """A line as the hub has it: lists of objects are objects of lists, ids are texts."""
    same = {n: n for n in SPAN}
    tokens = {"token": "token", "is_html": "html_token"} | ({} if old else {"start_byte": "start_byte", "end_byte": "end_byte"})
    text = lambda s: " ".join(t["token"] for t in r["document_tokens"][s["start_token"]:s["end_token"]] if not t["html_token"])
    e = {
        "id": str(r["example_id"]),
        "document": {"title": r["document_title"], "url": r["document_url"], "html": r["document_html"], "tokens": columns(r["document_tokens"], tokens)},
        "question": {"text": r["question_text"], "tokens": r["question_tokens"]},
        "long_answer_candidates": columns(r["long_answer_candidates"], same | {"top_level": "top_level"}),
        "annotations": {
            "id": [str(a["annotation_id"]) for a in r["annotations"]],
            "long_answer": [{n: v for n, v in a["long_answer"].items() if not old or n in SPAN} for a in r["annotations"]],
            "short_answers": [columns(a["short_answers"], same) | {"text": [text(s) for s in a["short_answers"]]} for a in r["annotations"]],
            "yes_no_answer": [-1 if a["yes_no_answer"] == "NONE" else YES_NO.str2int(a["yes_no_answer"]) for a in r["annotations"]],
        },
    }
    if old:
        del e["long_answer_candidates"]
    return e


def write(name, records, old=False, **how):
    f = features(old)
    examples = [example(r, old) for r in records]
    table = datasets.Dataset.from_dict({n: [e[n] for e in examples] for n in f}, features=f)
    table.to_parquet(OUT / name, **how)
    print(name, pq.ParquetFile(OUT / name).metadata)


def answered(records):
    """Of the real record's annotation what the set has beside it: several short answers, yes and no, an id beyond int64, and a
    record without annotations."""
    real = records[0]
    span = lambda i, j: {"end_byte": real["document_tokens"][j - 1]["end_byte"], "end_token": j, "start_byte": real["document_tokens"][i]["start_byte"], "start_token": i}
    none = {"candidate_index": -1, "end_byte": -1, "end_token": -1, "start_byte": -1, "start_token": -1}
    a = real["annotations"][0]
    several = a | {"annotation_id": 13591449469826568799, "short_answers": [span(3521, 3525), span(2116, 2117), span(3530, 3531)]}
    yes = a | {"annotation_id": 7, "short_answers": [], "yes_no_answer": "YES"}
    no = {"annotation_id": 8, "long_answer": none, "short_answers": [], "yes_no_answer": "NO"}
    return records + [real | {"example_id": -3, "annotations": [several, no, yes, a]}, real | {"example_id": -4, "annotations": []}]


real = lines("nq-full-walking-dead.jsonl.gz")
pages = lines("real-pages-dev-full.jsonl.gz")
small = [r for r in pages if len(r["document_html"]) < 60000][:3]
kept = answered(real) + small
with open(OUT / "hub.jsonl.gz", "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0) as z:
    for r in kept:
        z.write((json.dumps(r, sort_keys=True) + "\n").encode())
# Two groups of rows, and pages within rows: a dictionary that ends, and lists over several pages.
write("hub.parquet", kept, batch_size=4, data_page_size=8 << 10, write_batch_size=100, dictionary_pagesize_limit=8 << 10)
write("hub-older.parquet", real, old=True)
