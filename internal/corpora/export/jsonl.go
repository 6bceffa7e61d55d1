package export

import (
	"fmt"
	"strings"
)

// jsonl writes one Document or Query per line.
type jsonl struct {
	documents *text
	queries   *bySplit
}

func openJSONL(f *files) (writer, error) {
	documents, err := f.text("jsonl/documents.jsonl.gz")
	return &jsonl{documents, f.bySplit("", named("jsonl/queries.", ".jsonl.gz"))}, err
}

func (w *jsonl) document(d *Document) error { return w.documents.json.Encode(d) }

func (w *jsonl) query(q *Query, _ bool) error {
	t, err := w.queries.of(q.Split)
	if err != nil {
		return err
	}
	return t.json.Encode(q)
}

// beir writes the layout that the BEIR loader reads.
type beir struct {
	corpus, queries *text
	qrels           *bySplit
}

type beirDocument struct {
	ID       string       `json:"_id"`
	Title    string       `json:"title"`
	Text     string       `json:"text"`
	Metadata beirMetadata `json:"metadata"`
}

type beirMetadata struct {
	URL    string `json:"url,omitempty"`
	OldID  uint64 `json:"oldid,omitempty"`
	PageID uint64 `json:"page_id,omitempty"`
}

type beirQuery struct {
	ID       string   `json:"_id"`
	Text     string   `json:"text"`
	Metadata struct{} `json:"metadata"`
}

func openBEIR(f *files) (writer, error) {
	corpus, err := f.text("beir/corpus.jsonl")
	if err != nil {
		return nil, err
	}
	queries, err := f.text("beir/queries.jsonl")
	return &beir{corpus, queries, f.bySplit("query-id\tcorpus-id\tscore\n", named("beir/qrels/", ".tsv"))}, err
}

func (w *beir) document(d *Document) error {
	return w.corpus.json.Encode(beirDocument{d.ID, d.Title, d.Text, beirMetadata{d.URL, d.OldID, d.PageID}})
}

func (w *beir) query(q *Query, sameQuestion bool) error {
	if !sameQuestion {
		if err := w.queries.json.Encode(beirQuery{ID: q.ID, Text: q.Text}); err != nil {
			return err
		}
	}
	for _, j := range q.judgments(sameQuestion) {
		if err := w.qrels.line(q.Split, fmt.Sprintf("%s\t%s\t%d\n", tsvField(q.ID), tsvField(j.DocID), j.Grade)); err != nil {
			return err
		}
	}
	return nil
}

// tsvField quotes a name that holds a quote: loaders read CSV with tabs. Names have no tabs or line breaks (checkID).
func tsvField(s string) string {
	if !strings.Contains(s, `"`) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
