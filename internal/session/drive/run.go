package drive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

// UsualPriority is the priority of a run that was given none, as servers have it.
const UsualPriority = 3

// RunOptions say how a run goes. Functions may be nil.
type RunOptions struct {
	Cluster  Cluster
	Detach   bool // return once it has started
	FailFast bool
	Priority int         // from 1, which is first, to 5; 0: the server's default
	Skip     bool        // leave out what failed for good before
	Saved    *saved.Plan // run exactly this; nil: what the pipeline says
	InFull   bool        // errors of steps have not been shown yet: return them in full
	Pilots   *Pilots     // jobs of Slurm that do the steps; nil: this process does, or workers that others start

	// Loaded is called once the pipeline is read.
	Loaded func()
	// FailedBefore is told which steps of a plan failed for good before.
	FailedBefore func(pl *plan.Plan, failed map[int]journal.Failed)
	// Before is called once there is a preview; if it fails, nothing is done.
	Before func(ctx context.Context, of session.Seen) error
	// Instead is called in place of a run that has steps to do and is not refused; nil: it is done here.
	Instead func(ctx context.Context) error
	// Begun is told of a run that has started and is followed.
	Begun func(runID, url string)
	// Command is this command with more arguments, to be copied.
	Command func(more ...string) string
}

type Summary struct {
	Pipeline string `json:"pipeline"`
	RunID    string `json:"run,omitempty"` // "" if there was nothing to do
	URL      string `json:"url,omitempty"`
	Store    string `json:"store"` // its address
	Hit      int    `json:"hit"`
	Ran      int    `json:"ran"`
	Failed   int    `json:"failed,omitempty"`
	Skipped  int    `json:"skipped,omitempty"`

	Cancelled   int                         `json:"cancelled,omitempty"`
	NotStarted  int                         `json:"not_started,omitempty"`
	Released    workflows.Released          `json:"released,omitzero"`
	LeftOut     []string                    `json:"left_out,omitempty"`    // by Skip
	Checkpoints []journal.Checkpoint        `json:"checkpoints,omitempty"` // of steps that were cancelled
	From        []session.HitFrom           `json:"from,omitempty"`        // hits in other stores
	Keys        map[string]artifacts.Digest `json:"keys,omitempty"`        // of all steps, if there was nothing to do: no run's record has them

	Of    session.Seen `json:"-"` // with the results that are read at the end
	Lacks error        `json:"-"` // why steps that need the second program failed
}

// planTries bounds the plans of one run, in case sources change faster than they can be planned.
const planTries = 5

// Reproduce runs the steps that lack results, and follows the run. A summary beside an error is of a run that began.
func (dr *Driver) Reproduce(ctx context.Context, o RunOptions) (*Summary, error) {
	if o.Detach && !o.Cluster.Given() {
		return nil, fault.Input(fmt.Errorf("--detach needs a cluster that outlives this command: give --temporal-address, or start one with `%s`", dr.Hint("dev")))
	}
	if o.Pilots != nil {
		if err := dr.listens(&o.Cluster); err != nil {
			return nil, err
		}
	}
	full, p, err := dr.LoadPlan(ctx)
	if err != nil {
		return nil, err
	}
	if o.Loaded != nil {
		o.Loaded()
	}
	out := &Summary{Pipeline: full.Pipeline, Of: session.Seen{Pipeline: p}}
	of := &out.Of
	if of.Store, err = dr.OpenStore(ctx); err != nil {
		return nil, err
	}
	out.Store = of.Store.Own.URL
	for try := 1; ; try++ {
		if err := dr.previewRun(ctx, o, full, try == 1, out); err != nil {
			return nil, err
		}
		if try == 1 {
			if err := dr.before(ctx, o, *of); err != nil {
				return nil, err
			}
			if o.Instead != nil && !of.Done() {
				return nil, o.Instead(ctx)
			}
		}
		if out.Hit = of.Preview.Summary().Hit; of.Done() {
			if err = dr.RecordHits(ctx, of.Store, of.Plan, of.Preview); err == nil {
				out.Released = dr.Release(ctx, of.Store, of.Preview)
			}
			out.Keys = make(map[string]artifacts.Digest, len(of.Preview.Items))
			for i, it := range of.Preview.Items {
				out.Keys[of.Plan.Steps[i].Address] = it.Key
			}
			break
		}
		if o.Cluster.Given() {
			if err := dr.BringRead(ctx, of.Store, of.Preview); err != nil {
				return nil, err
			}
		}
		if err = dr.start(ctx, o, out); err == nil || try == planTries {
			break
		}
		next, cerr := dr.afterChange(ctx, o, out, full, err)
		if err = cerr; err != nil {
			break
		}
		full = next
	}
	if o.Detach && out.RunID != "" { // the run goes on without this command
		return out, err
	}
	if stopped, ok := errors.AsType[*Cancelled](err); ok {
		return out, dr.tellCancelled(ctx, out, stopped, err)
	}
	return dr.finished(ctx, out, err)
}

