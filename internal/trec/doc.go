// Package trec is the border to files of others: it reads runs and judgments as other
// programs write them (TREC, MS MARCO, BEIR, JSON of ranx and pytrec_eval), under the
// names that they have there.
//
// What names mean in a collection, and what rankings are worth, it must not know.
//
// Reading order: rows.go, json.go.
package trec
