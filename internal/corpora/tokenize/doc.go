// Package tokenize reads tokenizer.json (plain or compressed), and turns page titles into NCI's title keys.
//
// BERT is written in Go, without native code, because NCI's titles come from transformers' slow BertTokenizer, whose decode
// the tokenizers library lacks. The tokenizers of models are in internal/model/subword.
//
// It must not know documents, datasets, identifiers or steps.
//
// Reading order: file.go, wordpiece.go, basic.go, bert.go.
package tokenize
