// Package cardtest holds the tests of what is computed on a card: every operation, forward and
// backward, training, resuming, decoding and embedding, each against the CPU.
//
// By default the card is one of software (internal/model/tensor/fakecard), so that `make test` runs
// the very tests that `make test-cuda` runs on a real one:
//
//	go test ./internal/model/cardtest -card=real [-report FILE]
//
// With -card=real and no card it ends with 2 and says what is missing. The report is JSON: the
// card, libtorch's version, and of each comparison the largest difference and its tolerance.
//
// It has only tests; no program imports it.
package cardtest
