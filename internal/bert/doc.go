// Package bert is the BERT encoder as transformers 4.44.1's BertModel computes it,
// for embedding documents (google/bert_uncased_L-8_H-512_A-8 and others): [CLS] or
// mean of the last hidden states.
//
// Sequences are never padded: a batch is packed, [T, hidden] with T the number of
// real tokens, which changes no result.
//
// It knows of tokens and parameters, not of tokenizers, documents or clustering.
package bert
