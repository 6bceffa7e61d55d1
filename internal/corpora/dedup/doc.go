// Package dedup decides which snapshots of Natural Questions are the same document (paper, "Document Deduplication" and its
// appendix). It owns the comparison operators, the grouping with its stored form, and the diagnostics: fragmentation,
// collisions, affected queries, coverage and content variation.
//
// Its input is the stream of light record headers; page text enters only as a digest or as two token prefixes. Page ids and
// the tokenizer come in as functions (Sources). It must not know steps, stores, Temporal, dumps or tokenizer files.
//
// Reading order: keys.go (the operators), derive.go and text.go (the values they compare), group.go (the pass), records.go
// and grouping.go (its result), codec.go, then the diagnostics: diagnostics.go, titles.go, coverage.go, revisions.go,
// snippet.go, prefix.go.
package dedup
