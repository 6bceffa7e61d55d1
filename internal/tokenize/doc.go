// Package tokenize turns text into the token ids that the models see, and page
// titles into NCI's title keys.
//
// Subword wraps the tokenizers library (Hugging Face's, by daulet/tokenizers) for any
// model, and T5 is its own; they agree with transformers 4.44.1's T5TokenizerFast and
// BartTokenizerFast, and with tokenizers 0.19.1 on Unigram, BPE and WordPiece. BERT is written here in Go,
// because NCI's titles come from transformers' slow BertTokenizer, whose decode
// that library does not have; it needs no native code.
//
// It owns reading tokenizer.json (plain or compressed) and the ids of special tokens. It
// must not know documents, datasets, identifiers or steps.
//
// Reading order: file.go, subword.go, prefix.go, t5.go; then wordpiece.go, basic.go, bert.go.
package tokenize
