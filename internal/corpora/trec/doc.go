// Package trec reads and writes runs and judgments. Between steps, names are encoded (ReadRun, Rankings, ReadQrels). It also
// reads files of other programs (TREC, MS MARCO, BEIR, JSON of ranx and pytrec_eval) with their names, gives names for files
// for other programs (Outside), and writes the header of ir_metadata before a run.
//
// It must not know what names mean in a collection or what rankings are worth.
//
// Reading order: rows.go, json.go; names.go, judgments.go, run.go, rankings.go, untie.go; metadata.go.
package trec
