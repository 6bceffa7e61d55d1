// Package decode finds the documents that a trained model names for a query (paper, "Retrieval" and appendix "Decoding
// Procedures"): atomic identifiers from the first decoder step's scores, multi-token identifiers by beam search as
// transformers 4.44.1 generates them, unconstrained or along a trie of token ids.
//
// The search is written over the interface Stepper, so that it is pure Go and can be compared with brute force;
// model.go binds it to a model. It must not know datasets, document names or steps: a document is its index.
//
// On a card all of a token is computed there, scores, their order and draws: one
// transfer takes to it what the host decided, one brings back the few candidates.
//
// Reading order: beam.go, search.go, hypotheses.go; candidates.go; rank.go; then sample.go; with libtorch searcher.go,
// model.go and logits.go; for a card card.go, card_best.go, card_draw.go and fit.go.
package decode
