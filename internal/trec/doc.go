// Package trec is the border to files of others: it reads runs and judgments as other
// programs write them (TREC, MS MARCO, BEIR, JSON of ranx and pytrec_eval), under the
// names that they have there, and writes the header of ir_metadata before a run.
//
// What names mean in a collection, and what rankings are worth, it must not know.
//
// Reading order: rows.go, json.go; metadata.go.
package trec
