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

// Attribution says where they come from, with the licence of what they were made of.
//
//go:embed ATTRIBUTION.md
var Attribution []byte
