// Package model has in its folder the models and what trains and decodes them. Only this
// folder has cgo, gotch and the tokenizers' library, and only the second program
// links it; train, which is plain Go, is also read by the declarations of kinds.
//
// From the ground up: tensor (operations of libtorch), seq2seq (encoder-decoders) with the families t5 and bart, and
// bert; models opens one by its config.json; optimizer and amp update it, train/fit trains, decode searches; subword
// makes tokens; index and engine answer queries; here and driver ask for cards. cardtest is for tests.
//
// It imports internal/ranking, internal/corpora, internal/host, step and internal/system.
// Begin with t5, then train/fit and decode.
package model
