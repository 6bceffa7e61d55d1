"""The layout in which NQ320K was published, and the loading of exports with Python's datasets.

    pip install -r exports_requirements.txt
    python exports.py golden ../../internal/corpora/export/testdata/redsi
    python exports.py check EXPORT [EXPORT...]

golden writes what `redsi` has to write for collection.json of that folder, by Python's own json and datasets, without
compression. check reads whole exports, folders of `step "export"` such as `redsi artifacts get` writes: it follows
every configuration of the card with datasets.load_dataset, holds the formats against each other, and holds the
released layout to its rules with a reader of its own. It ends with an error at the first that does not hold. Exports
have the formats jsonl, parquet, trec and beir, or jsonl and redsi alone.
"""
import csv
import gzip
import json
import pathlib
import sys
import tempfile

import datasets
import yaml

COLUMNS = ["docid", "kind", "text", "title", "source_ids"]
SPLITS = {"documents": "documents.jsonl", "train_queries": "train_queries.jsonl", "validation_queries": "validation_queries.jsonl"}
FEATURES = datasets.Features({c: datasets.Value("string") for c in COLUMNS[:4]} | {"source_ids": datasets.List(datasets.Value("string"))})


def metadata(style, key, rows):
    return {
        "format": "nq320k_package", "format_version": 1, "text_style": style, "dedup_method": key, "docid_scope": "variant-local-sequential",
        "splits": {s: {"num_rows": rows[s], "columns": COLUMNS, "features": {n: str(f) for n, f in FEATURES.items()}, "data_file": SPLITS[s] + ".gz"} for s in SPLITS},
    }


def golden(folder):
    folder = pathlib.Path(folder)
    c = json.loads((folder / "collection.json").read_text())
    splits = {"documents": [dict(docid=d["id"], kind="document", text=d["text"], title=d["title"], source_ids=[str(e) for e in d["examples"]]) for d in c["documents"]]}
    for ours, theirs in ("train", "train_queries"), ("dev", "validation_queries"):
        splits[theirs] = [dict(docid=q["doc_id"], kind="query", text=q["text"], title="", source_ids=[q["id"]]) for q in c["queries"] if q["split"] == ours]
    for name, rows in splits.items():
        with open(folder / SPLITS[name], "w", encoding="utf-8", newline="") as f:
            for row in rows:
                f.write(json.dumps(row, ensure_ascii=False) + "\n")
    with open(folder / "metadata.json", "w", encoding="utf-8", newline="") as f:
        f.write(json.dumps(metadata(c["style"], c["key"], {s: len(r) for s, r in splits.items()}), indent=2, sort_keys=True) + "\n")


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as f:
        return [(line, json.loads(line)) for line in f]


def layout(tree, folder):
    """The rules of a folder of the released layout; returns its rows by split."""
    style, key = folder.parts[-2:]
    assert style in {"simplified", "simplenorm", "ncinorm", "htmlnorm"} and key in {"pageid", "ncititle", "url", "text4k"}, folder
    rows = {}
    for split, name in SPLITS.items():
        raw = (folder / (name + ".gz")).read_bytes()
        assert raw[4:8] == b"\0\0\0\0", f"{name} has a time stamp"
        rows[split] = []
        for line, row in lines(folder / (name + ".gz")):
            assert list(row) == COLUMNS, (name, line)
            assert json.dumps(row, ensure_ascii=False) + "\n" == line, (name, line)
            rows[split].append(row)
    stored = (folder / "metadata.json").read_text()
    assert stored == json.dumps(metadata(style, key, {s: len(r) for s, r in rows.items()}), indent=2, sort_keys=True) + "\n", stored
    sources = {}
    for split in "validation_queries", "train_queries":
        for row in rows[split]:
            assert row["kind"] == "query" and row["title"] == "" and len(row["source_ids"]) == 1, row
            known = sources.setdefault(row["docid"], [])
            if row["source_ids"][0] not in known:
                known.append(row["source_ids"][0])
    for n, row in enumerate(rows["documents"]):
        assert row["docid"] == str(n) and row["kind"] == "document", row
        assert row["source_ids"] == sources.pop(row["docid"]), row
    assert not sources, f"queries of no document: {sources}"
    return rows


