package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// fetched counts the bytes of blobs that came from other stores, by the stores' names.
type fetched struct {
	mu    sync.Mutex
	bytes map[string]int64
	told  func(n int64) // may be nil
}

func (f *fetched) add(from string, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes == nil {
		f.bytes = map[string]int64{}
	}
	if f.bytes[from] += n; f.told != nil {
		f.told(n)
	}
}

// tell sets the function that is called with the bytes from now on; nil: none.
func (f *fetched) tell(told func(n int64)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = told
}

func (f *fetched) from(name string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bytes[name]
}

// countedBlobs are the blobs of another store, counted as they are read.
type countedBlobs struct {
	artifacts.Blobs
	name string
	to   *fetched
}

func (c countedBlobs) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	r, err := c.Blobs.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return countedReader{r, c}, nil
}

type countedReader struct {
	io.ReadCloser
	c countedBlobs
}

func (r countedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.c.to.add(r.c.name, int64(n))
	return n, err
}

// bringAsked copies the results that a run is for into the store, as far as other stores
// have them. What only other steps read is fetched when they run, unless all is asked for.
func (a *app) bringAsked(ctx context.Context, store artifacts.Store, v *plan.Preview) error {
	return a.bring(ctx, store, v, func(i int) bool { return a.isAsked(v.Plan, i) })
}

// bringRead copies the results in other stores that steps without a result read: the workers
// of a cluster may not look at the same stores as this command.
func (a *app) bringRead(ctx context.Context, store artifacts.Store, v *plan.Preview) error {
	read, err := readOf(v)
	if err != nil {
		return err
	}
	return a.bring(ctx, store, v, func(i int) bool { return read[i] != nil })
}

// bringMost bounds the results that are copied at a time.
const bringMost = 64

func (a *app) bring(ctx context.Context, store artifacts.Store, v *plan.Preview, wanted func(i int) bool) error {
	var steps []int
	for i, it := range v.Items {
		if it.From != "" && wanted(i) {
			steps = append(steps, i)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	m := a.newMeter("fetched", 0)
	a.others.fetched.tell(m.add)
	defer func() { a.others.fetched.tell(nil); m.close() }()
	for some := range slices.Chunk(steps, bringMost) {
		results, err := resultsAt(ctx, store, v, some)
		if err != nil {
			return err
		}
		for n, i := range some {
			if results[n] == nil {
				return fmt.Errorf("%s: its result in %s has gone since the plan was made; run again", v.Plan.Steps[i].Address, v.Items[i].From)
			}
			if err := artifacts.Bring(ctx, store, results[n], nil); err != nil {
				return fmt.Errorf("%s, from %s: %w", v.Plan.Steps[i].Address, v.Items[i].From, err)
			}
		}
	}
	return nil
}

// hitFrom is what a run took from another store.
type hitFrom struct {
	Name  string `json:"name"`
	Hits  int    `json:"hits"`
	Bytes int64  `json:"fetched_bytes"`
}

// hitsFrom sums up what a run took from other stores.
func (a *app) hitsFrom(v *plan.Preview) (out []hitFrom) {
	for _, o := range a.others.opened {
		h := hitFrom{Name: o.Name, Bytes: a.others.fetched.from(o.Name)}
		for _, it := range v.Items {
			if it.From == o.Name {
				h.Hits++
			}
		}
		if h.Hits > 0 || h.Bytes > 0 {
			out = append(out, h)
		}
	}
	return out
}

func (h hitFrom) String() string {
	return fmt.Sprintf("%d from %s (%s fetched)", h.Hits, h.Name, view.Size(h.Bytes))
}
