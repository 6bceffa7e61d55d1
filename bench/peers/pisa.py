"""PISA: a peer of internal/ranking/bm25.

    pip install -r requirements-bm25.txt
    python pisa.py FOLDER [--threads 2]

FOLDER has passages.txt and queries.txt, one a line; the index is kept there. Its words are indexed as they are, k1 0.9, b 0.4;
MaxScore skips what cannot be among the 100 best. Prints a line of JSON after a first pass, and seconds and
work (queries) of one more for each line of standard input, the data frames that pyterrier-pisa takes and gives included.
The check has no scores: its idf is another one.
"""
import argparse
import json
import os
import sys
import time
from importlib.metadata import version

import pandas
from pyterrier_pisa import PisaIndex

p = argparse.ArgumentParser()
p.add_argument("folder")
p.add_argument("--threads", type=int, default=2)
a = p.parse_args()


def lines(name):
    with open(os.path.join(a.folder, name)) as f:
        return f.read().splitlines()


kept = os.path.join(a.folder, "pisa-" + version("pyterrier-pisa") + ".pisa")
if not os.path.exists(kept):
    made = PisaIndex(kept + ".new", stemmer="none", stops="none", overwrite=True, threads=a.threads)
    made.index({"docno": str(i), "text": text} for i, text in enumerate(lines("passages.txt")))
    os.rename(kept + ".new", kept)
search = PisaIndex(kept, stemmer="none", stops="none").bm25(k1=0.9, b=0.4, num_results=100, threads=a.threads, query_algorithm="maxscore")
queries = pandas.DataFrame([{"qid": str(i), "query": q} for i, q in enumerate(lines("queries.txt"))])
told = f"PISA by pyterrier-pisa {version('pyterrier-pisa')}, MaxScore, its data frame included"


def ask():
    start, cpu = time.perf_counter(), time.process_time()
    found = search(queries)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"is": told, "seconds": seconds, "processor": cpu, "work": len(queries), "check": f"{len(found)} hits"}), flush=True)


ask()
for _ in sys.stdin:
    ask()
