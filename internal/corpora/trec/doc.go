// Package trec has runs and judgments. It reads and writes them as they stand between steps,
// names encoded (ReadRun, Rankings, ReadQrels), and it is the border to foreign files: it reads
// them as other programs write them (TREC, MS MARCO, BEIR, JSON of ranx and pytrec_eval), under
// the names that they have there, gives names to files for others (Outside), and writes the
// header of ir_metadata before a run. All is read by one reader of lines.
//
// It must not know what names mean in a collection or what rankings are worth.
//
// Reading order: rows.go, json.go; names.go, judgments.go, run.go, rankings.go, untie.go;
// metadata.go.
package trec
