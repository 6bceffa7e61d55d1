"""faiss's flat index: the peer of internal/ranking/dense.

    pip install -r requirements-kmeans.txt
    python flat.py VECTORS.f32 QUERIES DEPTH

The DEPTH greatest inner products of each of the first QUERIES vectors with all of 512 numbers. Prints one JSON line: the second
search of two.
"""
import json
import sys
import time

import faiss
import numpy as np

x = np.fromfile(sys.argv[1], dtype="<f4").reshape(-1, 512)
queries, depth = int(sys.argv[2]), int(sys.argv[3])
faiss.omp_set_num_threads(2)
index = faiss.IndexFlatIP(x.shape[1])
index.add(x)
for _ in range(2):
    start = time.perf_counter()
    scores, found = index.search(x[:queries], depth)
    seconds = time.perf_counter() - start
print(json.dumps({"is": f"faiss {faiss.__version__}, IndexFlatIP", "seconds": seconds, "work": queries,
                  "check": f"documents {found[:3].sum()}, products {scores.astype('f8').sum():.3e}"}))
