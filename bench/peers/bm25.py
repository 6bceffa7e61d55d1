"""bm25s: the peer of internal/ranking/bm25.

    pip install -r requirements-bm25.txt
    python bm25.py FOLDER [--threads 2]

FOLDER has passages.txt and queries.txt, one a line; the index is kept there. Lucene's formula, k1 0.9,
b 0.4, bm25s' own tokenizer and stop words, its numba backend. Prints a line of JSON after a first pass,
in which numba compiles, and seconds and work (queries) of one more for each line of standard input.
Queries are tokenized within the time.
"""
import argparse
import json
import os
import sys
import time

os.environ["DISABLE_TQDM"] = "1"
p = argparse.ArgumentParser()
p.add_argument("folder")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--backend", default="numba")
a = p.parse_args()
os.environ["NUMBA_NUM_THREADS"] = str(a.threads)
import bm25s


def lines(name):
    with open(os.path.join(a.folder, name)) as f:
        return f.read().splitlines()


kept = os.path.join(a.folder, "bm25s-" + bm25s.__version__)
if not os.path.exists(kept):
    made = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    made.index(bm25s.tokenize(lines("passages.txt"), show_progress=False), show_progress=False)
    made.save(kept + ".new", show_progress=False)
    os.rename(kept + ".new", kept)
index = bm25s.BM25.load(kept, backend=a.backend)
queries = lines("queries.txt")


def ask():
    start, cpu = time.perf_counter(), time.process_time()
    asked = bm25s.tokenize(queries, return_ids=False, show_progress=False)
    _, scores = index.retrieve(asked, k=100, n_threads=a.threads, show_progress=False)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    check = f"{int((scores > 0).sum())} hits, the best score {scores[:, 0].astype('f8').sum():.1f}"
    print(json.dumps({"is": f"bm25s {bm25s.__version__}, {a.backend}", "seconds": seconds, "processor": cpu, "work": len(queries), "check": check}), flush=True)


ask()
for _ in sys.stdin:
    ask()
