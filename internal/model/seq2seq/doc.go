// Package seq2seq is what encoder-decoder models have in common, whatever their family: parameters under Hugging Face's
// names, files, batches, the loss and its gradients, the decoder's cache, and growing the vocabulary. It is all that
// train, decode, retrieve and search know of a model.
//
// A family, such as t5, is a Config and a Network. Config is config.json: which parameters there are and how new ones
// are drawn. Network computes states from embedded tokens, once for training and for decoding token by token: what
// differs between both is behind Attention. Package models lists the families.
//
// Sequences are not padded. A batch is packed: the tokens of all sequences lie one after another in one [T, width]
// matrix, T the number of real tokens, and attention is told where each sequence starts. Padding in transformers has no
// effect on the loss, the gradients or the logits of real tokens, so both agree.
//
// On a card, and on a CPU in half precision, products are with copies of the matrices in the compute type; matrices of
// one product lie in one matrix (copies.go). On a card a batch's indexes come up together (prepare.go); a
// training step's batch has sequences of padding added to it, so that shapes recur (bucket.go).
//
// Reading order: family.go, model.go, pass.go, product.go, prepare.go, bucket.go, loss.go, gradient.go (training),
// copies.go, segment.go (recomputed blocks), decode.go (one token at a time), load.go, init.go.
//
// Nothing here knows of tokenizers, data sets, optimizers, beams or where files come from.
package seq2seq
