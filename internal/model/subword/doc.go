// Package subword turns text into the token ids that models see.
//
// Subword wraps the tokenizers library (Hugging Face's, by daulet/tokenizers) for any
// model, and T5 is its own; they agree with transformers 4.44.1's T5TokenizerFast and
// BartTokenizerFast, and with tokenizers 0.19.1 on Unigram, BPE and WordPiece.
//
// It owns the ids of special tokens, and needs native code, which internal/corpora/tokenize does
// not. It must not know documents, datasets, identifiers or steps.
//
// Reading order: subword.go, prefix.go, t5.go.
package subword
