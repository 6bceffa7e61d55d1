package variants

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

// commitSources answers the questions of a commit's plan about sources.
type commitSources struct {
	session.PlanSources
	files *versions.Files
	base  func() string   // folder that relative paths start from
	here  map[string]bool // folders that were read from this machine
}

// LocalFile is the digest of a file in the commit or, if it is not there, on this machine.
func (s commitSources) LocalFile(ctx context.Context, name string) (step.Pin, error) {
	return s.files.LocalFile(ctx, s.base(), name, s.PlanSources.LocalFile)
}

// LocalTree is what a folder has on this machine, whatever the commit has of it.
func (s commitSources) LocalTree(ctx context.Context, name string, ignore bool) (step.Folder, error) {
	s.here[filepath.Join(s.base(), name)] = !filepath.IsAbs(name)
	return s.PlanSources.LocalTree(ctx, name, ignore)
}

// planVariant plans a variant with what is known of its sources. missing are targets that it lacks; with none of them, the
// plan is nil.
func (c *comparer) planVariant(ctx context.Context, v Variant) (pl *plan.Plan, missing, notes []string, err error) {
	over := c.Waiting("reading " + v.Name)
	p, files, err := c.loadVariant(ctx, v)
	over()
	if err != nil {
		return nil, nil, nil, err
	}
	if v.claims != nil {
		*v.claims = p.Claims
	}
	targets := []string{}
	for _, t := range c.Targets {
		if slices.ContainsFunc(p.Steps, func(s pipeline.Step) bool { return plan.Matches(t, s.Address) }) {
			targets = append(targets, t)
		} else {
			missing = append(missing, t)
		}
	}
	if len(c.Targets) > 0 && len(targets) == 0 {
		p.Steps = nil
	}
	if files == nil {
		_, pl, err = c.Grow(ctx, p, nil, func(p *pipeline.Pipeline) (*plan.Plan, error) { return c.PlanOf(ctx, p, v.File, targets) })
		return pl, missing, nil, err
	}
	src, err := lockfile.OpenWith(files.ReadFile, c.LockOf(v.File), session.ProjectDir(v.File), c.MemoFile())
	if err != nil {
		return nil, nil, nil, fault.Input(fmt.Errorf("%s: %w", v.Name, err))
	}
	c.Know(p)
	sources := commitSources{c.Sources(src), files, src.Base, map[string]bool{}}
	_, pl, err = c.Grow(ctx, p, nil, func(p *pipeline.Pipeline) (*plan.Plan, error) {
		pl, err := plan.Build(filepath.Base(v.File), p, c.Registry, targets)
		if err != nil {
			return nil, fault.Input(err)
		}
		if err := c.Resolve(ctx, pl, src, sources, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		return pl, nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	for _, name := range files.FromHere() {
		notes = append(notes, fmt.Sprintf("%s is not in %s, so the file here was read", name, v.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(sources.here)) {
		if sources.here[name] {
			notes = append(notes, fmt.Sprintf("%s was read as it is here, not in %s: folders of source blocks are not compared", filepath.ToSlash(name), v.Name))
		}
	}
	return pl, missing, notes, nil
}

// loadVariant evaluates a variant of the pipeline. files is nil for files on this machine.
func (c *comparer) loadVariant(ctx context.Context, v Variant) (*pipeline.Pipeline, *versions.Files, error) {
	g, err := c.Given()
	if err != nil {
		return nil, nil, err
	}
	mods := c.Reader(v.File)
	var files *versions.Files
	var p *pipeline.Pipeline
	var ds pipeline.Diagnostics
	if v.id == "" {
		p, ds, err = c.Read(ctx, v.File, g, mods)
	} else {
		p, ds, files, err = c.readCommit(ctx, v, g)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	if ds.HasErrors() {
		if err := c.show(ds); err != nil {
			return nil, nil, err
		}
		return nil, nil, fault.Input(fmt.Errorf("%s cannot be read by this redsi", v.Name))
	}
	both := map[string]string{}
	maps.Copy(both, c.Secrets)
	maps.Copy(both, p.Secrets)
	c.Secrets = both
	return p, files, nil
}

func (c *comparer) readCommit(ctx context.Context, v Variant, g session.Given) (*pipeline.Pipeline, pipeline.Diagnostics, *versions.Files, error) {
	var none pipeline.Diagnostics
	mods := c.Reader(v.File)
	files, err := versions.Open(ctx, session.ProjectDir(v.File), v.id, mods.Cache)
	if err != nil {
		return nil, none, nil, fault.Input(err)
	}
	sources, err := files.Pipeline(v.File)
	if err != nil {
		return nil, none, nil, fault.Input(err)
	}
	locked, err := lockfile.OpenWith(files.ReadFile, c.LockOf(v.File), session.ProjectDir(v.File), "")
	if err != nil {
		return nil, none, nil, fault.Input(fmt.Errorf("%s: %w", v.Name, err))
	}
	mods.Pins, mods.Update = locked.Lock, nil
	o := c.Options(ctx, g, mods)
	o.ReadFile, o.List, o.Stop = files.ReadFile, files.Listing, ctx.Err
	here := o.Digest
	o.Digest = func(name string) (step.Pin, error) {
		return files.LocalFile(ctx, ".", name, func(_ context.Context, name string) (step.Pin, error) { return here(name) })
	}
	o.Module = files.Module(mods.Open)
	p, ds := pipeline.Load(sources, o)
	return p, ds, files, nil
}
