//go:build !notorch

package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/redsi/redsi/internal/decode"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/models"
	"github.com/redsi/redsi/internal/retrieve"
	"github.com/redsi/redsi/internal/seq2seq"
	"github.com/redsi/redsi/internal/subword"
	"github.com/redsi/redsi/internal/tensor"
)

// Engine is an opened, trained collection. Several goroutines may search it at
// once; Close must come after all of them.
type Engine struct {
	settings retrieve.Settings
	options  retrieve.Options
	device   tensor.Device
	ids      *docid.Set
	cards    []Card // in the order of ids
	tok      *subword.Subword
	read     retrieve.Reader
	model    *seq2seq.Model
	index    *retrieve.Index
}

// Open reads the files and checks that they and the cards, by document number, belong
// together.
func Open(f Files, cards []Card, o Options) (_ *Engine, err error) {
	e := &Engine{options: retrieve.Default()}
	e.options.Width, e.options.Constrained = o.Beams, !o.Unconstrained
	if err := e.options.Check(); err != nil {
		return nil, err
	}
	if e.device, err = tensor.ParseDevice(o.Device); err != nil {
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
	if e.cards, err = inOrder(e.ids, cards); err != nil {
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
	catalog, err := retrieve.NewCatalog(e.ids, e.tok)
	if err != nil {
		return nil, err
	}
	if e.model, err = models.Load(f.Model, e.device); err != nil {
		return nil, err
	}
	e.index, err = retrieve.NewIndex(e.model, catalog)
	return e, err
}

// inOrder pairs documents' cards with their identifiers.
func inOrder(ids *docid.Set, cards []Card) ([]Card, error) {
	pairing, ordered := ids.PairWith("the texts"), make([]Card, len(ids.Identifiers))
	for document, card := range cards {
		place, err := pairing.Find(document)
		if err != nil {
			return nil, err
		}
		ordered[place] = card
	}
	return ordered, pairing.Complete()
}

func readIDs(path string) (*docid.Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return docid.Read(f)
}

// Close frees the model and the tokenizer.
func (e *Engine) Close() error {
	if e.index != nil {
		e.index.Close()
	}
	if e.model != nil {
		e.model.Close()
	}
	return e.tok.Close()
}

// About says what is searched and how.
func (e *Engine) About() About {
	a := About{Identifiers: string(e.settings.Identifiers), Documents: e.settings.Documents,
		Decoding: Unconstrained, Beams: e.options.Width, Device: e.device.String()}
	switch {
	case e.settings.Identifiers.OneToken():
		a.Decoding = Exhaustive
	case e.options.Constrained:
		a.Decoding = Constrained
	}
	return a
}

// Search returns for each query its k best documents, fewer where the model names
// fewer.
func (e *Engine) Search(ctx context.Context, queries []string, k int) ([]Answer, error) {
	if k < 1 || k > e.options.Width {
		return nil, fmt.Errorf("%d documents of a search of %d beams; between 1 and %d can be had", k, e.options.Width, e.options.Width)
	}
	answers, inputs := make([]Answer, len(queries)), make([][]int32, len(queries))
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
			hit, err := e.hit(rank+1, r)
			if err != nil {
				return nil, err
			}
			answers[i].Hits = append(answers[i].Hits, hit)
		}
	}
	return answers, nil
}

func (e *Engine) hit(rank int, r decode.Ranked) (Hit, error) {
	if r.Document >= len(e.cards) {
		return Hit{}, errors.New("the search names a document that the collection does not have")
	}
	logProbability := r.Score // of one token
	if n := len(r.Tokens); n > 0 {
		logProbability *= math.Pow(float64(n), e.options.LengthPenalty)
	}
	id, card := e.ids.Identifiers[r.Document], e.cards[r.Document]
	return Hit{Rank: rank, Score: r.Score, Probability: math.Exp(logProbability), Title: card.Title,
		Identifier: id.Text, Document: id.Document, Text: card.Text}, nil
}
