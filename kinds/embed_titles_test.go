package kinds_test

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// numbered stores texts as documents of these numbers.
func (l *local) numbered(texts map[int32]string, numbers ...int32) step.Input {
	l.t.Helper()
	var b bytes.Buffer
	w, err := corpus.NewWriter(&b)
	errtest.None(l.t, err)
	for _, n := range numbers {
		errtest.None(l.t, w.Write(corpus.Document{Doc: n, Text: texts[n]}))
	}
	errtest.None(l.t, w.Close())
	return l.blob("nq/corpus", b.Bytes())
}

// collectionOf stores documents with these titles in their URLs.
func (l *local) collectionOf(titles ...string) step.Input {
	l.t.Helper()
	var documents []dedup.Document
	for i, title := range titles {
		documents = append(documents, dedup.Document{Doc: int32(i), Key: title, ExampleID: int64(i), Split: nq.Train, Train: 1,
			URL: fmt.Sprintf("//en.wikipedia.org/w/index.php?title=%s&amp;oldid=%d", title, i+1), Title: "not " + title})
	}
	return l.blob("nq/documents", compressed(l.t, documents))
}

// TestOwnTitles: a document without a URL has its own title, one without either none.
func TestOwnTitles(t *testing.T) {
	l := newLocal(t)
	documents := l.blob("nq/documents", compressed(t, []dedup.Document{{Doc: 0, Title: "Naïve Bayes"}, {Doc: 1, ExampleID: 1}}))
	got, err := l.do("embed_hashing", map[string]any{"corpus": l.corpusOf([]string{"alpha", "beta"}), "documents": documents})
	errtest.None(t, err)
	want, err := l.do("embed_hashing", map[string]any{"title": false, "corpus": l.corpusOf([]string{"naïve bayes alpha", "beta"})})
	errtest.None(t, err)
	if got.Outputs["embeddings"].Digest != want.Outputs["embeddings"].Digest {
		t.Error("the vectors are not those of the documents' own titles and texts")
	}
}

// TestEmbeddedTitles: the title in a document's URL comes before its text, both kinds of
// embeddings agree on that, and vectors are those of the documents of their places.
func TestEmbeddedTitles(t *testing.T) {
	l := newLocal(t)
	texts := map[int32]string{0: "alpha is one", 1: "beta is two", 2: "gamma is three", 3: "delta"}
	titles := l.collectionOf("The_Walking_Dead_%28season_8%29", "Caf%C3%A9", "")
	joined := l.corpusOf([]string{"The Walking Dead (season 8) alpha is one", "Café beta is two", " gamma is three"})
	whole := l.numbered(texts, 0, 1, 2)
	for kind, config := range map[string]map[string]any{
		"embed":         {"model": l.tree("files", tinyBERT(t)), "tokenizer": l.bertTokenizer(), "max_tokens": int64(24), "device": "cpu"},
		"embed_hashing": {},
	} {
		embed := func(corpus any, documents any) (*artifacts.Result, error) {
			tree := map[string]any{"corpus": corpus, "title": documents != nil}
			maps.Copy(tree, config)
			if documents != nil {
				tree["documents"] = documents
			}
			return l.do(kind, tree)
		}
		got, err := embed(whole, titles)
		errtest.None(t, err)
		want, err := embed(joined, nil)
		errtest.None(t, err)
		alone, err := embed(whole, nil)
		errtest.None(t, err)
		if g := got.Outputs["embeddings"].Digest; g != want.Outputs["embeddings"].Digest || g == alone.Outputs["embeddings"].Digest {
			t.Errorf("%s: the vectors are not those of titles and texts", kind)
		}
		for message, c := range map[string]struct{ corpus, documents any }{
			"corpus: document 2 where 1 was expected":               {l.numbered(texts, 0, 2, 3), nil},
			"corpus: document 1 where 0 was expected":               {l.numbered(texts, 1, 2, 3), titles},
			"corpus has 2 documents, documents 3":                   {l.numbered(texts, 0, 1), titles},
			"document 3 of corpus is not one of the 3 in documents": {l.numbered(texts, 0, 1, 2, 3), titles},
		} {
			errtest.Says(t, errtest.Of(embed(c.corpus, c.documents)), message)
		}
		bare := map[string]any{"corpus": whole}
		maps.Copy(bare, config)
		if _, err := l.Registry.Lookup(kind).Complete(bare); err == nil || !strings.Contains(err.Error(), "documents: is needed") {
			t.Errorf("%s without documents: %v", kind, err)
		}
	}
}
