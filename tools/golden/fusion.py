"""Golden fusions of ranx: of the runs of scores.py and of another one, with other documents and queries.

    pip install -r scores_requirements.txt
    python fusion.py FOLDER_OF_graded.run OUT_FOLDER

Writes other.run, and fusion.json: by way, query and document the score, of the queries that both runs have.
"""
import json
import os
import random
import sys

import ranx


def read(path):
    run = {}
    with open(path) as f:
        for line in f:
            q, _, d, rank, _, _ = line.split()
            run.setdefault(q, {})[d] = -float(rank)
    return run


def main(folder, out):
    rng = random.Random(17)
    mine = read(os.path.join(folder, "graded.run"))
    documents = sorted({d for ranked in mine.values() for d in ranked})
    other = {}
    for q in sorted(mine)[:30]:
        if rng.random() < 0.1:
            continue
        ranked = rng.sample(sorted(mine[q]), rng.randint(1, len(mine[q]))) + rng.sample(documents, rng.randint(0, 30))
        ranked = list(dict.fromkeys(ranked))
        other[q] = dict(zip(ranked, sorted((round(rng.gauss(0, 5), 3) + i * 1e-6 for i, _ in enumerate(ranked)), reverse=True)))
    other["only"] = {documents[0]: 2.0, documents[1]: 1.0}
    with open(os.path.join(out, "other.run"), "w") as f:
        for q, ranked in other.items():
            f.writelines(f"{q} Q0 {d} {i + 1} {s!r} golden\n" for i, (d, s) in enumerate(ranked.items()))
    both = sorted(set(mine) & set(other))
    a, b = ranx.Run({q: mine[q] for q in both}), ranx.Run({q: other[q] for q in both})
    ways = {"rrf": dict(norm=None, method="rrf"), "rrf10": dict(norm=None, method="rrf", params={"k": 10})}
    for name, norm in {"min_max": "min-max", "max": "max", "zscore": "zmuv"}.items():
        ways[name] = dict(norm=norm, method="wsum", params={"weights": (0.3, 0.7)})
    golden = {}
    for name, way in ways.items():
        if name == "max":  # of scores above 0
            x, y = (ranx.Run({q: {d: s + 100 for d, s in ranked.items()} for q, ranked in run.items() if q in both}) for run in (mine, other))
        else:
            x, y = a, b
        fused = ranx.fuse(runs=[x, y], **way)
        golden[name] = {q: {d: float(s) for d, s in fused[q].items()} for q in both}
    with open(os.path.join(out, "fusion.json"), "w") as f:
        json.dump(golden, f, sort_keys=True)
        f.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
