// Package tokenize reads tokenizer.json (plain or compressed), and turns page titles into
// NCI's title keys.
//
// BERT is written here in Go, because NCI's titles come from transformers' slow
// BertTokenizer, whose decode the tokenizers library does not have; it needs no native code.
// The tokenizers of models are internal/model/subword's.
//
// It must not know documents, datasets, identifiers or steps.
//
// Reading order: file.go, wordpiece.go, basic.go, bert.go.
package tokenize
