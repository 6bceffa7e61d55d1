package collection

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/export"
	"github.com/redsi/redsi/internal/msmarco"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// exportConfig writes a collection in formats that other people use.
type exportConfig struct {
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Queries   step.Input  `hcl:"queries" accepts:"nq/queries" help:"its queries"`
	Corpus    step.Input  `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the documents; default: none"`
	Counts    step.Inputs `hcl:"counts,optional" accepts:"dedup/counts" help:"counts of the operators that the dataset card lists, with labels"`
	Labels    []string    `hcl:"labels,optional" help:"labels of the counts"`
	Formats   []string    `hcl:"formats,optional" help:"jsonl, parquet, trec and beir"`
	IDs       string      `hcl:"ids,optional" enum:"number,key" help:"how documents are named"`
	Name      string      `hcl:"name" help:"name of the dataset, such as NQ320K-PageID"`
	Key       string      `hcl:"key" help:"deduplication key that made the collection"`
	Form      string      `hcl:"form,optional" help:"serialization of the texts"`
	Origin    string      `hcl:"origin,optional" enum:"natural_questions,generated,other" help:"where questions and texts come from; the card states the licence accordingly"`
}

var Export = step.Define(step.Kind[exportConfig]{
	Name:    "export",
	Version: 3,
	Doc: `Write a collection as JSONL, Parquet, TREC topics and qrels, and BEIR, with a dataset card.
A split without queries has no files. Reads each input once; memory is bounded by the names of the documents.`,
	Example: `step "export" "page_id" {
  documents = step.dedup.nq["page_id"].documents
  queries   = step.dedup.nq["page_id"].queries
  corpus    = step.serialize.html_norm.corpus
  name      = "NQ320K-PageID"
  key       = "page_id"
  form      = "htmlnorm"
}`,
	Outputs:  []step.Output{{Name: "files", Type: "hub/dataset", Tree: true, Help: "one folder per format, and README.md"}},
	Defaults: exportConfig{Formats: []string{"jsonl", "parquet", "trec", "beir"}, IDs: "number", Origin: string(export.NaturalQuestions)},
	Check: func(c exportConfig) error {
		if len(c.Labels) != len(c.Counts) {
			return step.Problems{{Path: "labels", Detail: fmt.Sprintf("has %d labels for %d counts", len(c.Labels), len(c.Counts))}}
		}
		if _, err := exportedKey(c.Key); err != nil {
			return step.Problems{{Path: "key", Detail: err.Error()}}
		}
		return nil
	},
	Run: runExport,
})

// exportedKey is a key that a collection can have, of kind dedup or msmarco.
func exportedKey(name string) (msmarco.Key, error) {
	for _, k := range msmarco.Keys() {
		if k.Name == name {
			return k, nil
		}
	}
	k, err := dedup.Lookup(name)
	if err != nil {
		return msmarco.Key{}, fmt.Errorf("%w; of MS MARCO's documents, %s and %s", err, msmarco.Exact, msmarco.NormalizedTitle)
	}
	return msmarco.Key{Name: k.Name, Label: k.Label, Doc: k.Doc}, nil
}

func runExport(_ context.Context, x *step.IO, c exportConfig) error {
	documents, err := x.Open(c.Documents)
	if err != nil {
		return err
	}
	defer documents.Close()
	queries, err := x.Open(c.Queries)
	if err != nil {
		return err
	}
	defer queries.Close()
	text, done, err := corpusTexts(x, c.Corpus)
	if err != nil {
		return err
	}
	defer done()
	coll, err := export.FromGrouping(documents, queries, export.IDs(c.IDs), text)
	if err != nil {
		return step.Permanent(err)
	}
	var formats []export.Format
	for _, f := range c.Formats {
		formats = append(formats, export.Format(f))
	}
	sum, err := export.Write(coll, formats, func(name string) (io.WriteCloser, error) { return x.CreateFile("files", name) })
	if err != nil {
		return inout.DataError(err)
	}
	card, err := c.card(x)
	if err != nil {
		return err
	}
	w, err := x.CreateFile("files", "README.md")
	if err != nil {
		return err
	}
	x.Count("documents", int64(sum.Documents))
	x.Count("queries", int64(sum.Train+sum.Dev))
	x.Count("documents_without_text", int64(sum.Documents-sum.Texts))
	x.Count("respaced", int64(sum.Respaced))
	x.Count("escaped_topics", int64(sum.Escaped))
	return errors.Join(export.WriteCard(w, card, sum), w.Close())
}

func (c exportConfig) card(x *step.IO) (export.Card, error) {
	k, err := exportedKey(c.Key)
	if err != nil {
		return export.Card{}, step.Permanent(err)
	}
	card := export.Card{Name: c.Name, Key: k.Label, KeyDoc: k.Doc, Serializer: c.Form, Origin: export.Origin(c.Origin)}
	for i, in := range c.Counts {
		var n dedupCounts
		if err := inout.ReadJSON(x, in, &n); err != nil {
			return card, err
		}
		card.Counts = append(card.Counts, export.KeyCount{Key: c.Labels[i], Train: n.Documents.Train, Dev: n.Documents.Dev, Union: n.Documents.Union})
		if n.Resolved != nil && c.Labels[i] == k.Label {
			card.Unresolved = n.Resolved.UnresolvedRecords
		}
	}
	return card, nil
}

// corpusTexts gives each document's text, asked for in order.
func corpusTexts(x *step.IO, in step.Input) (func(*dedup.Document) (string, error), func(), error) {
	if !in.Set() {
		return nil, func() {}, nil
	}
	r, done, err := inout.OpenCorpus(x, in)
	if err != nil {
		return nil, nil, err
	}
	var at corpus.Document
	at.Doc = -1
	return func(d *dedup.Document) (string, error) {
		for at.Doc < d.Doc {
			var err error
			if at, err = r.Next(); errors.Is(err, io.EOF) {
				return "", fmt.Errorf("the corpus ends before it")
			} else if err != nil {
				return "", err
			}
		}
		if at.Doc != d.Doc {
			return "", nil
		}
		return at.Text, nil
	}, done, nil
}
