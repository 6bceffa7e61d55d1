"""bm25s: the peer of internal/ranking/bm25.

    pip install -r requirements-bm25.txt
    python bm25.py FOLDER [--threads 2] [--passes 3]

FOLDER has passages.txt and queries.txt, one a line. Lucene's formula, k1 0.9, b 0.4, bm25s' own
tokenizer and stop words, its numba backend. Prints one JSON line: seconds and work (queries) of
all passes after the first, in which numba compiles. Queries are tokenized within the time.
"""
import argparse
import json
import os
import time

os.environ["DISABLE_TQDM"] = "1"
p = argparse.ArgumentParser()
p.add_argument("folder")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--passes", type=int, default=3)
p.add_argument("--backend", default="numba")
a = p.parse_args()
os.environ["NUMBA_NUM_THREADS"] = str(a.threads)
import bm25s


def lines(name):
    with open(os.path.join(a.folder, name)) as f:
        return f.read().splitlines()


index = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend=a.backend)
t = time.perf_counter()
index.index(bm25s.tokenize(lines("passages.txt"), show_progress=False), show_progress=False)
built = time.perf_counter() - t
queries = lines("queries.txt")
seconds = 0.0
for n in range(a.passes + 1):
    t = time.perf_counter()
    asked = bm25s.tokenize(queries, return_ids=False, show_progress=False)
    _, scores = index.retrieve(asked, k=100, n_threads=a.threads, show_progress=False)
    if n:
        seconds += time.perf_counter() - t
hits = int((scores > 0).sum())
print(json.dumps({"bm25s": bm25s.__version__, "backend": a.backend, "index_seconds": built, "seconds": seconds, "work": len(queries) * a.passes, "check": f"{hits} hits, the best score {scores[:, 0].astype('f8').sum():.1f}"}))
