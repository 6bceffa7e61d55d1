package cli

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/step"
)

// variant is one of the two pipelines that are compared.
type variant struct {
	claims *[]pipeline.Claim // filled in if set
	name   string            // to show
	file   string            // of the pipeline
	id     string            // of a commit; "" if the files are read as they are here
}

// commitFiles reads a pipeline's files from a commit, and those that the commit does not have
// from this machine.
type commitFiles struct {
	*git.Commit
	ctx  context.Context
	here map[string]bool // what was read from this machine

	cache string // of modules, which have commits of their own
}

// maxLock is how long a lock file may be.
const maxLock = 64 << 20

// read reads a file for an expression or as the lock file.
func (c *commitFiles) read(name string) ([]byte, error) {
	most := int64(pipeline.MaxFile)
	if path.Base(filepath.ToSlash(name)) == lockfile.Name {
		most = maxLock
	}
	if !c.Has(name) {
		if most == maxLock && (inCache(c.cache, name) || !c.Covers(name)) { // a module's
			return os.ReadFile(name)
		} else if most == maxLock {
			return nil, fs.ErrNotExist // today's lock file is not the commit's
		}
		b, err := pipeline.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("neither commit %.12s nor this machine has it: %w", c.ID, err)
		}
		c.here[name] = true
		return b, nil
	}
	b, err := c.Read(c.ctx, name, most)
	if err != nil {
		return nil, err
	}
	sum, _, kept := git.Pointer(b)
	if !kept {
		return b, nil
	}
	if now, err := pipeline.ReadFile(name); err == nil && artifacts.Sum(now) == artifacts.Digest(sum) {
		return now, nil
	}
	return nil, fmt.Errorf("commit %.12s has only a Git LFS pointer for %s, and the file here has different bytes", c.ID, name)
}

// pipelineFiles are what pipeline.Read has of a path, in the commit.
func (c *commitFiles) pipelineFiles(name string) (map[string][]byte, error) {
	clean := filepath.ToSlash(filepath.Clean(name))
	names := []string{clean}
	folder, whole := pipeline.Folder(clean)
	if !c.Has(clean) {
		folder, whole = clean, true
	}
	if whole {
		names = nil
		for _, f := range c.List(folder) {
			if pipeline.IsPart(f) {
				names = append(names, path.Join(filepath.ToSlash(folder), f))
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("commit %.12s has no pipeline %s", c.ID, name)
	}
	files := map[string][]byte{}
	for _, f := range names {
		b, err := c.Read(c.ctx, f, pipeline.MaxFile)
		if err != nil {
			return nil, err
		}
		files[f] = b
	}
	return files, nil
}

// commitSources answers the questions of a commit's plan about sources.
type commitSources struct {
	planSources
	files *commitFiles
	base  func() string // folder that relative paths start from
}

// LocalFile is the digest of a file in the commit or, if it is not there, on this machine.
func (s commitSources) LocalFile(ctx context.Context, name string) (step.Pin, error) {
	full := name
	if !filepath.IsAbs(full) {
		full = filepath.Join(s.base(), name)
	}
	if !s.files.Has(full) {
		pin, err := s.planSources.LocalFile(ctx, name)
		if err == nil && !filepath.IsAbs(name) {
			s.files.here[filepath.ToSlash(full)] = true
		}
		return pin, err
	}
	abs, err := filepath.Abs(full)
	if err != nil {
		return step.Pin{}, err
	}
	sum, size, err := s.files.Digest(ctx, full)
	return step.Pin{Source: abs, SHA256: artifacts.Digest(sum), Size: size}, err
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
		pl, err = a.planOf(ctx, p, v.file, targets)
		return pl, missing, nil, err
	}
	if pl, err = plan.Build(filepath.Base(v.file), p, a.Registry, targets); err != nil {
		return nil, nil, nil, fault.Input(err)
	}
	src, err := lockfile.OpenWith(files.read, a.lockOf(v.file), projectDir(v.file), a.memoFile())
	if err != nil {
		return nil, nil, nil, fault.Input(fmt.Errorf("%s: %w", v.name, err))
	}
	sources := commitSources{planSources{src, fingerprints{filepath.Join(a.StateDir, "secrets.salt"), secret.Finder{Vars: p.Secrets}}, programs{}, a.newLibraries()}, files, src.Base}
	if err := a.resolve(ctx, pl, src, sources, nil); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", v.name, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files.here)) {
		notes = append(notes, fmt.Sprintf("%s is not in %s, so the file here was read", name, v.name))
	}
	return pl, missing, notes, nil
}

// loadVariant evaluates a variant of the pipeline. files is nil for files on this machine.
func (a *app) loadVariant(ctx context.Context, v variant) (*pipeline.Pipeline, *commitFiles, error) {
	g, err := a.given()
	if err != nil {
		return nil, nil, err
	}
	mods := a.reader(v.file)
	var files *commitFiles
	var p *pipeline.Pipeline
	var ds pipeline.Diagnostics
	if v.id == "" {
		p, ds, err = a.read(ctx, v.file, g, mods)
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
	a.secrets = maps.Clone(a.secrets)
	if a.secrets == nil {
		a.secrets = map[string]string{}
	}
	maps.Copy(a.secrets, p.Secrets)
	return p, files, nil
}

func (a *app) readCommit(ctx context.Context, v variant, g given) (*pipeline.Pipeline, pipeline.Diagnostics, *commitFiles, error) {
	var none pipeline.Diagnostics
	c, err := git.Open(ctx, projectDir(v.file), v.id)
	if err != nil {
		return nil, none, nil, fault.Input(err)
	}
	mods := a.reader(v.file)
	files := &commitFiles{c, ctx, map[string]bool{}, mods.Cache}
	sources, err := files.pipelineFiles(v.file)
	if err != nil {
		return nil, none, nil, fault.Input(err)
	}
	locked, err := lockfile.OpenWith(files.read, a.lockOf(v.file), projectDir(v.file), "")
	if err != nil {
		return nil, none, nil, fault.Input(fmt.Errorf("%s: %w", v.name, err))
	}
	mods.Pins, mods.Update = locked.Lock, nil
	o := a.options(ctx, g, mods)
	o.ReadFile, o.Stop = files.read, ctx.Err
	o.Module = func(folder, source string) (map[string][]byte, error) {
		at := source
		if !path.IsAbs(at) {
			at = path.Join(folder, source)
		}
		if found, err := files.pipelineFiles(at); pipeline.IsLocalModule(source) && err == nil {
			return found, nil
		}
		found, err := mods.Open(ctx, folder, source)
		if err == nil && pipeline.IsLocalModule(source) && !inCache(mods.Cache, at) {
			files.here[at] = true
		}
		return found, err
	}
	p, ds := pipeline.Load(sources, o)
	return p, ds, files, nil
}

// inCache reports whether a path belongs to a fetched module.
func inCache(cache, name string) bool {
	in, err := filepath.Rel(cache, filepath.FromSlash(name))
	return err == nil && filepath.IsLocal(in)
}
