package model

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/step"
)

// Engine searches a trained collection in a process of its own. A lost process is replaced.
type Engine struct {
	pool    *compute.Pool
	client  *compute.Client
	card    int
	opening search.Opening
	cards   []search.Card
	about   search.About
	done    func() // done with the files
}

// open opens the collection in a new process.
func (e *Engine) open(ctx context.Context) (err error) {
	if e.client, err = e.pool.Hold(ctx, e.card, ""); err != nil {
		return err
	}
	if err = e.client.Call(ctx, search.OpenCall, e.opening, &e.about); err != nil {
		e.pool.Release(e.client, err)
		e.client = nil
		return err
	}
	if e.card >= 0 {
		e.about.Device = fmt.Sprintf("cuda:%d", e.card) // the only one in its process
	}
	return nil
}

// Search returns the k best documents for each query.
func (e *Engine) Search(ctx context.Context, queries []string, k int) (answers []search.Answer, err error) {
	for range 2 {
		if e.client == nil {
			if err = e.open(ctx); err != nil {
				return nil, err
			}
		}
		answers = nil
		if err = e.client.Call(ctx, search.AskCall, search.Asking{Queries: queries, K: k}, &answers); !step.IsPoisoned(err) {
			break
		}
		e.pool.Release(e.client, err)
		e.client = nil
	}
	if err != nil {
		return nil, err
	}
	return answers, search.Fill(answers, e.cards)
}

// About says what is searched and how.
func (e *Engine) About() search.About { return e.about }

// Close releases the process.
func (e *Engine) Close() error {
	if e.client != nil {
		e.pool.Release(e.client, nil)
	}
	e.done()
	return nil
}

// OpenEngine opens a collection in a process of the pool, on a card or the CPU; done is called when its files may go.
func OpenEngine(ctx context.Context, pool *compute.Pool, f search.Files, done func(), cards []search.Card, o search.Options) (*Engine, error) {
	found, err := pool.Cards(ctx)
	if err != nil {
		return nil, err
	}
	card, _, _, err := device.Choose(ctx, nil, o.Device, found.Cards)
	if err != nil {
		return nil, err
	}
	e := &Engine{pool: pool, card: card, opening: search.Opening{Files: f, Documents: len(cards), Options: o}, cards: cards, done: done}
	return e, e.open(ctx)
}
