// Package tokenizers holds the two tokenizers of the paper, so that a clone can run
// without a network: T5's and bert-base-uncased's, as Hugging Face tokenizer.json
// in gzip. ATTRIBUTION.md says where they come from.
package tokenizers

import _ "embed"

// T5 is T5's SentencePiece tokenizer with 100 extra ids: 32,100 entries.
//
//go:embed t5-tokenizer.json.gz
var T5 []byte

// BERTUncased is bert-base-uncased's WordPiece tokenizer: 30,522 entries.
//
//go:embed bert-base-uncased-tokenizer.json.gz
var BERTUncased []byte
