package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
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

// OthersOf says what a preview found in other stores, and what a run would fetch that the store lacks: the blobs of steps
// that it is for, and what steps to run read.
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
	var steps []int
	for i, it := range v.Items {
		if it.From != "" && (se.IsAsked(v.Plan, i) || read[i] != nil) {
			steps = append(steps, i)
		}
	}
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

// unsignedOwn counts the own store's hits without a trusted signature, if the project trusts keys and uses those hits. It
// lists names of signatures, and verifies none.
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
	at := map[string]int{}
	for i, it := range v.Items {
		if it.From != "" {
			at[v.Plan.Steps[i].Address] = i
		}
	}
	read := map[int]map[string]bool{}
	for j, s := range v.Plan.Steps {
		if v.Items[j].Outcome == plan.Hit || !slices.ContainsFunc(s.Deps, func(d int) bool { return v.Items[d].From != "" }) {
			continue
		}
		err := plan.InputsOf(s.Task, func(_ string, in step.Input) {
			if in.Ref == nil {
				return
			}
			if i, ok := at[in.Ref.Step]; ok {
				if read[i] == nil {
					read[i] = map[string]bool{}
				}
				read[i][in.Ref.Output] = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return read, nil
}

// ResultsAt are the results of hits, in their order, kept by the preview or not; nil: gone since.
func ResultsAt(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, steps []int) ([]*artifacts.Result, error) {
	var keys []artifacts.Digest
	for _, i := range steps {
		if v.Items[i].Result == nil {
			keys = append(keys, v.Items[i].Key)
		}
	}
	found, err := artifacts.LookupMany(ctx, store, keys)
	if err != nil {
		return nil, err
	}
	results := make([]*artifacts.Result, len(steps))
	for n, i := range steps {
		if results[n] = v.Items[i].Result; results[n] == nil {
			results[n] = found[v.Items[i].Key]
		}
	}
	return results, nil
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
