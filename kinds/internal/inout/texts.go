package inout

import (
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/step"
)

// Texts are what becomes vectors: the documents of a corpus, or queries. Kinds embed it.
type Texts struct {
	Corpus    step.Input `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the collection's documents"`
	Queries   step.Input `hcl:"queries,added" accepts:"nq/queries" help:"instead of a corpus: queries, one row for each query of the split, in order"`
	Split     string     `hcl:"split,added" enum:"train,dev,test" help:"which of the queries"`
	Documents step.Input `hcl:"documents,optional" accepts:"nq/documents" help:"the collection, for titles from its URLs, or its own titles where there are no URLs"`
	Title     bool       `hcl:"title,optional" help:"a document's title and a blank come before the text, which in NQ mostly begins with a title too"`
}

// Check says which attributes do not go together.
func (t Texts) Check() step.Problems {
	var ps step.Problems
	add := Adding(&ps)
	switch {
	case !t.Queries.Set() && !t.Corpus.Set():
		add("corpus", "set either corpus or queries; exactly one of them is embedded")
	case !t.Queries.Set() && t.Title && !t.Documents.Set():
		add("documents", "is needed for titles; or give title = false")
	case t.Queries.Set() && t.Corpus.Set():
		add("queries", "and corpus are both given: a step embeds one of them, so use another step for the other")
	case t.Queries.Set() && t.Documents.Set():
		add("documents", "applies only to a corpus: queries have no titles")
	}
	return ps
}

// Unit is what the texts are, in the plural.
func (t Texts) Unit() string {
	if t.Queries.Set() {
		return "queries"
	}
	return "documents"
}

// One is what each of them is.
func (t Texts) One() string {
	if t.Queries.Set() {
		return "query"
	}
	return "document"
}

// TextReader gives texts one after another, io.EOF after the last.
type TextReader interface{ Next() (string, error) }

// Open reads the texts, in the order of the rows that they become.
func (t Texts) Open(x *step.IO) (TextReader, func(), error) {
	if !t.Queries.Set() {
		return openTexts(x, t.Corpus, t.Documents, t.Title)
	}
	questions, err := ReadQuestions(x, t.Queries, nq.Split(t.Split), nil)
	return &queryTexts{questions}, func() {}, err
}

// queryTexts are the texts of the questions that are left.
type queryTexts struct{ left []Question }

func (q *queryTexts) Next() (string, error) {
	if len(q.left) == 0 {
		return "", io.EOF
	}
	text := q.left[0].Text
	q.left = q.left[1:]
	return text, nil
}

// documentTexts reads what is embedded of every document. Vectors are paired with
// documents by their place, so the corpus must have all documents from zero.
type documentTexts struct {
	corpus *corpus.Reader
	read   int
	titles []string // of documents; nil: none are embedded
}

// openTexts opens a corpus and, if they are wanted, the titles of its documents.
func openTexts(x *step.IO, in, documents step.Input, title bool) (*documentTexts, func(), error) {
	t := &documentTexts{}
	if title {
		var err error
		if t.titles, err = titles(x, documents); err != nil {
			return nil, nil, err
		}
	}
	rd, done, err := OpenCorpus(x, in)
	t.corpus = rd
	return t, done, err
}

// titles are those in documents' URLs, "" where a URL has none, and the documents' own
// where there is no URL.
func titles(x *step.IO, in step.Input) ([]string, error) {
	all := []string{}
	err := EachRow(x, in, "", func(d *dedup.Document) error {
		title := d.Title
		if d.URL != "" {
			title, _ = wikipedia.URLTitle(d.URL)
		}
		all = append(all, title)
		return nil
	})
	return all, err
}

// Next is the next document's text, after its title and a blank if titles are wanted;
// io.EOF after the last.
func (t *documentTexts) Next() (string, error) {
	d, err := t.corpus.Next()
	switch {
	case errors.Is(err, io.EOF):
		if t.titles != nil && t.read != len(t.titles) {
			return "", step.Permanent(fmt.Errorf("corpus has %d documents, documents %d: take both from the same collection", t.read, len(t.titles)))
		}
		return "", err
	case err != nil:
		return "", DataError(err)
	case int(d.Doc) != t.read:
		return "", step.Permanent(fmt.Errorf("corpus: document %d where %d was expected: all documents need a vector, in order", d.Doc, t.read))
	}
	t.read++
	if t.titles == nil {
		return d.Text, nil
	}
	if t.read > len(t.titles) {
		return "", step.Permanent(fmt.Errorf("document %d of corpus is not one of the %d in documents: take both from the same collection", d.Doc, len(t.titles)))
	}
	return t.titles[d.Doc] + " " + d.Text, nil
}
