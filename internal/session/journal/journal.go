// Package journal owns what earlier runs left in a store: their records, how long steps took, which ended how, checkpoints,
// and failures that are remembered. It must not know where a pipeline comes from, or how any of it is printed.
package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Journal is what earlier runs of a pipeline recorded, by step address.
type Journal struct {
	Last map[string]Earlier // the newest results

	Saved  map[int]Checkpoint // of steps without a result, by their place in the plan
	Failed map[int]Failed     // what failed for good under its present key

	Pieces map[string]int // how many steps a block had, by the address that stands for all of them

	// Of what Reasons has looked at.
	Causes map[int]string // what differs from a step's newest result, without the values
	Moved  map[string]int // steps whose newest result has a key of another format, by that

	spent   map[string][]spending // newest first, of steps with the same sources as in this plan
	ended   map[string]string     // how steps without a result ended last
	entries map[artifacts.Digest]artifacts.Entry
	samples map[artifacts.Digest]estimate.Sample // of results that were looked at, without how long they took
}

type spending struct {
	key  artifacts.Digest
	took time.Duration
}

// Bounds of what is read for a plan, newest first: records of its pipeline's runs, and of any runs of the store; once every step has
// been found, reading stops after stepsRead steps in all.
const (
	runsRead   = 20
	runsLooked = 200
	stepsRead  = 100_000
)

// Read reads what the newest run records of a project's pipeline say about the steps that are not hits.
func Read(ctx context.Context, kinds *step.Registry, store artifacts.Store, v *plan.Preview, project string) (*Journal, error) {
	j := &Journal{Last: map[string]Earlier{}, spent: map[string][]spending{}, ended: map[string]string{},
		Pieces: map[string]int{}, Causes: map[int]string{}, Moved: map[string]int{}, samples: map[artifacts.Digest]estimate.Sample{}}
	missing := len(v.Items) - v.Summary().Hit // steps without an earlier result so far
	if missing == 0 {
		return j, nil
	}
	var err error
	if j.Saved, err = Resumable(ctx, kinds, store, v); err != nil {
		return nil, err
	}
	failed, err := Failures(ctx, store, v)
	if err != nil {
		return nil, err
	}
	read := 0
	for rec, err := range newest(ctx, store, "", project, v.Plan.Pipeline) {
		if err != nil {
			return nil, err
		}
		read += len(rec.Steps)
		if missing -= j.add(rec, v); missing <= 0 && read >= stepsRead {
			break
		}
	}
	j.Failed = j.stillFailed(v, failed)
	return j, nil
}

// add takes what the next older run record says about steps that are not hits, and counts the steps whose first earlier result it has.
func (j *Journal) add(rec *runs.Record, v *plan.Preview) (found int) {
	in := make(map[string]*runs.Step, len(rec.Steps))
	for i := range rec.Steps {
		in[rec.Steps[i].Address] = &rec.Steps[i]
	}
	found = j.addPieces(rec, v)
	fits := make([]bool, len(v.Items)) // every source of the step was in that run
	for i, s := range v.Plan.Steps {
		old := in[s.Address]
		fits[i] = len(s.Deps) > 0 || old != nil
		for _, d := range s.Deps {
			fits[i] = fits[i] && fits[d]
		}
		if v.Items[i].Outcome != plan.Hit && old != nil && j.Last[s.Address].Key.IsZero() && j.ended[s.Address] == "" {
			switch old.Outcome {
			case runs.Failed:
				j.ended[s.Address] = "failed in run " + rec.RunID
			case runs.Cancelled:
				j.ended[s.Address] = "was cancelled in run " + rec.RunID
			}
		}
		if v.Items[i].Outcome == plan.Hit || old == nil || old.Key.IsZero() || !old.Finished() {
			continue
		}
		if _, ok := j.Last[s.Address]; !ok {
			j.Last[s.Address] = Earlier{rec.RunID, old.Key}
			found++
		}
		listed := slices.ContainsFunc(j.spent[s.Address], func(x spending) bool { return x.key == old.Key })
		if fits[i] && !listed {
			j.spent[s.Address] = append(j.spent[s.Address], spending{old.Key, time.Duration(old.TookS * float64(time.Second))})
		}
	}
	return found
}

// addPieces takes from a record, for blocks whose steps are still unknown, how many steps they had, and what all of them took.
func (j *Journal) addPieces(rec *runs.Record, v *plan.Preview) (found int) {
	if !v.Plan.Pending() {
		return 0
	}
	took, count := map[string]time.Duration{}, map[string]int{}
	for _, old := range rec.Steps {
		if any := address.Of(old.Address).Block() + address.Any; old.Finished() {
			count[any]++
			took[any] += time.Duration(old.TookS * float64(time.Second))
		}
	}
	for _, s := range v.Plan.Steps {
		any := s.Address
		if count[any] == 0 {
			continue
		}
		if j.Pieces[any] == 0 {
			j.Pieces[any] = count[any]
			found++
		}
		j.spent[any] = append(j.spent[any], spending{artifacts.Sum([]byte(any + rec.RunID)), took[any]})
	}
	return found
}

func (j *Journal) inspect(ctx context.Context, store *artifacts.Resolver, keys []artifacts.Digest) (map[artifacts.Digest]artifacts.Entry, error) {
	entries, err := artifacts.Inspect(ctx, store, keys)
	for key, e := range entries {
		if e.Result != nil {
			j.samples[key] = estimate.Sample{Bytes: e.Result.Bytes(), Memory: e.Result.Memory(), Updates: e.Result.Counts[step.UpdatesCount]}
		}
	}
	return entries, err
}

