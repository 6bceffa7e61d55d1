// Package t5 is the T5 encoder-decoder, v1.0 and v1.1, as transformers 4.44.1
// computes it (models/t5/modeling_t5.py), on package tensor.
//
// Sequences are never padded. A batch is packed: the tokens of all sequences lie
// one after another in one [T, d_model] matrix, T the number of real tokens, and
// attention is told where each sequence starts. Padding in transformers has no
// effect on the loss, the gradients or the logits of real tokens, so both agree.
//
// The nouns: Config is config.json. Model holds the parameters under Hugging Face's
// names. Batch is what one training step sees, Encoding an encoded set of inputs,
// Cache the decoder's keys and values while it writes.
//
// Read config.go, then model.go (training) and decode.go (one token at a time).
//
// Nothing here knows of tokenizers, data sets, optimizers, beams or where files
// come from.
package t5
