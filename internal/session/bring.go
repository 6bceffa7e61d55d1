package session

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
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

// counted counts what is read of a blob that comes from a store.
func (f *fetched) counted(r io.ReadCloser, from string) io.ReadCloser {
	return readers.Closing(readers.Pieces(r, func(n int64) { f.add(from, n) }), r)
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
	artifacts.BlobReader
	name string
	to   *fetched
}

func (c countedBlobs) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	r, err := c.BlobReader.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return c.to.counted(r, c.name), nil
}

// BringRead copies others' results that steps to run read: a cluster's workers may not look at the same stores.
func (se *Session) BringRead(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) error {
	read, err := readOf(v)
	if err != nil {
		return err
	}
	return se.Bring(ctx, store, v, func(i int) bool { return read[i] != nil })
}

// bringMost bounds the results that are copied at a time.
const bringMost = 64

// Bring copies the wanted results of a preview that are in other stores into the store.
func (se *Session) Bring(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, wanted func(i int) bool) error {
	var steps []int
	for i, it := range v.Items {
		if it.From != "" && !it.Released && wanted(i) {
			steps = append(steps, i)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	add, over := se.Copying("fetched", 0)
	se.Others.fetched.tell(add)
	defer func() { se.Others.fetched.tell(nil); over() }()
	for some := range slices.Chunk(steps, bringMost) {
		results, err := ResultsAt(ctx, store, v, some)
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

// HitFrom is what a run took from another store.
type HitFrom struct {
	Name  string `json:"name"`
	Hits  int    `json:"hits"`
	Bytes int64  `json:"fetched_bytes"`
}

// HitsFrom sums up what a run took from other stores.
func (se *Session) HitsFrom(v *plan.Preview) (out []HitFrom) {
	for _, o := range se.Others.Opened {
		h := HitFrom{Name: o.Name, Bytes: se.Others.fetched.from(o.Name)}
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

// String is what a run's summary says of it.
func (h HitFrom) String() string {
	return fmt.Sprintf("%d from %s (%s fetched)", h.Hits, h.Name, words.Size(h.Bytes))
}
