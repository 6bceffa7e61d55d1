// Package t5 is the T5 encoder-decoder, v1.0 and v1.1, with mT5 and umT5, as transformers 4.44.1 computes it
// (models/t5/modeling_t5.py): a family of package seq2seq, on package tensor.
//
// Read config.go (config.json), params.go (its parameters), model.go.
package t5
