// Package serialize turns an NQ record into the text that a model indexes, in
// the four forms of the paper: simplified, SimpleNorm, NciNorm and HtmlNorm
// (sections "Document Serialization" and appendix "HtmlNorm Reconstruction and
// Serialization"); and simplified_tags, the simplified format as it is. Where the
// paper is silent, the defaults are what its released code does; where that code
// differs from the paper, that is an option.
//
// HtmlNorm runs in five passes over one record, each linear in its input:
//
//	scan.go      HTML tokens and NQ's byte spans -> a tree of blocks with the recovered text
//	tree.go      the tree's construction: implied end tags, what is removed, where it stops
//	arrange.go   what the lead keeps and in which order; footer sections that go alone
//	flow.go      tree -> lines; list.go, table.go and keyvalue.go write what they name
//	cleanup.go   pronunciations in the finished text
//
// It owns the forms, their options and the count of what each rule removed. It
// must not know tokenizers (it takes functions), pages, keys, steps or stores.
package serialize