// previewRun makes the preview of a plan, without what failed before if that is to be skipped.
func (dr *Driver) previewRun(ctx context.Context, o RunOptions, pl *plan.Plan, first bool, out *Summary) (err error) {
	of := &out.Of
	of.Plan = pl
	of.Preview, err = dr.PreviewOf(ctx, of.Store, pl, func(i int, it *plan.Item) bool { return dr.IsRead(pl, i) || o.Saved.Other(pl, i, it) })
	if err != nil {
		return err
	}
	failed, err := journal.Failures(ctx, of.Store.Own, of.Preview)
	if err != nil || len(failed) == 0 {
		return err
	}
	past, err := dr.Journal(ctx, of.Store.Own, of.Preview)
	if err != nil || len(past.Failed) == 0 {
		return err
	}
	if first && o.FailedBefore != nil {
		o.FailedBefore(pl, past.Failed)
	}
	switch {
	case !o.Skip:
		return nil
	case o.Saved != nil:
		return fault.Input(errors.New("--skip-failed cannot be used with a saved plan, which is run as it is"))
	}
	rest, left := pl.Without(dr.Registry, func(i int) bool { _, failed := past.Failed[i]; return failed })
	of.Plan, out.LeftOut = rest, pl.Addresses(left)
	of.Preview, err = dr.PreviewOf(ctx, of.Store, rest, func(i int, it *plan.Item) bool { return dr.IsRead(rest, i) })
	return err
}

// before checks, before anything is done, that a plan is the saved one and that the project has an id.
func (dr *Driver) before(ctx context.Context, o RunOptions, of session.Seen) error {
	if o.Before != nil {
		if err := o.Before(ctx, of); err != nil {
			return err
		}
	}
	if err := o.Saved.Refuse(of.Preview); err != nil {
		return err
	}
	if unfit := dr.Unfit(o.Cluster, of.Preview); len(unfit) > 0 { // MAYBE steps, too: else a run would find that out hours later
		return tellUnfit(unfit, "lower what is asked for there, leave such steps to a cluster (--temporal-address), to workers of `redsi dev --listen` or to jobs of Slurm (--slurm) or, if there is more here, say so by --cpus or --memory")
	}
	if o.Pilots != nil && !of.Done() {
		if err := o.Pilots.prepare(ctx, dr, of); err != nil {
			return err
		}
	}
	if _, err := lockfile.Project(dr.LockFile()); err != nil {
		dr.Log.Warn("this project has no id: figures from earlier runs may belong to another pipeline with this name in the store", "err", err)
	}
	return nil
}

// afterChange returns a new plan after a run that failed since a source or program had other bytes than planned, else the failure.
func (dr *Driver) afterChange(ctx context.Context, o RunOptions, out *Summary, old *plan.Plan, failure error) (*plan.Plan, error) {
	failed, ok := errors.AsType[*workflows.RunError](failure)
	if !ok || len(failed.Result.Changed) == 0 {
		return nil, failure
	}
	p := out.Of.Pipeline
	var err error
	if !old.Pending() && old.First.IsZero() { // it has not all steps
		var ds pipeline.Diagnostics
		p, ds = p.Origin().Load(p.With)
		err = ds.Err()
	}
	var next *plan.Plan
	if err == nil {
		next, err = dr.PlanOf(ctx, p, dr.File, dr.Targets, failed.Result.Changed...)
	}
	if err != nil {
		return nil, errors.Join(failure, err)
	}
	var other []string
	for i, s := range next.Steps {
		if !bytes.Equal(s.Task.Config, old.Steps[i].Task.Config) {
			other = append(other, s.Address)
		}
	}
	switch {
	case len(other) == 0:
		return nil, failure
	case o.Saved != nil:
		return nil, fault.Failed(fmt.Errorf("%w\n%s changed after the plan was saved: plan again", failed, strings.Join(other, ", ")))
	}
	dr.Log.Warn("a source or program changed while it was planned or run; planned again", "steps", strings.Join(other, ", "))
	return next, nil
}

