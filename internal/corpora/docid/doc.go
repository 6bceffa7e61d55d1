// Package docid assigns identifiers to documents (paper, "Document identifiers" and the appendices on semantic and naive
// identifiers): atomic, one token per document; naive, a random number below a budget; semantic, a path through recursive
// k-means; and, not in the paper, residual, codes of residual quantization; title and keyword, the documents' titles and
// words; and imported identifiers. It turns them into the token ids that a decoder generates, proves that they are unique,
// stores them, and builds the trie that constrained decoding walks.
//
// Documents are names in a fixed order; embeddings come in as a matrix and the model's tokenizer as a function. It must not
// know datasets, models or steps.
//
// Reading order: kind.go, identifier.go, atomic.go, naive.go, semantic.go, residual.go, spelling.go,
// title.go, keywords.go, foreign.go; codec.go; pairing.go; trie.go; statistics.go. The clustering is in kmeans/.
package docid
