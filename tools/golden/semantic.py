"""Golden semantic identifiers of scikit-learn's KMeans: internal/corpora/docid/semantic_oracle_test.go.

    pip install -r kmeans_requirements.txt
    python semantic.py OUT.json.gz

Recursive k-means over float64 vectors, a seed of its own for every node. Vectors of sets
that have a seed are made from RandomState(seed).random_sample, which the Go test repeats.
"""
import gzip
import json
import os
import sys
import warnings

# OpenBLAS without fused multiply and add, as the Go code computes: which of two equal
# choices is taken depends on the last bit.
os.environ["OPENBLAS_CORETYPE"] = "Prescott"

import numpy as np
from sklearn.cluster import KMeans

LISTED = [[0, 0], [0, 1], [1, 0], [10, 10], [10, 11], [11, 10], [50, 0], [50, 1], [51, 0], [52, 0], [53, 0], [90, 90]]
SETS = [  # name, clusters, leaf size, vectors, or rows, columns, seed of the data and distinct rows (0: all)
    ("listed", 3, 2, LISTED),
    ("halves", 2, 3, LISTED),
    ("equal", 3, 2, [[1, 2]] * 7),
    ("many equal", 10, 100, [[1, 2]] * 1250),
    ("spread", 10, 100, (4000, 12, 7, 0)),
    ("repeated", 10, 20, (2000, 8, 8, 15)),
    ("deep", 2, 1, (300, 3, 9, 0)),
]


def vectors(of):
    if isinstance(of, list):
        return np.array(of, dtype=np.float64)
    rows, cols, seed, distinct = of
    rs = np.random.RandomState(seed)
    x = rs.random_sample((rows, cols))
    x += rs.random_sample((25, cols))[np.arange(rows) % 25] * 4
    if distinct:
        x = x[np.arange(rows) * 7 % distinct]
    return x.astype(np.float32).astype(np.float64)  # embeddings are stored as float32


def identifiers(x, clusters, leaf):
    texts, dealt = [""] * len(x), 0
    nodes = [("", np.arange(len(x)), 42)]
    while nodes:
        prefix, rows, seed = nodes.pop()
        if len(rows) <= leaf:
            for i, row in enumerate(rows):
                texts[row] = prefix + str(i)
            continue
        k = min(clusters, len(rows))
        labels = KMeans(n_clusters=k, random_state=seed).fit(x[rows]).labels_
        if len(set(labels)) == 1:
            labels, dealt = np.arange(len(rows)) % k, dealt + 1
        for c in range(k):
            if (labels == c).any():
                nodes.append((prefix + str(c), rows[labels == c], (seed * 1_000_003 + c + 97) % 2**32))
    return texts, dealt


def main(out):
    warnings.simplefilter("ignore")
    sets = []
    for name, clusters, leaf, of in SETS:
        texts, dealt = identifiers(vectors(of), clusters, leaf)
        one = {"name": name, "clusters": clusters, "leaf_size": leaf, "texts": " ".join(texts), "dealt": dealt}
        if isinstance(of, list):
            one["vectors"] = of
        else:
            one["rows"], one["cols"], one["seed"], one["distinct"] = of
        sets.append(one)
    with open(out, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9, mtime=0) as f:
        f.write(json.dumps(sets, indent=1).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
