// Package serialize turns an NQ record into the text that a model indexes, in the four forms of the paper: simplified,
// SimpleNorm, NciNorm and HtmlNorm (section "Document Serialization" and appendix "HtmlNorm Reconstruction and
// Serialization"); and simplified_tags, the unchanged simplified format. Where the paper is silent, the defaults follow its
// released code; where that code differs from the paper, an option chooses.
//
// HtmlNorm runs in five passes over one record, each linear in its input:
//
//	scan.go      HTML tokens and NQ's byte spans -> a tree of blocks with the recovered text
//	tree.go      the tree's construction: implied end tags, what is removed, where it stops
//	arrange.go   content and order of the lead; removal of single footer sections
//	flow.go      tree -> lines; list.go, table.go and keyvalue.go write lists and tables
//	cleanup.go   pronunciations in the finished text
//
// It owns the forms, their options and the counts of removed text by rule. It must not know tokenizers (it takes
// functions), pages, keys, steps or stores.
package serialize
