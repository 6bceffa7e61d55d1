// Package retrieve says how queries are answered with a trained model and the identifiers of
// a collection (paper, "Retrieval"): one decoder step for atomic identifiers, beam search for
// the others. It keeps with a model what its user must know to ask it. Package index searches.
//
// Queries come in as tokens, which a Reader makes of texts, and documents go out as
// numbers. It must not know datasets or steps.
//
// Reading order: settings.go, reader.go, options.go, validity.go.
package retrieve
