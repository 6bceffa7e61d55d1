// Package variants compares two variants of a pipeline, of commits, folders or files: what the
// change from one to the other costs. It must not know flags, or how that is shown.
package variants

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/pipeline/impact/versions"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/step"
)

type Variant struct {
	Name string // to show
	File string // of the pipeline
	id   string // of a commit; "" if the files are read as they are here
}

// comparer reads and plans variants; show shows what is wrong with a variant.
type comparer struct {
	*session.Session
	show func(pipeline.Diagnostics) error
}

// planned is a variant's plan. missing are the targets that it lacks.
type planned struct {
	plan           *plan.Plan
	claims         []pipeline.Claim
	missing, notes []string
}

// Revisions reads REV, REV.., REV..REV2 and REV...REV2, of the pipeline in a file.
func Revisions(ctx context.Context, file, arg string) (x, y Variant, err error) {
	if info, serr := os.Stat(arg); serr == nil && (info.IsDir() || strings.HasSuffix(arg, ".hcl")) {
		return x, y, fault.Input(fmt.Errorf("%s is a file or folder: give another one to compare it with; a branch of that name is written refs/heads/NAME", arg))
	}
	folder := session.ProjectDir(file)
	from, to, isRange := strings.Cut(arg, "..")
	to, common := strings.CutPrefix(to, ".")
	if from == "" || strings.Contains(to, "..") {
		return x, y, fault.Input(fmt.Errorf("%s is not a range of commits: write REV, REV..REV2 or REV...REV2, or give two folders or two runs", arg))
	}
	if x, err = commit(ctx, file, from); err != nil {
		return x, y, err
	}
	if !isRange {
		return x, Variant{Name: "the files here", File: file}, nil
	}
	if y, err = commit(ctx, file, cmp.Or(to, "HEAD")); err != nil || !common {
		return x, y, err
	}
	base, err := git.MergeBase(ctx, folder, x.id, y.id)
	if err != nil {
		return x, y, fault.Input(fmt.Errorf("%s: %w", arg, err))
	}
	x.id, x.Name = base, fmt.Sprintf("%.12s, the common ancestor of %s and %s", base, from, to)
	return x, y, nil
}

func commit(ctx context.Context, file, name string) (Variant, error) {
	folder := session.ProjectDir(file)
	id, err := git.Resolve(ctx, folder, name)
	if err != nil {
		if _, terr := git.Run(ctx, "-C", folder, "rev-parse", "--show-toplevel"); terr != nil {
			return Variant{}, fault.Input(fmt.Errorf("%s is not in a git repository that can be read (%w): give two folders to compare, or two runs", shellwords.Quote(folder), terr))
		}
		return Variant{}, fault.Input(fmt.Errorf("there is no commit, branch or tag %s in the repository of %s; to compare runs, give two", name, shellwords.Quote(folder)))
	}
	return Variant{Name: fmt.Sprintf("%s (%.12s)", name, id), File: file, id: id}, nil
}

// Impact says what the change between variants costs; show shows what is wrong with a variant that cannot be read.
func Impact(ctx context.Context, se *session.Session, x, y Variant, show func(pipeline.Diagnostics) error) (*impact.Report, error) {
	c := &comparer{Session: se, show: show}
	was, err := c.planVariant(ctx, x)
	if err != nil {
		return nil, err
	}
	is, err := c.planVariant(ctx, y)
	if err != nil {
		return nil, err
	}
	for _, t := range was.missing {
		if slices.Contains(is.missing, t) {
			return nil, se.TargetError(&plan.UnknownTarget{Target: t})
		}
	}
	store, err := se.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	before, err := se.PreviewOf(ctx, store, was.plan, plan.KeepNone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.Name, err)
	}
	after, err := se.PreviewOf(ctx, store, is.plan, plan.KeepNone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", y.Name, err)
	}
	e, err := se.Cost(ctx, store, after)
	if err != nil {
		return nil, err
	}
	earlier, err := se.Journal(ctx, store.Own, before)
	if err != nil {
		return nil, err
	}
	touched := func(address string) []string {
		return lists.Map(expect.Touched(is.claims, address), pipeline.Claim.Text)
	}
	newest := func(ctx context.Context, i int) ([]byte, error) {
		e, err := earlier.Newest(ctx, store, before, i, func(n int) bool { return before.Items[n].Outcome != plan.Hit })
		if !e.Hit() || e.Result.Key == before.Items[i].Key {
			return nil, err
		}
		return e.Result.Preimage, nil
	}
	r, err := impact.Compare(ctx, impact.Sides{Registry: se.Registry, Was: before, Is: after, Estimate: e,
		Newest: newest, Diff: se.Differ(ctx, store), Claims: touched})
	if err != nil {
		return nil, err
	}
	r.A, r.B = x.Name, y.Name
	r.Notes = slices.Concat(r.Notes, was.notes, is.notes)
	return r, nil
}

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

// planVariant plans a variant with what is known of its sources: no step, if it lacks all targets.
func (c *comparer) planVariant(ctx context.Context, v Variant) (out planned, err error) {
	over := c.Waiting("reading " + v.Name)
	p, files, err := c.loadVariant(ctx, v)
	over()
	if err != nil {
		return out, err
	}
	out.claims = p.Claims
	targets := []string{}
	for _, t := range c.Targets {
		if slices.ContainsFunc(p.Steps, func(s pipeline.Step) bool { return plan.Matches(t, s.Address) }) {
			targets = append(targets, t)
		} else {
			out.missing = append(out.missing, t)
		}
	}
	if len(c.Targets) > 0 && len(targets) == 0 {
		p.Steps = nil
	}
	if files == nil {
		_, out.plan, err = c.Grow(ctx, p, nil, func(p *pipeline.Pipeline) (*plan.Plan, error) { return c.PlanOf(ctx, p, v.File, targets) })
		return out, err
	}
	src, err := lockfile.OpenWith(files.ReadFile, c.LockOf(v.File), session.ProjectDir(v.File), c.MemoFile())
	if err != nil {
		return out, fault.Input(fmt.Errorf("%s: %w", v.Name, err))
	}
	c.Know(p)
	sources := commitSources{c.Sources(src), files, func() string { return src.Base }, map[string]bool{}}
	_, out.plan, err = c.Grow(ctx, p, nil, func(p *pipeline.Pipeline) (*plan.Plan, error) {
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
		return out, err
	}
	for _, name := range files.FromHere() {
		out.notes = append(out.notes, fmt.Sprintf("%s is not in %s, so the file here was read", name, v.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(sources.here)) {
		if sources.here[name] {
			out.notes = append(out.notes, fmt.Sprintf("%s was read as it is here, not in %s: folders of source blocks are not compared", filepath.ToSlash(name), v.Name))
		}
	}
	return out, nil
}

// loadVariant evaluates a variant of the pipeline. files is nil for files on this machine.
func (c *comparer) loadVariant(ctx context.Context, v Variant) (*pipeline.Pipeline, *versions.Files, error) {
	g, err := c.Given()
	if err != nil {
		return nil, nil, err
	}
	var files *versions.Files
	var p *pipeline.Pipeline
	var ds pipeline.Diagnostics
	if v.id == "" {
		p, ds, err = c.Read(ctx, v.File, g, c.Reader(v.File))
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
		return nil, nil, cmp.Or(c.show(ds), fault.Input(fmt.Errorf("%s cannot be read by this redsi", v.Name)))
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
