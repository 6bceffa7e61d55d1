// Package decode finds the documents that a trained model names for a query
// (paper, "Retrieval" and appendix "Decoding Procedures"): atomic identifiers from
// the first decoder step's scores, multi-token identifiers by beam search as
// transformers 4.44.1 generates them, unconstrained or along a trie of token ids.
//
// The search is written over the interface Stepper, so that it is pure Go and can
// be compared with brute force; model.go binds it to a model. It must not know
// datasets, document names or steps: a document is its index.
//
// Reading order: beam.go, expand.go; candidates.go; rank.go; then
// sample.go; batches.go and, with libtorch, model.go, sample_model.go and atomic.go.
package decode
