package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/modules"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

// Load reads and evaluates the pipeline that the flags name, and shows diagnostics. If there are errors among them, the
// returned error has no text.
func (se *Session) Load(ctx context.Context) (*pipeline.Pipeline, error) {
	p, ds, err := se.Evaluate(ctx)
	if err == nil {
		p, ds, err = se.ask(ctx, p, ds)
	}
	if err != nil {
		return nil, err
	}
	if err := se.Diagnostics(ds); err != nil {
		return nil, err
	}
	se.Secrets, se.Results = p.Secrets, p.Results
	se.Local.gave(p)
	return p, nil
}

// Evaluate is Load without printing.
func (se *Session) Evaluate(ctx context.Context) (*pipeline.Pipeline, pipeline.Diagnostics, error) {
	g, err := se.Given()
	if err != nil {
		return nil, pipeline.Diagnostics{}, err
	}
	se.Modules = se.Reader(se.File)
	p, ds, err := se.Read(ctx, se.File, g, se.Modules)
	if err == nil {
		err = ctx.Err()
	}
	return p, ds, err
}

// Given is the values of variables that do not come from the environment.
type Given struct {
	vars         map[string]string
	files, local []pipeline.File
}

// Given reads the values that flags and settings give the pipeline's variables.
func (se *Session) Given() (g Given, err error) {
	g.vars, g.local = map[string]string{}, se.Local.Variables
	for _, v := range se.Vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return g, fault.Input(fmt.Errorf("--var %s: want NAME=VALUE", v))
		}
		g.vars[name] = value
	}
	g.files = slices.Clone(se.Weaker)
	for _, f := range se.VarFiles {
		b, err := os.ReadFile(f)
		if err != nil {
			return g, fault.Input(fmt.Errorf("--var-file: %w", err))
		}
		g.files = append(g.files, pipeline.File{Name: f, Bytes: b})
	}
	return g, nil
}

// OpenScope is Load that keeps the values for expressions to come.
func (se *Session) OpenScope(ctx context.Context) (*pipeline.Scope, *pipeline.Pipeline, error) {
	g, err := se.Given()
	if err != nil {
		return nil, nil, err
	}
	sources, err := pipelineSources(se.File)
	if err != nil {
		return nil, nil, err
	}
	se.Modules = se.Reader(se.File)
	o := se.Options(ctx, g, se.Modules)
	o.Stop = ctx.Err
	s, p, ds := pipeline.Open(sources, o)
	if err := se.Diagnostics(ds); err != nil {
		return nil, nil, err
	}
	se.Secrets, se.Results = p.Secrets, p.Results
	if !slices.ContainsFunc(p.Steps, func(s pipeline.Step) bool { return s.Pending() }) {
		return s, p, ctx.Err()
	}
	_, grownTo, err := se.planGrown(ctx, p, nil, true)
	if err != nil {
		return s, p, ctx.Err() // what is unknown stays so
	}
	o.Made = grownTo.With.Made
	if grown, gp, _ := pipeline.Open(sources, o); gp != nil {
		s, p = grown, gp
	}
	return s, p, ctx.Err()
}

const evaluationTime = 2 * time.Minute

func (se *Session) Reader(file string) *modules.Reader {
	return &modules.Reader{Lock: filepath.Join(ProjectDir(file), lockfile.Name), Cache: filepath.Join(se.StateDir, "modules"), Update: se.Update}
}

// Options are the options of every load of a pipeline, here and as it grows.
func (se *Session) Options(ctx context.Context, g Given, mods *modules.Reader) pipeline.Options {
	return pipeline.Options{Registry: se.Registry, Vars: g.vars, VarFiles: g.files, Env: os.Environ(), Local: g.local,
		World: pipeline.World{ReadFile: syntax.ReadFile, List: language.List, Digest: se.digester(ctx), Folder: listing.Names}, Module: mods.For(ctx),
		Environments: environment.Memory(filepath.Join(se.StateDir, "environments"))}
}

// digester hashes files, and remembers what it hashed as plans do for local sources.
func (se *Session) digester(ctx context.Context) func(name string) (step.Pin, error) {
	open := sync.OnceValues(func() (*lockfile.Sources, error) { return lockfile.Open("", ".", se.MemoFile()) })
	return func(name string) (step.Pin, error) {
		src, err := open()
		if err != nil {
			return step.Pin{}, err
		}
		pin, err := src.LocalFile(ctx, filepath.FromSlash(name))
		_ = src.Save() // losing it costs only hashing
		return pin, err
	}
}

func (se *Session) Read(ctx context.Context, file string, g Given, mods *modules.Reader) (*pipeline.Pipeline, pipeline.Diagnostics, error) {
	sources, err := pipelineSources(file)
	if err != nil {
		return nil, pipeline.Diagnostics{}, err
	}
	for name := range sources { // a link in an accepted folder may lead out of it
		if mods.Accept == nil {
			break
		}
		if err := mods.Accept(filepath.FromSlash(name)); err != nil {
			return nil, pipeline.Diagnostics{}, err
		}
	}
	began := time.Now()
	o := se.Options(ctx, g, mods)
	o.Lint = se.Lint
	o.Stop = func() error {
		if time.Since(began)-mods.Waited > evaluationTime {
			return fmt.Errorf("evaluating the pipeline took longer than %s; move work from its expressions into command steps", evaluationTime)
		}
		return ctx.Err()
	}
	p, ds := pipeline.Load(sources, o)
	return p, ds, nil
}

func pipelineSources(file string) (map[string][]byte, error) {
	sources, err := syntax.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; name your pipeline with -f, or write one to start from with `redsi init`", err)
	}
	return sources, fault.Input(err)
}

// LoadWith loads a pipeline for a client, with its variables, and modules in accepted files; the error has all diagnostics.
func (se *Session) LoadWith(ctx context.Context, accept func(file string) error, file string, vars map[string]string) (*pipeline.Pipeline, error) {
	mods := se.Reader(file)
	mods.Accept, mods.Update = accept, nil
	p, ds, err := se.Read(ctx, file, Given{vars: vars}, mods)
	switch {
	case err != nil:
		return nil, err
	case ds.HasErrors():
		return nil, fault.Input(ds.Err())
	}
	for name := range p.Secrets {
		if _, sent := vars[name]; sent {
			return nil, fault.Input(fmt.Errorf("var.%s is sensitive, but the server keeps a workflow's input: set %s%s in the environment of the workers instead, and replace the value, since the server now has it", name, pipeline.EnvPrefix, name))
		}
	}
	return p, ctx.Err()
}

// ReadResults takes the results block of a pipeline that can be read; some verbs work without one.
func (se *Session) ReadResults(ctx context.Context) {
	file := cmp.Or(se.File, os.Getenv("REDSI_FILE"), "pipelines.hcl")
	g, err := se.Given()
	if err != nil {
		return
	}
	if p, ds, err := se.Read(ctx, file, g, se.Reader(file)); err == nil && !ds.HasErrors() {
		se.Results = p.Results
	}
}
