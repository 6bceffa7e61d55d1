"""Loads exports by their croissant.json with mlcroissant, and compares what it gives with
what the files say to readers of Parquet, JSON lines and TSV.

    python -m venv venv && venv/bin/pip install -r croissant_requirements.txt
    venv/bin/python croissant.py ../../internal/corpora/export/testdata/croissant/* EXPORT …
"""

import csv
import gzip
import hashlib
import json
import pathlib
import sys

import mlcroissant
import pyarrow.parquet

# What an export cannot know.
EXPECTED = ("datePublished", "version", "citeAs", "license")


def rows(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    if path.suffix == ".tsv":
        with open(path, newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f, delimiter="\t"))
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def text(value):
    if isinstance(value, bytes):
        value = value.decode()
    return "" if value is None or value != value else str(value)


def check(folder):
    about = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    for file in about["distribution"]:
        data = (folder / file["contentUrl"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == file["sha256"], file["@id"]
        assert f"{len(data)} B" == file["contentSize"], file["@id"]
    dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert not issues.errors, issues.report()
    unexpected = [w for w in issues.warnings if not any(e in w for e in EXPECTED)]
    assert not unexpected, unexpected
    compared = 0
    for records in about["recordSet"]:
        files = {field["source"]["fileObject"]["@id"] for field in records["field"]}
        assert len(files) == 1, files
        want = rows(folder / files.pop())
        got = list(dataset.records(record_set=records["@id"]))
        assert len(got) == len(want) > 0, (records["@id"], len(got), len(want))
        for g, w in zip(got, want):
            for field in records["field"]:
                name = field["name"]
                assert text(g[field["@id"]]) == text(w.get(name)), (records["@id"], name, g, w)
                compared += 1
    print(f"{folder}: {len(about['distribution'])} files, {len(about['recordSet'])} record sets, {compared} values")


for argument in sys.argv[1:]:
    check(pathlib.Path(argument))
