// Package serialize turns an NQ record into the text that a model indexes, in
// the four forms of the paper: simplified, SimpleNorm, NciNorm and HtmlNorm
// (sections "Document Serialization" and appendix "HtmlNorm Reconstruction and
// Serialization").
//
// HtmlNorm runs in four passes over one record, each linear in its input:
//
//	scan.go      HTML tokens and NQ's byte spans -> a tree of blocks with the recovered text
//	tree.go      the tree's construction: implied end tags, what is removed, where it stops
//	flow.go      tree -> lines; list.go and table.go write what they name
//	cleanup.go   the pronunciation in the finished text
//
// It owns the forms, their options and the count of what each rule removed. It
// must not know tokenizers (it takes functions), pages, keys, steps or stores.
package serialize
