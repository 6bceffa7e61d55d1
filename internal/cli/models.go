package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/step"
)

// engine searches a trained collection in a process of its own. A lost process is replaced.
type engine struct {
	pool    *compute.Pool
	client  *compute.Client
	card    int
	opening search.Opening
	cards   []search.Card
	about   search.About
	done    func() // done with the files
}

// open opens the collection in a new process.
func (e *engine) open(ctx context.Context) (err error) {
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
func (e *engine) Search(ctx context.Context, queries []string, k int) (answers []search.Answer, err error) {
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
func (e *engine) About() search.About { return e.about }

// Close releases the process.
func (e *engine) Close() error {
	if e.client != nil {
		e.pool.Release(e.client, nil)
	}
	e.done()
	return nil
}

// openEngine opens a collection on the requested card, or on the CPU.
func (a *app) openEngine(ctx context.Context, f search.Files, done func(), cards []search.Card, o search.Options) (*engine, error) {
	found, err := a.SecondProgram().Cards(ctx)
	if err != nil {
		return nil, err
	}
	card, _, _, err := (*device.Pool)(nil).Choose(ctx, o.Device, found.Cards, found.Why)
	if err != nil {
		return nil, err
	}
	e := &engine{pool: a.SecondProgram(), card: card, opening: search.Opening{Files: f, Documents: len(cards), Options: o}, cards: cards, done: done}
	return e, e.open(ctx)
}

// leaves says which kinds of steps a worker leaves to other workers.
func leaves(names []string, why error) string {
	return fmt.Sprintf("this worker leaves steps of the kinds %s to other workers: %v", strings.Join(names, ", "), why)
}
