"""Golden labels and inertias of scikit-learn's KMeans.

    pip install -r kmeans_requirements.txt
    python kmeans.py OUT.json.gz

Data is made from RandomState(seed).random_sample, which the Go test repeats, so
only results are stored: labels as one character per row, from the first rows as
starting centres, from random_state 0 to 19, and the best of four starts. Each of the
float32 data and of the same numbers as float64.
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

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
SETS = [  # name, rows, columns, clusters, centres of the data (0: none), distinct rows (0: all)
    ("blobs", 3000, 32, 10, 10, 0),
    ("overlapping", 2049, 13, 10, 25, 0),
    ("uniform", 1500, 20, 10, 0, 0),
    ("three", 1025, 5, 3, 3, 0),
    ("many", 1200, 16, 23, 40, 0),
    ("duplicates", 500, 7, 10, 0, 6),
    ("repeated", 600, 9, 10, 0, 40),
]
SEEDS = 20


def data(index, rows, cols, centres, distinct):
    rs = np.random.RandomState(1000 + index)
    u = rs.random_sample((rows, cols, 2))
    x = u[:, :, 0] + u[:, :, 1]
    if centres:
        at = rs.random_sample((centres, cols)) * 8
        x += at[np.arange(rows) % centres]
    if distinct:
        x = x[np.arange(rows) * 7 % distinct]
    return x.astype(np.float32)


def text(labels):
    return "".join(DIGITS[label] for label in labels)


def result(fit):
    return {"labels": text(fit.labels_), "inertia": float(fit.inertia_), "iterations": int(fit.n_iter_)}


def results(x, k):
    given = KMeans(n_clusters=k, init=x[:k], n_init=1).fit(x)
    far = x[:k].copy()
    far[k // 2:] += 1000  # clusters that get no row: relocation
    return {
        "given": result(given), "far": result(KMeans(n_clusters=k, init=far, n_init=1).fit(x)),
        "seeds": [result(KMeans(n_clusters=k, random_state=s).fit(x)) for s in range(SEEDS)],
        "starts": result(KMeans(n_clusters=k, random_state=SEEDS, n_init=4).fit(x)),
    }


def main(out):
    warnings.simplefilter("ignore")
    sets = []
    for index, (name, rows, cols, k, centres, distinct) in enumerate(SETS):
        x = data(index, rows, cols, centres, distinct)
        sets.append({
            "name": name, "rows": rows, "cols": cols, "clusters": k, "centres": centres, "distinct": distinct,
            "single": results(x, k), "double": results(x.astype(np.float64), k),
        })
    with open(out, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9, mtime=0) as f:
        f.write(json.dumps(sets, indent=1).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
