// Package ranking has in its folder what answers queries with ranked documents without training a model, and what
// judges any ranking: bm25 and dense with their top-k (topk), measures (metrics), tests of significance (significance),
// how a trained model is asked (retrieve, doc2query), and search for people.
//
// It imports internal/corpora and internal/system. It must not know libtorch,
// which is in internal/model, nor steps and stores.
//
// Begin with metrics, to which every ranking comes in the end.
package ranking
