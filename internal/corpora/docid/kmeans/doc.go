// Package kmeans is Lloyd's k-means with k-means++ seeding, as in scikit-learn 1.5.1's KMeans with default parameters on
// float32 or float64 (paper, appendix "Semantic Identifiers"): data centred on its mean, greedy k-means++ with
// 2+int(log k) trials, n_init 1, tolerance scaled by the mean variance, at most 300 iterations, stop when no label changes,
// empty clusters moved to the farthest rows.
//
// The same data and options give the same bits on every processor and with any number of threads: sums run over fixed
// stripes of rows in fixed lanes, and no product is fused with a sum. Random numbers come from numpy's RandomState(seed), so
// random_state = seed in scikit-learn starts from the same rows.
//
// It owns clustering, and the products of vectors that a search asks for, by the same kernels. It must not know documents or
// identifiers.
//
// Reading order: kmeans.go, prepare.go, plusplus.go, lloyd.go, products.go, then the kernels.
package kmeans
