"""Golden metrics of ir-measures (pytrec_eval) on random runs.

    pip install -r metrics_requirements.txt
    python metrics.py OUT_FOLDER

Writes random.run, random.qrels and random.json: per query the values of
Success@1, Success@10, RR@10, R@10 and R@40, and their means over all judged queries.
Some queries have several relevant documents, some none of them ranked, two have
no ranking at all; raw rankings hold hypotheses that are no document ("!POSITION:TEXT").
"""
import json
import os
import random
import sys

import ir_measures
from ir_measures import R, RR, Success

MEASURES = {"Hits@1": Success @ 1, "Hits@10": Success @ 10, "MRR@10": RR @ 10, "Recall@10": R @ 10, "Recall@40": R @ 40}


def main(folder):
    rng = random.Random(7)
    documents = [f"p:{n}" for n in rng.sample(range(10 ** 7), 400)]
    run, qrels = [], []
    for q in range(120):
        ranked = rng.sample(documents, rng.choice([1, 5, 40, 40, 40]))
        relevant = rng.sample(ranked if rng.random() < 0.8 else documents, 1)
        if rng.random() < 0.3:
            relevant = list(dict.fromkeys(relevant + rng.sample(documents, 3)))
        qrels += [(f"q{q}", d) for d in relevant]
        if q in (17, 80):
            continue
        score = 0.0
        for i, d in enumerate(ranked):
            score -= rng.random() + 1e-3
            if d not in relevant and rng.random() < 0.2:
                d = f"!{i + 1}:{rng.randrange(10 ** 6)}"
            run.append((f"q{q}", d, i + 1, repr(score)))
    with open(os.path.join(folder, "random.qrels"), "w") as f:
        f.writelines(f"{q} 0 {d} 1\n" for q, d in qrels)
    with open(os.path.join(folder, "random.run"), "w") as f:
        f.writelines(f"{q} Q0 {d} {rank} {score} golden\n" for q, d, rank, score in run)

    judged = list(ir_measures.read_trec_qrels(os.path.join(folder, "random.qrels")))
    ranked = list(ir_measures.read_trec_run(os.path.join(folder, "random.run")))
    names = {str(m): n for n, m in MEASURES.items()}
    queries = {}
    for v in ir_measures.iter_calc(MEASURES.values(), judged, ranked):
        queries.setdefault(v.query_id, {})[names[str(v.measure)]] = v.value
    means = {names[str(m)]: v for m, v in ir_measures.calc_aggregate(MEASURES.values(), judged, ranked).items()}
    with open(os.path.join(folder, "random.json"), "w") as f:
        json.dump({"means": means, "queries": queries}, f, indent=0, sort_keys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
