package ids

import (
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/wikipedia"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// embeddedTexts reads what is embedded of every document. Vectors are paired with
// documents by their place, so the corpus must have all documents from zero.
type embeddedTexts struct {
	corpus *corpus.Reader
	read   int
	titles []string // of documents; nil: none are embedded
}

// openTexts opens a corpus and, if they are wanted, the titles of its documents.
func openTexts(x *step.IO, in, documents step.Input, title bool) (*embeddedTexts, func(), error) {
	t := &embeddedTexts{}
	if title {
		var err error
		if t.titles, err = urlTitles(x, documents); err != nil {
			return nil, nil, err
		}
	}
	rd, done, err := inout.OpenCorpus(x, in)
	t.corpus = rd
	return t, done, err
}

// checkTitle says that titles need documents.
func checkTitle(documents step.Input, title bool) step.Problems {
	if title && !documents.Set() {
		return step.Problems{{Path: "documents", Detail: "is needed: the titles are those of the documents' URLs; or give title = false"}}
	}
	return nil
}

// urlTitles are the titles in documents' URLs, "" where a URL has none.
func urlTitles(x *step.IO, in step.Input) ([]string, error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	titles := []string{}
	err = dedup.ReadDocuments(r, func(d *dedup.Document) error {
		title, _ := wikipedia.URLTitle(d.URL)
		titles = append(titles, title)
		return nil
	})
	return titles, inout.DataError(err)
}

// next is the next document's text, after its title and a blank if titles are wanted;
// io.EOF after the last.
func (t *embeddedTexts) next() (string, error) {
	d, err := t.corpus.Next()
	switch {
	case errors.Is(err, io.EOF):
		if t.titles != nil && t.read != len(t.titles) {
			return "", step.Permanent(fmt.Errorf("corpus has %d documents, documents %d: give both of the same collection", t.read, len(t.titles)))
		}
		return "", err
	case err != nil:
		return "", inout.DataError(err)
	case int(d.Doc) != t.read:
		return "", step.Permanent(fmt.Errorf("corpus: document %d where %d was due: vectors are of all documents, in their order", d.Doc, t.read))
	}
	t.read++
	if t.titles == nil {
		return d.Text, nil
	}
	if t.read > len(t.titles) {
		return "", step.Permanent(fmt.Errorf("document %d of corpus is none of the %d of documents: give both of the same collection", d.Doc, len(t.titles)))
	}
	return t.titles[d.Doc] + " " + d.Text, nil
}
