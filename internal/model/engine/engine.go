// Package engine asks a trained collection: it is the half of search that computes.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/here"
	"github.com/redsi/redsi/internal/model/index"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/search"
)

// Engine is an opened, trained collection. Several goroutines may search it at once; Close must come after all of them.
type Engine struct {
	settings  retrieve.Settings
	options   retrieve.Options
	device    tensor.Device
	precision string
	ids       *docid.Set
	tok       *subword.Subword
	read      retrieve.Reader
	model     *seq2seq.Model
	index     *index.Index
}

// Open reads the files and checks that they and so many documents, which have the numbers from 0 on, belong together.
func Open(ctx context.Context, f search.Files, documents int, o search.Options) (_ *Engine, err error) {
	e := &Engine{options: retrieve.Default(), precision: cmp.Or(o.Precision, "fp32")}
	e.options.Width, e.options.Constrained = o.Beams, !o.Unconstrained
	if err := e.options.Check(); err != nil {
		return nil, err
	}
	if e.device, err = here.Of(ctx, o.Device); err != nil {
		return nil, err
	}
	if e.settings, err = retrieve.ReadSettings(f.Model); err != nil {
		return nil, err
	}
	if e.ids, err = readIDs(f.IDs); err != nil {
		return nil, err
	}
	if err := e.settings.Match(e.ids); err != nil {
		return nil, err
	}
	e.options.Search = e.settings.Search
	if err := paired(e.ids, documents); err != nil {
		return nil, err
	}
	if e.tok, err = subword.LoadSubword(f.Tokenizer); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	if e.read, err = e.settings.Reader(e.tok); err != nil {
		return nil, err
	}
	catalog, err := index.NewCatalog(e.ids, e.tok)
	if err != nil {
		return nil, err
	}
	if e.model, err = models.LoadIn(f.Model, e.device, o.Precision); err != nil {
		return nil, err
	}
	e.index, err = index.New(e.model, catalog)
	return e, err
}

// paired checks that each document has an identifier, and each identifier a document.
func paired(ids *docid.Set, documents int) error {
	pairing := ids.PairWith("the texts")
	for n := range documents {
		if _, err := pairing.Find(n); err != nil {
			return err
		}
	}
	return pairing.Complete()
}

func readIDs(path string) (*docid.Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return docid.Read(f)
}

func (e *Engine) Close() error {
	if e.index != nil {
		e.index.Close()
	}
	if e.model != nil {
		e.model.Close()
	}
	return e.tok.Close()
}

func (e *Engine) About() search.About {
	a := search.About{Identifiers: string(e.settings.Identifiers), Documents: e.settings.Documents,
		Decoding: search.Unconstrained, Beams: e.options.Width, Device: e.device.String(),
		Precision: e.precision, Warning: e.model.Slow()}
	switch {
	case e.settings.Identifiers.OneToken():
		a.Decoding = search.Exhaustive
	case e.options.Constrained:
		a.Decoding = search.Constrained
	}
	return a
}

// Search returns for each query its k best documents, fewer where the model names fewer.
func (e *Engine) Search(ctx context.Context, queries []string, k int) ([]search.Answer, error) {
	if k < 1 || k > e.options.Width {
		return nil, fmt.Errorf("%d documents of a search of %d beams; between 1 and %d can be returned", k, e.options.Width, e.options.Width)
	}
	answers, inputs := make([]search.Answer, len(queries)), make([][]int32, len(queries))
	for i, q := range queries {
		inputs[i], answers[i].Truncated = e.read.Query(q)
	}
	found, err := e.index.Search(ctx, inputs, e.options, nil)
	if err != nil {
		return nil, err
	}
	for i := range found {
		answers[i].Invalid = found[i].Invalid
		for rank, r := range found[i].Valid() {
			if rank == k {
				break
			}
			answers[i].Hits = append(answers[i].Hits, e.hit(rank+1, r))
		}
	}
	return answers, nil
}

func (e *Engine) hit(rank int, r decode.Ranked) search.Hit {
	logProbability := r.Score // of one token
	if n := len(r.Tokens); n > 0 {
		logProbability *= math.Pow(float64(n), e.options.LengthPenalty)
	}
	id := e.ids.Identifiers[r.Document]
	return search.Hit{Rank: rank, Score: r.Score, Probability: math.Exp(logProbability), Identifier: id.Text, Document: id.Document}
}
