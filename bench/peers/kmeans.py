"""scikit-learn's KMeans: the peer of internal/corpora/docid/kmeans.

    pip install -r requirements-kmeans.txt
    python kmeans.py [VECTORS.f32] [--threads 2] [--runs 5] [--iterations 60]

20,000 x 512 float32 numbers, from a file (row by row, little-endian) or from
RandomState(1); 10 clusters from the first rows as starting
centres, tol 0: both sides run the same iterations. Prints one JSON line;
ms_per_iteration is the best run's, seconds and work (iterations) those of all runs
after the first.
"""
import argparse
import json
import os
import time


def main():
    p = argparse.ArgumentParser()
    p.add_argument("data", nargs="?", metavar="VECTORS.f32")
    p.add_argument("--rows", type=int, default=20_000)
    p.add_argument("--cols", type=int, default=512)
    p.add_argument("--clusters", type=int, default=10)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--iterations", type=int, default=60)
    a = p.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(a.threads)
    import numpy as np
    from sklearn import __version__
    from sklearn.cluster import KMeans

    if a.data:
        x = np.fromfile(a.data, dtype="<f4").reshape(a.rows, a.cols)
    else:
        u = np.random.RandomState(1).random_sample((a.rows, a.cols, 3))
        x = (u[:, :, 0] + u[:, :, 1] + u[:, :, 2] - 1.5).astype(np.float32)
    wall, cpu = [], []
    for _ in range(a.runs + 1):
        t, c = time.perf_counter(), time.process_time()
        fit = KMeans(n_clusters=a.clusters, init=x[: a.clusters], n_init=1, tol=0, max_iter=a.iterations).fit(x)
        wall.append(time.perf_counter() - t)
        cpu.append(time.process_time() - c)
    print(json.dumps({
        "sklearn": __version__, "threads": a.threads, "iterations": int(fit.n_iter_), "inertia": float(fit.inertia_),
        "seconds": sum(wall[1:]), "work": int(fit.n_iter_) * a.runs,
        "check": f"{int(fit.n_iter_)} iterations, inertia {fit.inertia_:.3e}",
        "ms_per_iteration": 1e3 * min(wall[1:]) / fit.n_iter_, "cpu_ms_per_iteration": 1e3 * min(cpu[1:]) / fit.n_iter_,
    }))


if __name__ == "__main__":
    main()
