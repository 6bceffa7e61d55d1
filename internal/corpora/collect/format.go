package collect

import (
	"bytes"
	"path"
	"strings"
)

// Format is how a file is written.
type Format string

// The formats.
const (
	Auto    Format = "auto"
	JSONL   Format = "jsonl"   // one object a line
	TSV     Format = "tsv"     // tabs between columns, nothing quoted
	CSV     Format = "csv"     // commas or tabs, and quotes
	TREC    Format = "trec"    // <DOC> and <top> elements; judgments of four columns
	Parquet Format = "parquet" // a table
)

// headBytes of a text tell its format.
const headBytes = 64 << 10

// formatOf tells the format of a text by its first bytes, and where they do not decide by its
// name.
func formatOf(name string, head []byte) Format {
	text := bytes.TrimSpace(bytes.TrimPrefix(head, byteOrderMark))
	switch {
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return JSONL
	case len(text) > 0 && text[0] == '<' && element(text) != "":
		return TREC
	}
	if _, ext := stem(name); ext == ".csv" {
		return CSV
	}
	return TSV
}

// element is the first TREC element that a text begins, lower-cased; "" if it has none.
func element(text []byte) string {
	lower := bytes.ToLower(text[:min(len(text), headBytes)])
	first, which := len(lower), ""
	for _, name := range []string{"doc", "top", "topic"} {
		for _, end := range []string{">", " "} {
			if at := bytes.Index(lower, []byte("<"+name+end)); at >= 0 && at < first {
				first, which = at, name
			}
		}
	}
	return which
}

// compressed are the endings that say nothing of what is inside.
var compressed = []string{".gz", ".bz2", ".zst", ".zstd"}

// stem is the last part of a name without its endings, and the ending that tells a format.
func stem(name string) (base, ext string) {
	base = strings.ToLower(path.Base(name))
	for _, c := range compressed {
		base = strings.TrimSuffix(base, c)
	}
	ext = path.Ext(base)
	return strings.TrimSuffix(base, ext), ext
}
