package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/impact/versions"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

// variant is one of the two pipelines that are compared.
type variant struct {
	claims *[]pipeline.Claim // filled in if set
	name   string            // to show
	file   string            // of the pipeline
	id     string            // of a commit; "" if the files are read as they are here
}

// commitSources answers the questions of a commit's plan about sources.
type commitSources struct {
	session.PlanSources
	files *versions.Files
	base  func() string // folder that relative paths start from
}

// LocalFile is the digest of a file in the commit or, if it is not there, on this machine.
func (s commitSources) LocalFile(ctx context.Context, name string) (step.Pin, error) {
	return s.files.LocalFile(ctx, s.base(), name, s.PlanSources.LocalFile)
}

// planVariant reads a variant of the pipeline and fills in what is known about its sources.
// Targets that it does not have are left out and returned in missing. The plan is nil if it
// has none of them.
func (a *app) planVariant(ctx context.Context, v variant) (pl *plan.Plan, missing, notes []string, err error) {
	over := a.waiting("reading " + v.name)
	p, files, err := a.loadVariant(ctx, v)
	over()
	if err != nil {
		return nil, nil, nil, err
	}
	if v.claims != nil {
		*v.claims = p.Claims
	}
	targets := []string{}
	for _, t := range a.Targets {
		if slices.ContainsFunc(p.Steps, func(s pipeline.Step) bool { return plan.Matches(t, s.Address) }) {
			targets = append(targets, t)
		} else {
			missing = append(missing, t)
		}
	}
	if len(a.Targets) > 0 && len(targets) == 0 {
		p.Steps = nil
	}
	if files == nil {
		pl, err = a.PlanOf(ctx, p, v.file, targets)
		return pl, missing, nil, err
	}
	if pl, err = plan.Build(filepath.Base(v.file), p, a.Registry, targets); err != nil {
		return nil, nil, nil, fault.Input(err)
	}
	src, err := lockfile.OpenWith(files.ReadFile, a.LockOf(v.file), session.ProjectDir(v.file), a.MemoFile())
	if err != nil {
		return nil, nil, nil, fault.Input(fmt.Errorf("%s: %w", v.name, err))
	}
	sources := commitSources{a.Sources(src, p), files, src.Base}
	if err := a.Resolve(ctx, pl, src, sources, nil); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", v.name, err)
	}
	for _, name := range files.FromHere() {
		notes = append(notes, fmt.Sprintf("%s is not in %s, so the file here was read", name, v.name))
	}
	return pl, missing, notes, nil
}

// loadVariant evaluates a variant of the pipeline. files is nil for files on this machine.
func (a *app) loadVariant(ctx context.Context, v variant) (*pipeline.Pipeline, *versions.Files, error) {
	g, err := a.Given()
	if err != nil {
		return nil, nil, err
	}
	mods := a.Reader(v.file)
	var files *versions.Files
	var p *pipeline.Pipeline
	var ds pipeline.Diagnostics
	if v.id == "" {
		p, ds, err = a.Read(ctx, v.file, g, mods)
	} else {
		p, ds, files, err = a.readCommit(ctx, v, g)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	if ds.HasErrors() {
		if err := a.printDiagnostics(ds); err != nil {
			return nil, nil, err
		}
		return nil, nil, fault.Input(fmt.Errorf("%s cannot be read by this redsi", v.name))
	}
	a.Secrets = maps.Clone(a.Secrets)
	if a.Secrets == nil {
		a.Secrets = map[string]string{}
	}
	maps.Copy(a.Secrets, p.Secrets)
	return p, files, nil
}

func (a *app) readCommit(ctx context.Context, v variant, g session.Given) (*pipeline.Pipeline, pipeline.Diagnostics, *versions.Files, error) {
	var none pipeline.Diagnostics
	mods := a.Reader(v.file)
	files, err := versions.Open(ctx, session.ProjectDir(v.file), v.id, mods.Cache)
	if err != nil {
		return nil, none, nil, fault.Input(err)
	}
	sources, err := files.Pipeline(v.file)
	if err != nil {
		return nil, none, nil, fault.Input(err)
	}
	locked, err := lockfile.OpenWith(files.ReadFile, a.LockOf(v.file), session.ProjectDir(v.file), "")
	if err != nil {
		return nil, none, nil, fault.Input(fmt.Errorf("%s: %w", v.name, err))
	}
	mods.Pins, mods.Update = locked.Lock, nil
	o := a.Options(ctx, g, mods)
	o.ReadFile, o.Stop = files.ReadFile, ctx.Err
	o.Module = files.Module(mods.Open)
	p, ds := pipeline.Load(sources, o)
	return p, ds, files, nil
}
