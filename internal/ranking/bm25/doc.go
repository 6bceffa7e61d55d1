// Package bm25 is an inverted index in memory that ranks documents by BM25, in the formulas and with the tokenizers of
// papers' baselines, Lucene, bm25s and rank_bm25, which its goldens hold it to. It owns tokens, formulas and the
// search. It must not know collections, splits or files.
package bm25