def load(path, config=None, **files):
    with tempfile.TemporaryDirectory() as cache:
        ds = datasets.load_dataset(str(path), config, cache_dir=cache, **files)
        return {split: ds[split].to_list() for split in ds}, {split: ds[split].features for split in ds}


def dense(row, columns):
    return {c: row.get(c) for c in columns}


def beir_and_trec(tree, documents, queries):
    corpus = [json.loads(line) for line in open(tree / "beir/corpus.jsonl", encoding="utf-8", newline="\n")]
    assert [(d["_id"], d["title"], d["text"]) for d in corpus] == [(d["id"], d["title"], d["text"] or "") for d in documents]
    texts = {q["_id"]: q["text"] for q in (json.loads(line) for line in open(tree / "beir/queries.jsonl", encoding="utf-8", newline="\n"))}
    for split, rows in queries.items():
        with open(tree / f"beir/qrels/{split}.tsv", encoding="utf-8", newline="") as f:
            qrels = [(r["query-id"], r["corpus-id"], r["score"]) for r in csv.DictReader(f, delimiter="\t")]
        assert qrels == [(q["id"], q["doc_id"], "1") for q in rows]
        assert all(texts[q["id"]] == q["text"] for q in rows)
        assert [tuple(line.split()) for line in open(tree / f"trec/qrels.{split}.txt", encoding="utf-8")] == [(q, "0", d, "1") for q, d, _ in qrels]


def check(tree):
    tree = pathlib.Path(tree)
    card = yaml.safe_load((tree / "README.md").read_text().split("---\n")[1])
    for field in "license", "language", "pretty_name", "task_categories", "size_categories", "configs":
        assert field in card, f"the card has no {field}"
    configs = {c["config_name"]: c for c in card["configs"]}
    loaded = {}
    for name in configs:
        loaded[name], features = load(tree, name)
        print(f"  {name}: " + ", ".join(f"{s} {len(rows)}" for s, rows in loaded[name].items()))
    documents = loaded["documents"]["train"]
    size = len(documents)
    queries = {s: rows for s, rows in loaded["queries"].items()}

    same = [dense(r, documents[0]) for _, r in lines(tree / "jsonl/documents.jsonl.gz")]
    assert same == documents, "jsonl and parquet have other documents"
    for split, rows in queries.items():
        assert [r for _, r in lines(tree / f"jsonl/queries.{split}.jsonl.gz")] == rows, f"jsonl and parquet have other {split} queries"

    if (tree / "beir").exists():
        beir_and_trec(tree, documents, queries)

    for split, rows in loaded.get("identifiers", {}).items():
        assert [r for _, r in lines(tree / f"identifiers/{split}.jsonl.gz")] == rows, f"jsonl and parquet have other {split} identifiers"
        assert sorted(r["doc_id"] for r in rows) == sorted(d["id"] for d in documents) and len({r["identifier"] for r in rows}) == size

    for folder in sorted(p.parent for p in tree.glob("data/*/*/metadata.json")):
        rows = layout(tree, folder)
        config = "-".join(folder.parts[-2:])
        if config not in loaded:
            loaded[config], features = load("json", data_files={s: str(folder / (n + ".gz")) for s, n in SPLITS.items()})
            assert all(list(f) == COLUMNS and f == FEATURES for f in features.values()), features
        assert loaded[config] == rows, f"datasets reads other rows of {folder}"
        assert [r["text"] for r in rows["documents"]] == [d["text"] or "" for d in documents]
        print(f"  {folder.relative_to(tree)}: as published")


if __name__ == "__main__":
    verb, *paths = sys.argv[1:]
    for path in paths:
        print(path)
        {"golden": golden, "check": check}[verb](path)
