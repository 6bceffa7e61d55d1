"""Golden scores of trec_eval (pytrec_eval), ir_measures and ranx on random graded runs.

    pip install -r scores_requirements.txt
    python scores.py OUT_FOLDER

Writes graded.run, graded.qrels and graded.json. Scores have ties, in any order of the
documents' names; grades go from -1 to 3; some queries have no relevant document, some no
judgment, some no ranking. graded.json has, per query and measure, the values with the
file's ranks ("rank") and with trec_eval's order of equal scores ("trec_eval").
"""
import json
import os
import random
import sys

import ir_measures
import pytrec_eval
import ranx

TREC_EVAL = {
    1: {"success_1", "success_10", "recip_rank", "ndcg", "ndcg_cut_5", "ndcg_cut_10", "map", "map_cut_10", "map_cut_100",
        "P_5", "P_10", "recall_10", "recall_100", "Rprec", "bpref", "iprec_at_recall_0.00", "iprec_at_recall_0.10", "iprec_at_recall_0.70",
        "iprec_at_recall_1.00"},
    2: {"map", "map_cut_10", "P_10", "recall_10", "Rprec", "bpref", "recip_rank", "success_5"},
}
BY_IR_MEASURES = ["RR@10", "RR(rel=2)@10", "AP(rel=2)@10", "nDCG@10", "Judged@10", "Judged", "R(rel=2)@10", "P(rel=3)@5", "Success(rel=2)@5", "Rprec(rel=2)", "Bpref",
                  "IPrec(rel=2)@0.4", "RBP(rel=1)", "RBP(rel=2,p=0.95)", "nDCG(judged_only=True)@10", "AP(judged_only=True)", "P(judged_only=True)@5",
                  "RR(judged_only=True)", "AP(judged_only=True,rel=2)@10", "IPrec(judged_only=True)@0.3"]
BY_GDEVAL = ["ERR@5", "ERR@20"]  # five decimals, of queries that are numbers
OURS = {"map": "AP(rel=2)", "map_cut_10": "AP(rel=2)@10", "P_10": "P(rel=2)@10", "recall_10": "R(rel=2)@10", "Rprec": "Rprec(rel=2)",
        "bpref": "Bpref(rel=2)", "recip_rank": "RR(rel=2)", "success_5": "Success(rel=2)@5"}


def make(folder):
    rng = random.Random(11)
    documents = [f"D{n}" for n in rng.sample(range(10 ** 5), 300)]
    run, qrels = [], []
    for q in range(150):
        ranked = rng.sample(documents, rng.choice([1, 3, 8, 40, 60]))
        if q % 40 != 9:  # else nobody judged it
            pool = rng.sample(ranked, min(len(ranked), rng.choice([1, 4, 20]))) + rng.sample(documents, 5)
            best = 0 if q % 30 == 4 else 3
            qrels += [(f"q{q}", d, rng.randint(-1, best)) for d in dict.fromkeys(pool)]
        if q % 50 == 21:  # it has no ranking
            continue
        scores = sorted((round(rng.gauss(10, 1), rng.choice([0, 1, 6])) for _ in ranked), reverse=True)
        run += [(f"q{q}", d, i + 1, s) for i, (d, s) in enumerate(zip(ranked, scores))]
    with open(os.path.join(folder, "graded.qrels"), "w") as f:
        f.writelines(f"{q} 0 {d} {g}\n" for q, d, g in qrels)
    with open(os.path.join(folder, "graded.run"), "w") as f:
        f.writelines(f"{q} Q0 {d} {rank} {score!r} golden\n" for q, d, rank, score in run)
    return run, qrels


def nested(rows):
    out = {}
    for q, d, v in rows:
        out.setdefault(q, {})[d] = v
    return out


def scores(run, qrels):
    values = {}
    for rel, names in TREC_EVAL.items():
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, names, relevance_level=rel)
        for q, measured in evaluator.evaluate(run).items():
            for name, v in measured.items():
                values.setdefault(q, {})[name if rel == 1 else OURS[name]] = v
    return values


def main(folder):
    rows, judged = make(folder)
    qrels = nested(judged)
    by_score = nested((q, d, s) for q, d, _, s in rows)
    by_rank = nested((q, d, float(-rank)) for q, d, rank, _ in rows)
    golden = {"trec_eval": scores(by_score, qrels), "rank": scores(by_rank, qrels)}
    measures = [ir_measures.parse_measure(m) for m in BY_IR_MEASURES]
    for v in ir_measures.iter_calc(measures, qrels, by_rank):
        if v.query_id in golden["rank"]:
            golden["rank"][v.query_id][str(v.measure)] = v.value
    number = {q: {d: g for d, g in of.items()} for q, of in ((q[1:], of) for q, of in qrels.items())}
    for v in ir_measures.iter_calc([ir_measures.parse_measure(m) for m in BY_GDEVAL], number, {q[1:]: of for q, of in by_rank.items()}):
        if "q" + v.query_id in golden["rank"]:
            golden["rank"]["q" + v.query_id][str(v.measure)] = v.value
    known = {q for q in by_rank if any(g > 0 for g in qrels.get(q, {}).values())}
    kept = ranx.Qrels({q: {d: max(g, 0) for d, g in qrels[q].items()} for q in known})
    run = ranx.Run({q: by_rank[q] for q in known})
    ranx.evaluate(kept, run, ["ndcg_burges@10", "ndcg_burges"])
    for name, ours in {"ndcg_burges@10": "nDCG(dcg='exp-log2')@10", "ndcg_burges": "nDCG(dcg='exp-log2')"}.items():
        for q, v in run.scores[name].items():
            golden["rank"][q][ours] = float(v)
    for values in golden["rank"].values():  # 0 of 0: of rankings without a judged document, by trec_eval
        for name in [name for name, v in values.items() if v != v]:
            del values[name]
    golden["missing"] = sorted(set(qrels) - set(by_rank))
    golden["unjudged"] = sorted(set(by_rank) - set(qrels))
    golden["irrelevant"] = sorted(q for q, d in qrels.items() if not any(g > 0 for g in d.values()))
    with open(os.path.join(folder, "graded.json"), "w") as f:
        json.dump(golden, f, indent=0, sort_keys=True)
        f.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
