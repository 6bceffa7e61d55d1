// Package train fits a model to a collection (paper, "Training", "Experimental
// Setup" and appendix "Implementation Details"): indexing examples lead from a
// document's text to its identifier, retrieval examples from a query to it.
//
// Everything but seq2seq.go, card.go and recorder.go is pure Go. What a step computes is a function of the
// configuration, the data, the step's number and the learner's state, so a run
// that was killed continues from its newest checkpoint to the same bits, on the
// same kind of processor with the same number of threads. It must not know
// datasets, files of results or steps of a pipeline.
//
// Reading order: ratio.go, permutation.go, sampler.go, batch.go, schedule.go;
// loop.go, ahead.go, state.go; curve.go, events.go; scaler.go and, with libtorch, seq2seq.go,
// card.go, recorder.go (updates that are replayed).
package train