// finished completes the summary of a run that has ended, or failed: its results are read, brought here and pinned.
func (dr *Driver) finished(ctx context.Context, out *Summary, err error) (*Summary, error) {
	var failed *workflows.RunError
	if err != nil && (!errors.As(err, &failed) || failed.Result.RunID == "") {
		return nil, err
	}
	if failed != nil { // finished results are written anyway
		r := failed.Result
		out.Failed, out.Skipped, out.Cancelled, out.NotStarted = r.Failed, r.Skipped, r.Cancelled, r.NotStarted
		out.RunID, out.Hit, out.Ran, out.Released = r.RunID, r.Hit, r.Ran, r.Released
	}
	of := &out.Of
	read := func() error {
		if err := dr.regrow(ctx, of); err != nil {
			return err
		}
		if out.RunID != "" {
			if err := dr.FillResults(ctx, of.Store, of.Preview, out.RunID); err != nil {
				return err
			}
		}
		// What only other steps read is fetched when they run, unless all is asked for.
		if err := dr.Bring(ctx, of.Store, of.Preview, func(i int) bool { return dr.IsAsked(of.Plan, i) }); err != nil {
			return err
		}
		out.From = dr.HitsFrom(of.Preview)
		return dr.PinSources(of.Preview)
	}
	if rerr := dr.Outlast(ctx, read); rerr != nil {
		return nil, cmp.Or(err, rerr)
	}
	if n := len(out.LeftOut); err == nil && n > 0 {
		err = fault.Failed(fmt.Errorf("%s left out that failed before, or need such a step; without --skip-failed they are retried", words.Count(n, "step")))
	}
	if err != nil && out.Lacks != nil {
		err = fault.Input(fmt.Errorf("%w\n%w", err, out.Lacks))
	}
	return out, err
}

// regrow plans an ended run anew if it did not have all steps at its start. What does not fit is in the run's error.
func (dr *Driver) regrow(ctx context.Context, of *session.Seen) error {
	if !of.Plan.Pending() {
		return nil
	}
	defer dr.AsItStands()()
	p, pl, err := dr.Grow(ctx, of.Pipeline, of.Plan, func(p *pipeline.Pipeline) (*plan.Plan, error) { return dr.PlanOf(ctx, p, dr.File, dr.Targets) })
	if _, ok := errors.AsType[*pipeline.Invalid](err); ok {
		return nil
	}
	if err != nil {
		return err
	}
	of.Pipeline, of.Plan, dr.Published = p, pl, p.Publish
	of.Preview, err = dr.PreviewOf(ctx, of.Store, pl, func(i int, _ *plan.Item) bool { return dr.IsRead(pl, i) })
	return err
}

func (s *Summary) Sum() string {
	said := []string{fmt.Sprintf("%d hit, %d ran", s.Hit, s.Ran)}
	if n := len(s.Of.Plan.Skipped); n > 0 {
		said = append(said, fmt.Sprintf("%d skipped by when", n))
	}
	said = append(said, words.Counts(words.Number{N: s.Failed, Of: "failed"}, words.Number{N: s.Skipped, Of: "skipped"},
		words.Number{N: s.Cancelled, Of: "cancelled"}, words.Number{N: s.NotStarted, Of: "not started"})...)
	if n := s.Released.Results; n > 0 {
		said = append(said, fmt.Sprintf("released %s, %s", words.Count(n, "step"), words.Size(s.Released.Bytes)))
	}
	return strings.Join(append(said, lists.Map(s.From, session.HitFrom.String)...), ", ")
}

type Cancelled struct {
	RunID, Next string
	Sum         string               // how its steps ended; "": its record could not be read
	Resumes     []journal.Checkpoint // of its steps
}

func (e *Cancelled) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s was cancelled", e.RunID)
	if e.Sum != "" {
		b.WriteString(": " + e.Sum)
	}
	for _, c := range e.Resumes {
		fmt.Fprintf(&b, "\n%s %s", c.Address, c)
	}
	return b.String() + "\n" + e.Next
}

const recordPatience = 10 * time.Second

// tellCancelled adds to the summary and error of a cancelled run how its steps ended, and returns err. ctx has ended.
func (dr *Driver) tellCancelled(ctx context.Context, out *Summary, e *Cancelled, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordPatience)
	defer cancel()
	defer dr.Waiting("reading the run's record")()
	out.RunID = e.RunID
	if gerr := dr.regrow(ctx, &out.Of); gerr != nil {
		dr.Log.Debug("the plan of a cancelled run", "err", gerr)
	}
	rec, rerr := runs.Read(ctx, out.Of.Store.Own, e.RunID)
	if rerr != nil {
		dr.Log.Debug("the record of a cancelled run", "err", rerr)
		return err
	}
	out.Hit, out.Ran, out.Failed, out.Skipped = rec.Counts[runs.Hit], rec.Counts[runs.Ran], rec.Counts[runs.Failed], rec.Counts[runs.Skipped]
	out.Cancelled, out.NotStarted = rec.Counts[runs.Cancelled], rec.Counts[runs.NotStarted]
	e.Sum = out.Sum()
	if pl := out.Of.Plan; len(rec.Steps) == len(pl.Steps) {
		keys := map[int]artifacts.Digest{}
		for i, s := range rec.Steps {
			if s.Outcome == runs.Cancelled {
				keys[i] = s.Key
			}
		}
		found, ferr := journal.Checkpoints(ctx, dr.Registry, out.Of.Store.Own, pl, keys)
		if ferr != nil {
			dr.Log.Debug("the checkpoints of a cancelled run", "err", ferr)
		}
		e.Resumes = lists.Map(slices.Sorted(maps.Keys(found)), func(i int) journal.Checkpoint { return found[i] })
	}
	out.Checkpoints = e.Resumes
	return err
}
