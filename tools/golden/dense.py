"""Writes internal/ranking/dense/testdata: vectors, and numpy's ranking of them.

pip install numpy==1.26.4
python dense.py internal/ranking/dense/testdata

Whole numbers make ties that no rounding breaks: equal products go by number. Twenty
documents are others again, one is zero.
"""
import json
import os
import sys

import numpy as np


def main(folder):
    r = np.random.default_rng(11)
    documents = r.integers(-3, 4, (301, 19)).astype("<f4")
    documents[100:120] = documents[0:20]
    documents[50] = 0
    queries = r.integers(-3, 4, (13, 19)).astype("<f4")
    queries[5] = 0
    order = lambda s: [[int(d) for d in sorted(range(len(row)), key=lambda d: (-row[d], d))] for row in s]
    product = queries @ documents.T
    norms = np.linalg.norm(queries.astype("f8"), axis=1)[:, None] * np.linalg.norm(documents.astype("f8"), axis=1)[None]
    cosine = np.divide(product.astype("f8"), norms, out=np.zeros_like(norms), where=norms > 0)
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "documents.npy"), documents)
    np.save(os.path.join(folder, "queries.npy"), queries)
    with open(os.path.join(folder, "golden.json"), "w") as f:
        json.dump({"product": {"order": order(product), "score": [[float(v) for v in row] for row in product]}, "cosine": {"score": [[round(float(v), 12) for v in row] for row in cosine]}}, f, separators=(",", ":"))


main(sys.argv[1])
