"""Write a data set of ir_datasets into a folder, laid out as BEIR lays out its own: export.py NAME SPLIT FOLDER"""
import json
import sys
from pathlib import Path

import ir_datasets


def refuse(download):
    sys.exit(f"{download.url} is not among the files that this step is given, or its MD5 is not the one that ir_datasets {ir_datasets.__version__} expects: look at the variable downloads")


# ir_datasets takes the files in the folder downloads, if their MD5 is right, and else goes to the network.
ir_datasets.util.RequestsDownload.stream = refuse

name, split, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
dataset = ir_datasets.load(name)


def write(file, records):
    with open(folder / file, "w") as out:
        out.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in records)


def document(d):
    if hasattr(d, "title") and hasattr(d, "text"):
        return {"_id": d.doc_id, "title": d.title.strip(), "text": d.text.strip()}
    return {"_id": d.doc_id, "text": d.default_text().strip()}


(folder / "qrels").mkdir()
write("corpus.jsonl", map(document, dataset.docs_iter()))
write("queries.jsonl", ({"_id": q.query_id, "text": q.default_text().strip()} for q in dataset.queries_iter()))
with open(folder / "qrels" / f"{split}.tsv", "w") as out:
    out.write("query-id\tcorpus-id\tscore\n")
    out.writelines(f"{q.query_id}\t{q.doc_id}\t{q.relevance}\n" for q in dataset.qrels_iter())