// sizesRead is how many earlier results of a block have their size looked up; other results are taken to be similar.
const sizesRead = 64

// History is what an estimate is based on, without downloads.
func (j *Journal) History(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) (h estimate.History, err error) {
	if v.Done() {
		return h, nil
	}
	if err := j.sizes(ctx, store, v); err != nil {
		return h, err
	}
	h.Samples = map[int][]estimate.Sample{}
	for i, s := range v.Plan.Steps {
		for _, x := range j.spent[s.Address] {
			sample, ok := j.samples[x.key]
			if sample.Took = x.took; !ok {
				sample.Bytes = -1
			}
			h.Samples[i] = append(h.Samples[i], sample)
		}
	}
	h.Resumes = map[int]bool{}
	for i := range j.Saved {
		h.Resumes[i] = true
	}
	return h, nil
}

// sizes looks up how large earlier results are, of some steps of each block.
func (j *Journal) sizes(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) error {
	var keys []artifacts.Digest
	asked := map[string]int{}
	for i, s := range v.Plan.Steps {
		spent := j.spent[s.Address]
		if v.Items[i].Outcome == plan.Hit || len(spent) == 0 || s.Pending() {
			continue
		}
		block := s.Block()
		if asked[block]++; asked[block] > sizesRead {
			continue
		}
		if _, read := j.samples[spent[0].key]; !read {
			keys = append(keys, spent[0].key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	_, err := j.inspect(ctx, store, keys)
	return err
}

// Find reads the record of a project's run, named by its id, the id's beginning or end, "last", or "last~N", the Nth before it.
func Find(ctx context.Context, store artifacts.Store, project, name string) (*runs.Record, error) {
	ids, err := runs.IDs(ctx, store)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, fault.Input(errors.New("this store has no record of a run"))
	}
	if back, ok := strings.CutPrefix(name, "last"); ok {
		var n uint64
		if back != "" {
			digits, ok := strings.CutPrefix(back, "~")
			if n, err = strconv.ParseUint(digits, 10, 31); !ok || err != nil {
				return nil, fault.Input(fmt.Errorf("%q is not last or last~N", name))
			}
		}
		rec, of, err := last(ctx, store, project, int(n))
		if err == nil && rec == nil {
			err = fault.Input(fmt.Errorf("%s: this store has records of only %s of this project; a run with nothing to do is not recorded", name, words.Count(of, "run")))
		}
		return rec, err
	}
	found := lists.Filter(ids, func(id string) bool { return strings.HasPrefix(id, name) || strings.HasSuffix(id, name) })
	switch {
	case len(found) == 0:
		return nil, fault.Input(fmt.Errorf("there is no run %q; the newest is %s", name, ids[len(ids)-1]))
	case slices.Contains(found, name):
		return runs.Read(ctx, store, name)
	case len(found) == 1:
		return runs.Read(ctx, store, found[0])
	}
	return nil, fault.Input(fmt.Errorf("%q could be %s", name, strings.Join(found, " or ")))
}

// last reads the newest run of a project, or the n-th before it. If there are fewer, it returns nil and their number.
func last(ctx context.Context, store artifacts.Store, project string, n int) (rec *runs.Record, of int, err error) {
	ours := func(rec *runs.Record) bool { return OfProject(rec, project) }
	for rec, err := range runs.Backward(ctx, store, "", ours, 0) {
		if err != nil {
			return nil, of, fmt.Errorf("%w; it may be the one: name a run by its id, or remove that record with redsi verify --repair", err)
		}
		if of == n {
			return rec, of, nil
		}
		of++
	}
	return nil, of, nil
}

// OfProject reports whether a run belongs to a project; without a project, all do.
func OfProject(rec *runs.Record, project string) bool {
	return project == "" || rec.Project == "" || rec.Project == project
}

// newest is runs.Backward for at most runsRead records of a project's pipeline, without damaged records.
func newest(ctx context.Context, store artifacts.Store, run, project, pipeline string) iter.Seq2[*runs.Record, error] {
	return func(yield func(*runs.Record, error) bool) {
		read := 0
		of := func(rec *runs.Record) bool { return rec.Of(project, pipeline) }
		for rec, err := range runs.Backward(ctx, store, run, of, runsLooked) {
			var damaged *runs.DamagedError
			if !errors.As(err, &damaged) && (!yield(rec, err) || err != nil) {
				return
			}
			if read++; read == runsRead {
				return
			}
		}
	}
}

// Earlier is a step's result in an earlier run, which wrote or found it.
type Earlier struct {
	Run string
	Key artifacts.Digest
}

// Before finds the newest results of steps in the runs of the same pipeline before a run.
func Before(ctx context.Context, store artifacts.Store, rec *runs.Record, wanted map[string]bool) (map[string]Earlier, error) {
	found := map[string]Earlier{}
	left := lists.Count(slices.Collect(maps.Values(wanted)), func(is bool) bool { return is })
	for old, err := range newest(ctx, store, rec.RunID, rec.Project, rec.Pipeline) {
		if err != nil || left == 0 {
			return found, err
		}
		for _, s := range old.Steps {
			if _, have := found[s.Address]; have || !wanted[s.Address] || !s.Finished() {
				continue
			}
			found[s.Address] = Earlier{old.RunID, s.Key}
			left--
		}
	}
	return found, nil
}
