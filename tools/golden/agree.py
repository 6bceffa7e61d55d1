"""Golden agreement of rankings by repro_eval, rbo and scipy.

    pip install -r agree_requirements.txt
    python agree.py OUT.json

Pairs of rankings: shuffled a little, of other documents, of other lengths, the same,
without a document in common. repro_eval compares rankings of one length only.
"""
import json
import random
import sys

import rbo
from repro_eval.measure.document_order import _rbo
from repro_eval.measure.effectiveness import RMSE
from scipy.stats import kendalltau

P, DEPTH = 0.9, 50


def pairs(rng):
    documents = [f"D{n}" for n in rng.sample(range(10 ** 4), 120)]
    for n in range(40):
        a = rng.sample(documents, rng.choice([1, 2, 10, 50, 60]))
        b = sorted(a, key=lambda d: a.index(d) + rng.gauss(0, n / 4))
        b = [rng.choice(documents) if rng.random() < n / 80 else d for d in b]
        b = list(dict.fromkeys(b))[:rng.choice([1, 10, 100, 100])]
        yield a, b
    yield documents[:30], documents[:30]
    yield documents[:30], documents[30:60]


def main(path):
    rng = random.Random(3)
    out = []
    for a, b in pairs(rng):
        x, y = a[:DEPTH], b[:DEPTH]
        r = rbo.RankingSimilarity(x, y)
        g = {"a": a, "b": b, "rbo": r.rbo(p=P), "rbo_ext": r.rbo_ext(p=P), "overlap_10": len(set(a[:10]) & set(b[:10])) / 10}
        both = [d for d in x if d in y]
        if len(both) > 1:
            g["tau"] = float(kendalltau([x.index(d) for d in both], [y.index(d) for d in both]).statistic)
        if len(x) == len(y):
            g["rbo_normalized"] = _rbo(x, y, P, len(x))
        out.append(g)
    scores = lambda: {f"q{i}": {"ndcg": rng.random()} for i in range(20)}
    a, b = scores(), scores()
    golden = {"pairs": out, "rmse": RMSE(a, b)["ndcg"], "rmse_a": [v["ndcg"] for v in a.values()], "rmse_b": [v["ndcg"] for v in b.values()]}
    with open(path, "w") as f:
        json.dump(golden, f, indent=0)
        f.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
