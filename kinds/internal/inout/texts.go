package inout

import (
	"fmt"
	"iter"

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
func (t Texts) Check(ps *step.Problems) {
	add := Adding(ps)
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
}

// Unit is what the texts are, in the plural.
func (t Texts) Unit() string {
	if t.Queries.Set() {
		return "queries"
	}
	return "documents"
}

// Each are the texts, in order; an error ends them.
func (t Texts) Each(x *step.IO) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		each := t.eachDocument
		if t.Queries.Set() {
			each = t.eachQuery
		}
		if err := each(x, func(text string) bool { return yield(text, nil) }); err != nil {
			yield("", err)
		}
	}
}

func (t Texts) eachQuery(x *step.IO, yield func(string) bool) error {
	questions, err := ReadQuestions(x, t.Queries, nq.Split(t.Split), nil)
	for _, q := range questions {
		if !yield(q.Text) {
			return nil
		}
	}
	return err
}

// eachDocument checks that the corpus has every document, and titles for all of them.
func (t Texts) eachDocument(x *step.IO, yield func(string) bool) error {
	var titles []string
	if t.Title {
		var err error
		if titles, err = ofDocuments(x, t.Documents, titleOf); err != nil {
			return err
		}
	}
	rd, done, err := OpenCorpus(x, t.Corpus)
	if err != nil {
		return err
	}
	defer done()
	read := 0
	for d, err := range rd.All() {
		text := d.Text
		switch {
		case err != nil:
			return DataError(err)
		case int(d.Doc) != read:
			return step.Permanent(fmt.Errorf("corpus: document %d where %d was expected: all documents need a vector, in order", d.Doc, read))
		case t.Title && read >= len(titles):
			return step.Permanent(fmt.Errorf("document %d of corpus is not one of the %d in documents: take both from the same collection", d.Doc, len(titles)))
		case t.Title:
			text = titles[read] + " " + text
		}
		read++
		if !yield(text) {
			return nil
		}
	}
	if t.Title && read != len(titles) {
		return step.Permanent(fmt.Errorf("corpus has %d documents, documents %d: take both from the same collection", read, len(titles)))
	}
	return nil
}

// titleOf is the title in a document's URL, or its own where there is no URL.
func titleOf(d *dedup.Document) string {
	if d.URL == "" {
		return d.Title
	}
	title, _ := wikipedia.URLTitle(d.URL)
	return title
}
