// Package fit is the learner of package train: an encoder-decoder with its optimizer, whose updates libtorch computes.
//
// Reading order: seq2seq.go, accumulate.go; card.go, recorder.go (updates that are replayed).
package fit
