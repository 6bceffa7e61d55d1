package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// IncomingMost bounds the results in memory while the bytes to fetch are counted.
const IncomingMost = 1024

// IsAsked reports whether a run is for step i itself: a target or, without targets, a table or figure.
func (se *Session) IsAsked(pl *plan.Plan, i int) bool {
	if len(se.Targets) == 0 {
		return pl.Steps[i].IsRendered()
	}
	return se.IsTarget(pl.Steps[i].Address)
}

// OthersOf says what a preview found in other stores, and what a run would fetch: blobs that it is for, or that it reads.
func (se *Session) OthersOf(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) (*belief.Others, error) {
	out := &belief.Others{Passed: se.Belief.Summary(), Unsigned: se.Belief.Unsigned, Fetch: map[int]int64{}}
	hits := map[string]int{}
	for _, it := range v.Items {
		if it.From != "" {
			hits[it.From]++
		}
	}
	for _, o := range store.Others() {
		s := belief.OtherStore{Name: o.Name, URL: o.URL, Hits: hits[o.Name], Denied: o.Denied}
		if o.Err != nil {
			s.Error = o.Err.Error()
		}
		out.Stores = append(out.Stores, s)
	}
	var err error
	if out.Own, err = se.unsignedOwn(ctx, store.Own, v); err != nil || len(hits) == 0 {
		return out, err
	}
	read, err := readOf(v)
	if err != nil {
		return nil, err
	}
	steps := others(v, func(i int) bool { return se.IsAsked(v.Plan, i) || read[i] != nil })
	own, seen := store.Alone(), map[artifacts.Digest]bool{}
	for some := range slices.Chunk(steps, IncomingMost) {
		results, err := ResultsAt(ctx, store, v, some)
		if err != nil {
			return nil, err
		}
		if err := se.countIncoming(ctx, own, v, some, results, read, seen, out); err != nil {
			return nil, err
		}
	}
	out.Blobs = len(seen)
	return out, nil
}

// others lists the places of the wanted hits that other stores have.
func others(v *plan.Preview, wanted func(i int) bool) []int {
	return lists.Filter(lists.Places(len(v.Items)), func(i int) bool { return v.Items[i].From != "" && wanted(i) })
}

// unsignedOwn counts the own store's hits without a trusted signature, by names, if the project trusts keys and uses such hits.
func (se *Session) unsignedOwn(ctx context.Context, own artifacts.Store, v *plan.Preview) (n int, err error) {
	p, err := se.Policy()
	ring, rerr := se.Ring()
	if err = errors.Join(err, rerr); err != nil || len(ring.Trusted) == 0 || p.Own != "" && p.Own != artifacts.UseUntrusted {
		return 0, err
	}
	signed := map[artifacts.Digest]bool{}
	for r, err := range own.Records.List(ctx, artifacts.SignaturesPrefix) {
		if err != nil {
			return 0, err
		}
		hex, id, _ := strings.Cut(strings.TrimPrefix(r.Name, artifacts.SignaturesPrefix), "/")
		key, err := artifacts.ParseHex(hex)
		if err == nil && slices.ContainsFunc(p.Ring.Trusted, func(k signature.Public) bool { return k.ID() == id && p.Ring.Of(k) == signature.Trusted }) {
			signed[key] = true
		}
	}
	return lists.Count(v.Items, func(it plan.Item) bool { return it.Outcome == plan.Hit && it.From == "" && !signed[it.Key] }), nil
}

// readOf lists, for each hit in another store, the outputs that steps without a result read.
func readOf(v *plan.Preview) (map[int]map[string]bool, error) {
	at, read := v.Plan.Places(), map[int]map[string]bool{}
	for j, s := range v.Plan.Steps {
		if v.Items[j].Outcome == plan.Hit || !slices.ContainsFunc(s.Deps, func(d int) bool { return v.Items[d].From != "" }) {
			continue
		}
		err := plan.InputsOf(s.Task, func(_ string, in step.Input) {
			if in.Ref == nil {
				return
			}
			i, ok := at[in.Ref.Step]
			if !ok || v.Items[i].From == "" {
				return
			}
			if read[i] == nil {
				read[i] = map[string]bool{}
			}
			read[i][in.Ref.Output] = true
		})
		if err != nil {
			return nil, err
		}
	}
	return read, nil
}

// ResultsAt reads the results of hits, in their order, kept by the preview or not; nil: gone since.
func ResultsAt(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, steps []int) ([]*artifacts.Result, error) {
	lost := lists.Filter(steps, func(i int) bool { return v.Items[i].Result == nil })
	found, err := artifacts.LookupMany(ctx, store, lists.Map(lost, func(i int) artifacts.Digest { return v.Items[i].Key }))
	if err != nil {
		return nil, err
	}
	return lists.Map(steps, func(i int) *artifacts.Result { return cmp.Or(v.Items[i].Result, found[v.Items[i].Key]) }), nil
}

// countIncoming adds the blobs of results that own lacks and that were not counted yet.
func (se *Session) countIncoming(ctx context.Context, own *artifacts.Resolver, v *plan.Preview, steps []int, results []*artifacts.Result,
	read map[int]map[string]bool, seen map[artifacts.Digest]bool, out *belief.Others) error {
	type blob struct {
		artifacts.Digest
		size int64
		step int
	}
	var blobs []blob
	var digests []artifacts.Digest
	for n, i := range steps {
		if results[n] == nil {
			continue
		}
		asked := se.IsAsked(v.Plan, i)
		r := artifacts.Result{Outputs: maps.Clone(results[n].Outputs)}
		maps.DeleteFunc(r.Outputs, func(name string, _ artifacts.Artifact) bool { return !asked && !read[i][name] })
		for d, size := range r.Sizes() {
			blobs, digests = append(blobs, blob{d, size, i}), append(digests, d)
		}
	}
	missing, err := own.Missing(ctx, digests)
	if err != nil {
		return err
	}
	gone := lists.Set(missing)
	for _, b := range blobs { // one of several steps counts for the first of them in the plan
		if gone[b.Digest] && !seen[b.Digest] {
			seen[b.Digest] = true
			out.Fetch[b.step] += b.size
		}
	}
	for _, i := range steps {
		if _, counted := out.Fetch[i]; !counted {
			out.Fetch[i] = 0
		}
	}
	return nil
}

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

const bringMost = 64

// Bring copies the wanted results of a preview that are in other stores into the store.
func (se *Session) Bring(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, wanted func(i int) bool) error {
	steps := others(v, func(i int) bool { return !v.Items[i].Released && wanted(i) })
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

type HitFrom struct {
	Name  string `json:"name"`
	Hits  int    `json:"hits"`
	Bytes int64  `json:"fetched_bytes"`
}

func (se *Session) HitsFrom(v *plan.Preview) (out []HitFrom) {
	for _, o := range se.Others.Opened {
		h := HitFrom{Name: o.Name, Bytes: se.Others.fetched.from(o.Name), Hits: lists.Count(v.Items, func(it plan.Item) bool { return it.From == o.Name })}
		if h.Hits > 0 || h.Bytes > 0 {
			out = append(out, h)
		}
	}
	return out
}

func (h HitFrom) String() string {
	return fmt.Sprintf("%d from %s (%s fetched)", h.Hits, h.Name, words.Size(h.Bytes))
}
