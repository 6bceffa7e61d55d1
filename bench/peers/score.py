"""Reads run.txt and qrels.txt of a folder and scores them by pytrec_eval or ir_measures."""
import json
import os
import sys
import time
from importlib.metadata import version

import ir_measures
import pytrec_eval


def by_pytrec_eval(run, qrels, names):
    with open(qrels) as f:
        judged = pytrec_eval.parse_qrel(f)
    with open(run) as f:
        ranked = pytrec_eval.parse_run(f)
    values = pytrec_eval.RelevanceEvaluator(judged, set(names)).evaluate(ranked)
    return [sum(v[n] for v in values.values()) / len(judged) for n in names]


def by_ir_measures(run, qrels, names):
    measures = [ir_measures.parse_trec_measure(n)[0] for n in names]
    judged = ir_measures.read_trec_qrels(qrels)
    ranked = ir_measures.read_trec_run(run)
    values = ir_measures.calc_aggregate(measures, judged, ranked)
    return [values[m] for m in measures]


def main(folder, reader, names):
    names = names.split(",")
    score = {"pytrec_eval": by_pytrec_eval, "ir_measures": by_ir_measures}[reader]
    start = time.perf_counter()
    means = score(os.path.join(folder, "run.txt"), os.path.join(folder, "qrels.txt"), names)
    seconds = time.perf_counter() - start
    print(json.dumps({"is": f"{reader} {version(reader.replace('eval', 'eval-terrier'))}", "seconds": seconds, "work": 1e6, "check": "".join(f"{n} {v:.10f} " for n, v in zip(names, means))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
