package collect

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// Format is how a file is written.
type Format string

const (
	Auto    Format = "auto"
	JSONL   Format = "jsonl"   // one object a line
	TSV     Format = "tsv"     // tabs between columns, nothing quoted
	CSV     Format = "csv"     // commas or tabs, and quotes
	TREC    Format = "trec"    // <DOC> and <top> elements; judgments of four columns
	Parquet Format = "parquet" // a table
)

// headBytes is how much of a text is looked at to tell its format.
const headBytes = 64 << 10

// aRecord begins a record among TREC's elements.
var aRecord = regexp.MustCompile(`(?i)<(doc|top|topic)[> ]`)

// formatOf tells the format of a text by its first bytes or, where they do not decide, by its name.
func formatOf(name string, head []byte) Format {
	text := bytes.TrimSpace(bytes.TrimPrefix(head, byteOrderMark))
	switch {
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return JSONL
	case len(text) > 0 && text[0] == '<' && aRecord.Match(text[:min(len(text), headBytes)]):
		return TREC
	}
	if _, ext := stem(name); ext == ".csv" {
		return CSV
	}
	return TSV
}

// compressed lists the endings that say nothing about the content.
var compressed = []string{".gz", ".bz2", ".zst", ".zstd"}

// stem returns the last part of a name without its endings, and the ending that tells a format.
func stem(name string) (base, ext string) {
	base = strings.ToLower(path.Base(name))
	for _, c := range compressed {
		base = strings.TrimSuffix(base, c)
	}
	ext = path.Ext(base)
	return strings.TrimSuffix(base, ext), ext
}
