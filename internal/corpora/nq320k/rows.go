package nq320k

import (
	"encoding/json"
	"encoding/json/jsontext"
	"io"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

const (
	Documents         = "documents.jsonl.gz"
	TrainQueries      = "train_queries.jsonl.gz"
	ValidationQueries = "validation_queries.jsonl.gz"
	MetadataFile      = "metadata.json"
)

func Files() []string { return []string{Documents, TrainQueries, ValidationQueries, MetadataFile} }

const (
	DocumentRow = "document"
	QueryRow    = "query"
)

// Row is a line of a data file. A query names the document that answers it.
type Row struct {
	DocID     string   `json:"docid"`      // the document's number, from zero
	Kind      string   `json:"kind"`       // DocumentRow or QueryRow
	Text      string   `json:"text"`       // of the document, or the question
	Title     string   `json:"title"`      // of the document, from its URL; of a query ""
	SourceIDs []string `json:"source_ids"` // example ids: of all records of a document, dev first; of a query its own
}

// Append appends the row's line: the layout's member order, a blank after commas and colons, no needless escapes.
func (r *Row) Append(b []byte) []byte {
	b = appendString(append(b, `{"docid": `...), r.DocID)
	b = appendString(append(b, `, "kind": `...), r.Kind)
	b = appendString(append(b, `, "text": `...), r.Text)
	b = appendString(append(b, `, "title": `...), r.Title)
	b = append(b, `, "source_ids": [`...)
	for i, id := range r.SourceIDs {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendString(b, id)
	}
	return append(b, "]}\n"...)
}

// appendString writes a string as Python's json module does: encoding/json always escapes U+2028 and U+2029 too. Bytes that
// are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// TitleOf returns a document's title in the layout: the title in its URL or, without one, the shown title.
func TitleOf(d *dedup.Document) string {
	if t, ok := wikipedia.URLTitle(d.URL); ok {
		return t
	}
	return d.Title
}

type Metadata struct {
	DedupMethod   *string          `json:"dedup_method"`
	DocIDScope    string           `json:"docid_scope"`
	Format        string           `json:"format"`
	FormatVersion int              `json:"format_version"`
	Splits        map[string]Split `json:"splits"` // documents, train_queries, validation_queries
	TextStyle     *string          `json:"text_style"`
}

type Split struct {
	Columns  []string          `json:"columns"`
	DataFile string            `json:"data_file"`
	Features map[string]string `json:"features"` // type of each column, as Python's datasets prints it
	NumRows  int               `json:"num_rows"`
}

const (
	format        = "nq320k_package"
	formatVersion = 1
	docIDScope    = "variant-local-sequential"
)

// splits are the names of the data files in Metadata, in the order of Files.
var splits = []struct{ name, file string }{
	{"documents", Documents}, {"train_queries", TrainQueries}, {"validation_queries", ValidationQueries},
}

// WriteMetadata writes metadata.json of a variant; rows are the numbers of documents, train and validation queries.
func WriteMetadata(w io.Writer, v Variant, rows [3]int) error {
	m := Metadata{DedupMethod: &v.Key, DocIDScope: docIDScope, Format: format, FormatVersion: formatVersion, TextStyle: &v.Style, Splits: map[string]Split{}}
	for i, s := range splits {
		m.Splits[s.name] = Split{
			Columns: []string{"docid", "kind", "text", "title", "source_ids"}, DataFile: s.file, NumRows: rows[i],
			Features: map[string]string{"docid": "Value('string')", "kind": "Value('string')", "text": "Value('string')",
				"title": "Value('string')", "source_ids": "List(Value('string'))"},
		}
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
