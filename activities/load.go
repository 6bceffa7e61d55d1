package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Load returns the skeleton of a plan: of a stored plan, or of a pipeline file on this worker.
func (a *Activities) Load(ctx context.Context, req workflows.LoadRequest) (workflows.Loaded, error) {
	p, out, err := a.open(ctx, req)
	if err != nil {
		return out, err
	}
	out.Name, out.Features, out.Limits = p.Pipeline, a.Features, p.Limits
	if req.Project != "" {
		out.Project = req.Project
	}
	heads, err := a.heads(ctx, p, out.Project)
	if err != nil {
		return out, err
	}
	var hits []workflows.DoneStep
	switch {
	case req.UnderWay:
	case req.Hits != nil:
		hits, err = a.foundDone(ctx, p, *req.Hits)
	default:
		var pins []step.Pin
		if hits, pins, err = a.hits(ctx, p, req.RunID, out.Lock != ""); err == nil && len(pins) > 0 {
			out.Pins, err = PagesOf(ctx, a.Store.Own.Blobs, pins)
		}
	}
	if err != nil {
		return out, err
	}
	for _, h := range hits {
		a.Telemetry.Hits(p.Steps[h.Index].Task.Kind, 1)
	}
	out.From = a.hitsFrom(ctx, p, hits)
	if out.Steps, err = PagesOf(ctx, a.Store.Own.Blobs, heads); err == nil {
		out.Hits, err = PagesOf(ctx, a.Store.Own.Blobs, hits)
	}
	if err == nil && req.RunID != "" && !req.UnderWay { // at last, as a run that cannot begin is not open
		err = runs.Begin(ctx, a.Store.Own, req.RunID, p.Pipeline, out.Plan)
	}
	return out, err
}

// heads returns what workflow code knows of a plan's steps.
func (a *Activities) heads(ctx context.Context, p *plan.Plan, project string) ([]workflows.Head, error) {
	took := runs.Took(ctx, a.Store.Own, a.Log, project, p.Pipeline)
	heads := make([]workflows.Head, len(p.Steps))
	for i, s := range p.Steps {
		spec := a.Registry.Lookup(s.Task.Kind)
		if spec == nil {
			return nil, step.Permanent(fmt.Errorf("%s: this worker has no kind %q; it is older or newer than the client", s.Address, s.Task.Kind))
		}
		heads[i] = workflows.Head{Address: s.Address, Kind: s.Task.Kind, Deps: s.Deps, Awaits: s.Awaited,
			Queue: s.Queue, Resources: s.Resources, Inline: s.Inline, Temporary: s.Temporary, Gathers: lists.Map(s.Gathers, func(g plan.Gather) workflows.Gather { return workflows.Gather(g) }), Splits: spec.Splits(), Class: spec.ClassOf(s.Task)}
		if seconds, ran := took[s.Address]; ran {
			heads[i].TookS = &seconds
		}
	}
	return heads, nil
}

// open returns a stored plan, or builds and stores the plan of a pipeline file that this worker accepts.
func (a *Activities) open(ctx context.Context, req workflows.LoadRequest) (*plan.Plan, workflows.Loaded, error) {
	var out workflows.Loaded
	if req.Plan != nil {
		out.Plan = *req.Plan
		p, err := a.storedPlan(ctx, out.Plan)
		return p, out, err
	}
	if err := a.Accepts(req.Pipeline); err != nil {
		return nil, out, err
	}
	p, lock, err := a.Open(ctx, req.Pipeline, req.Vars, req.Targets)
	if err != nil {
		return nil, out, step.Permanent(err)
	}
	if out.Plan, err = plan.Store(ctx, a.Store.Own.Blobs, p); err != nil {
		return nil, out, err
	}
	a.keep(out.Plan, p)
	if lock != "" {
		if out.Lock, err = filepath.Abs(lock); err != nil {
			return nil, out, err
		}
		if out.Project, err = lockfile.Project(out.Lock); err != nil {
			a.Log.Warn("the run's project is unknown: its estimates may come from another pipeline with that name", "err", err)
		}
	}
	return p, out, nil
}

// hits lists the steps that are done and, for a run with a lock file, the pins of their sources: another run, or this
// run before a worker of another version took over, may not have written them there.
func (a *Activities) hits(ctx context.Context, p *plan.Plan, runID string, pin bool) (hits []workflows.DoneStep, pins []step.Pin, err error) {
	preview, err := a.follow(ctx, p, runID, nil, func(i int, _ *plan.Item) bool { return pin && a.Registry.Lookup(p.Steps[i].Task.Kind).HasPins() })
	if err != nil {
		return nil, nil, err
	}
	for i, it := range preview.Items {
		if it.Result == nil {
			continue
		}
		found, err := a.Registry.Lookup(p.Steps[i].Task.Kind).Pins(it.Task(), it.Result.Outputs)
		if err != nil {
			return nil, nil, err
		}
		pins = append(pins, found...)
	}
	return HitsOf(preview), pins, nil
}

