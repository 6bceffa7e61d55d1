"""Golden p values of scipy and statsmodels, for paired scores of systems.

    pip install -r significance_requirements.txt
    python significance.py OUT.json

Three sets: many queries with many equal values, few queries (all signs of the
randomization test can be tried), four systems. The studentized range is on a grid of its
arguments; Tukey's HSD with queries as blocks is made of numpy's analysis of variance. The
cluster bootstrap is Rao and Wu's in numpy, with more draws than the test makes.
"""
import json
import sys

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests


def hsd(x):
    """p of all pairs; x is systems x queries."""
    k, n = x.shape
    rest = x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
    df = (k - 1) * (n - 1)
    error = np.sqrt((rest ** 2).sum() / df / n)
    m = x.mean(axis=1)
    return [[i, j, float(stats.studentized_range.sf(abs(m[i] - m[j]) / error, k, df))] for i in range(k) for j in range(i + 1, k)]


def rescaled(strata, draws=400_000):
    """Percentiles of a ratio by Rao and Wu's bootstrap: n - 1 of n clusters, moved by sqrt(1 - f)."""
    rng = np.random.default_rng(7)
    total = np.zeros((draws, 2))
    for s in strata:
        x = s["weight"] * np.array([s["above"], s["below"]], dtype=float)  # 2 x clusters
        n = x.shape[1]
        counts = rng.multinomial(n - 1, np.full(n, 1 / n), size=draws)
        total += x.sum(axis=1) + np.sqrt(1 - s["fraction"]) * (counts @ x.T * n / (n - 1) - x.sum(axis=1))
    ratios = total[:, 0] / total[:, 1]
    return [float(v) for v in np.percentile(ratios, (2.5, 97.5))]


def main(path):
    rng = np.random.default_rng(5)
    levels = np.array([0, 0.1, 0.125, 0.2, 0.25, 1 / 3, 0.5, 1])
    base = rng.choice(levels, 200)
    systems = np.array([base, np.where(rng.random(200) < 0.3, rng.choice(levels, 200), base), np.clip(base + rng.normal(0.03, 0.2, 200), 0, 1),
                        rng.choice(levels, 200)])
    few = np.array([rng.choice(levels, 12), rng.choice(levels, 12), rng.choice(levels, 12) * 0.5])
    golden = {"sets": []}
    mean = lambda a, b, axis: (a - b).mean(axis=axis)
    for x in (systems, few):
        pairs = []
        for i in range(len(x)):
            for j in range(i + 1, len(x)):
                a, b = x[i], x[j]
                t = stats.ttest_rel(a, b)
                ci = t.confidence_interval(0.95)
                w = stats.wilcoxon(a, b, method="approx", correction=False)
                n = np.inf if len(a) <= 12 else 100_000
                margin = 0.05
                d, far = a - b, np.sign((a - b).mean()) or 1
                inside = max(stats.ttest_1samp(d, -margin, alternative="greater").pvalue, stats.ttest_1samp(d, margin, alternative="less").pvalue)
                beyond = min(1, 2 * stats.ttest_1samp(far * d, margin, alternative="greater").pvalue)
                perm = stats.permutation_test((a, b), mean, permutation_type="samples", n_resamples=n, vectorized=True, batch=2000, random_state=np.random.default_rng(1))
                pairs.append({"a": i, "b": j, "t": float(t.statistic), "t_p": float(t.pvalue), "low": float(ci.low), "high": float(ci.high),
                              "w": float(w.statistic), "w_p": float(w.pvalue), "permutation_p": float(perm.pvalue),
                              "within": float(inside), "beyond": float(beyond),
                              "d": float((a - b).mean() / (a - b).std(ddof=1))})
        ps = [p["t_p"] for p in pairs]
        golden["sets"].append({"systems": x.tolist(), "pairs": pairs, "hsd": hsd(x),
                               "holm": multipletests(ps, method="holm")[1].tolist(), "bonferroni": multipletests(ps, method="bonferroni")[1].tolist(),
                               "fdr_bh": multipletests(ps, method="fdr_bh")[1].tolist()})
    golden["studentized_range"] = [[q, k, df, float(stats.studentized_range.sf(q, k, df))]
                                   for q in (0.1, 1.0, 2.5, 3.6, 5.0, 8.0) for k in (2, 3, 7, 20) for df in (1, 2, 5, 30, 400, 20000)]
    rng = np.random.default_rng(11)
    golden["ratios"] = []
    for sizes in (((300, 0.02, 50), (120, 1.0, 1)), ((40, 0.5, 2), (25, 0.25, 4)), ((15, 0.1, 1),)):
        strata = []
        for n, fraction, weight in sizes:
            below = rng.integers(1, 9, n)
            strata.append({"above": rng.binomial(below, 0.3).tolist(), "below": below.tolist(), "fraction": fraction, "weight": weight})
        golden["ratios"].append({"strata": strata, "interval": rescaled(strata)})
    with open(path, "w") as f:
        json.dump(golden, f, indent=0)
        f.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
