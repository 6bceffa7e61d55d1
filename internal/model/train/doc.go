// Package train is how a model is fitted to a collection (paper, "Training", "Experimental Setup" and appendix
// "Implementation Details"): indexing examples lead from a document's text to its identifier, retrieval examples from a
// query to it. Package fit computes the updates.
//
// What a step computes is a function of the configuration, the data, the step's number and the learner's state, so a
// run that was killed continues from its newest checkpoint to the same bits, on the same kind of processor with the
// same number of threads. It must not know datasets, files of results or steps of a pipeline.
//
// Reading order: ratio.go, permutation.go, sampler.go, schedule.go; loop.go, ahead.go, state.go; curve.go, events.go.
package train
