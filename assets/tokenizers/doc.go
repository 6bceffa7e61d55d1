// Package tokenizers holds the two tokenizers of the paper, so that a clone can run
// without a network: T5's and bert-base-uncased's, as Hugging Face tokenizer.json
// in gzip. ATTRIBUTION.md says where they come from.
package tokenizers