// follow finds out which steps of a plan are done for a run. Steps of the addresses in gone count as having no result.
func (a *Activities) follow(ctx context.Context, p *plan.Plan, runID string, gone map[string]bool, keep plan.Keep) (*plan.Preview, error) {
	return p.FollowWithout(ctx, a.Registry, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return artifacts.LookupKnown(ctx, a.Store, keys)
	}, keep, a.Store.Open, func(i int, _ bool) bool { return gone[p.Steps[i].Address] }, began(runID))
}

// foundDone checks the hits that came with the plan, from whoever made it.
func (a *Activities) foundDone(ctx context.Context, p *plan.Plan, pages workflows.Pages[workflows.DoneStep]) ([]workflows.DoneStep, error) {
	hits, err := rowsOf(ctx, a, pages)
	for _, h := range hits {
		if h.Index < 0 || h.Index >= len(p.Steps) || !h.Hit {
			return nil, step.Permanent(fmt.Errorf("the run's list of hits has an impossible entry for step %d: run again", h.Index))
		}
	}
	return hits, err
}

// originsRead bounds the hits whose runs are looked up.
const originsRead = 500

// hitsFrom returns which runs left the first hits, for people; nil if that cannot be read.
func (a *Activities) hitsFrom(ctx context.Context, p *plan.Plan, hits []workflows.DoneStep) (from []workflows.HitsFrom) {
	hits = hits[:min(originsRead, len(hits))]
	keys := lists.Map(hits, func(h workflows.DoneStep) artifacts.Digest { return h.Key })
	found, err := artifacts.LookupMany(ctx, a.Store, keys)
	if err != nil {
		return nil
	}
	for _, h := range hits {
		if r := found[h.Key]; r != nil {
			from = workflows.AddHit(from, p.Steps[h.Index].Address, r.Origin.RunID)
		}
	}
	return from
}

// HitsOf lists the hits of a preview.
func HitsOf(v *plan.Preview) (hits []workflows.DoneStep) {
	for i, it := range v.Items {
		if it.Outcome == plan.Hit && len(it.Snags().Fails) == 0 {
			hits = append(hits, workflows.DoneStep{Index: i, Key: it.Key, Hit: true, TookS: it.Took.Round(time.Millisecond).Seconds()})
		}
	}
	return hits
}

// began returns when a run began. All look-ups of the run judge by that time whether results are fresh.
func began(runID string) time.Time {
	if at, ok := workflows.RunBegan(runID); ok {
		return at
	}
	return time.Now()
}

// Accepts returns an error for a pipeline file that workflows may not have this worker read: HCL can name any
// program, so that with any file anyone who may submit workflows could run commands as the worker's user. Stored
// plans, which `redsi run` makes, are always accepted.
func (a *Activities) Accepts(file string) error {
	path, err := resolved(file)
	if err != nil {
		return step.Permanent(err)
	}
	for _, folder := range a.Accept {
		root, err := resolved(folder)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil
		}
	}
	return step.Permanent(fmt.Errorf("this worker does not accept %s by name: start it with --accept-pipelines %s, "+
		"or submit by `redsi run`, which sends the plan itself", file, filepath.Dir(file)))
}

// resolved returns a path without links. If there is no file, its folder's links are resolved.
func resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if os.IsNotExist(err) {
		folder, ferr := filepath.EvalSymlinks(filepath.Dir(abs))
		if ferr != nil {
			return abs, nil
		}
		return filepath.Join(folder, filepath.Base(abs)), nil
	}
	return real, err
}

// Journal writes the record of a run, and its pins into the lock file, if this worker has the pipeline's folder.
func (a *Activities) Journal(ctx context.Context, req workflows.JournalRequest) error {
	steps, err := rowsOf(ctx, a, req.Steps)
	if err != nil {
		return err
	}
	pins, err := rowsOf(ctx, a, req.Pins)
	if err != nil {
		return err
	}
	if len(steps) > 0 {
		req.Run.Steps = steps
	}
	if err := runs.Write(ctx, a.Store.Own, req.Run); err != nil {
		return err
	}
	if req.Lock == "" || len(pins) == 0 {
		return nil
	}
	// The path comes with the run, from the worker that loaded it.
	if err := a.Accepts(req.Lock); err != nil || filepath.Base(req.Lock) != lockfile.Name {
		a.Log.Warn("the sources of a run were not pinned: this worker does not accept pipelines from that folder", "file", req.Lock)
		return nil
	}
	if _, err := os.Stat(filepath.Dir(req.Lock)); errors.Is(err, fs.ErrNotExist) {
		a.Log.Warn("the sources of a run were not pinned: this worker does not have the pipeline's folder", "file", req.Lock)
		return nil
	}
	return lockfile.Add(req.Lock, pins)
}

// Close removes the note that a run is open, of a run without a record.
func (a *Activities) Close(ctx context.Context, run string) error {
	return runs.Close(ctx, a.Store.Own, run)
}
