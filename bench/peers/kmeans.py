"""KMeans of scikit-learn or faiss: the peers of internal/corpora/docid/kmeans.

    pip install -r requirements-kmeans.txt
    python kmeans.py VECTORS.f32 [--by sklearn|faiss] [--threads 2] [--runs 5] [--iterations 60]

20,000 x 512 float32 numbers from a file (row by row, little-endian); 10 clusters from the first rows as starting
centres, no tolerance. faiss ends when nothing changes. Prints one JSON line; seconds and work (iterations) are those of all
runs after the first.
"""
import argparse
import json
import os
import time


def main():
    p = argparse.ArgumentParser()
    p.add_argument("data", metavar="VECTORS.f32")
    p.add_argument("--by", choices=["sklearn", "faiss"], default="sklearn")
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

    x = np.fromfile(a.data, dtype="<f4").reshape(a.rows, a.cols)
    told, fit = {"sklearn": by_sklearn, "faiss": by_faiss}[a.by](x, a.clusters, a.iterations)
    seconds = 0
    for run in range(a.runs + 1):
        start = time.perf_counter()
        done = fit()
        seconds += (time.perf_counter() - start) * (run > 0)
    iterations, inertia = done()
    print(json.dumps({"is": told, "seconds": seconds, "work": iterations * a.runs, "check": f"inertia {inertia:.3e}" + f", {iterations} iterations" * (a.by == "sklearn")}))


def by_sklearn(x, clusters, iterations):
    from sklearn import __version__
    from sklearn.cluster import KMeans

    def fit():
        made = KMeans(n_clusters=clusters, init=x[:clusters], n_init=1, tol=0, max_iter=iterations).fit(x)
        return lambda: (int(made.n_iter_), made.inertia_)

    return "scikit-learn " + __version__, fit


def by_faiss(x, clusters, iterations):
    import faiss

    def fit():
        made = faiss.Kmeans(x.shape[1], clusters, niter=iterations, max_points_per_centroid=len(x))
        made.train(x, init_centroids=x[:clusters].copy())
        return lambda: (len(made.obj), float(made.assign(x)[0].sum()))

    return "faiss " + faiss.__version__, fit


if __name__ == "__main__":
    main()
