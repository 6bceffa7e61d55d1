// Package bart is the BART encoder-decoder as transformers 4.44.1 computes it
// (models/bart/modeling_bart.py): a family of package seq2seq, on package tensor.
//
// Read config.go (config.json), params.go (its parameters), model.go.
package bart
