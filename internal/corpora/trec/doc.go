// Package trec is the border to foreign files: it reads runs and judgments as other
// programs write them (TREC, MS MARCO, BEIR, JSON of ranx and pytrec_eval), under the
// names that they have there, and writes the header of ir_metadata before a run.
//
// It must not know what names mean in a collection or what rankings are worth.
//
// Reading order: rows.go, json.go; metadata.go.
package trec
