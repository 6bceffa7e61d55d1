package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/modules"
	"github.com/redsi/redsi/internal/session/fault"
)

// Load reads and evaluates the pipeline that the flags name. Diagnostics are printed; if there
// are errors among them, the returned error has no text.
func (a *app) Load(ctx context.Context) (*pipeline.Pipeline, error) {
	p, ds, err := a.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.printLoaded(ds); err != nil {
		return nil, err
	}
	a.secrets, a.whose = p.Secrets, p.Results
	a.local.gave(p)
	return p, nil
}

// printLoaded prints a pipeline's diagnostics; an error if it cannot be used.
func (a *app) printLoaded(ds pipeline.Diagnostics) error {
	if ds.HasErrors() && a.JSON {
		if err := view.WriteJSON(a.Out, map[string]any{"diagnostics": ds}); err != nil {
			return err
		}
		return fault.Printed(fault.CodeInput)
	}
	if err := a.printDiagnostics(ds); err != nil {
		return err
	}
	if ds.HasErrors() {
		return fault.Printed(fault.CodeInput)
	}
	return nil
}

// evaluate is Load without printing.
func (a *app) evaluate(ctx context.Context) (*pipeline.Pipeline, pipeline.Diagnostics, error) {
	g, err := a.given()
	if err != nil {
		return nil, pipeline.Diagnostics{}, err
	}
	a.modules = a.reader(a.File)
	p, ds, err := a.read(ctx, a.File, g, a.modules)
	if err == nil {
		err = ctx.Err()
	}
	return p, ds, err
}

// given is the values of variables that do not come from the environment.
type given struct {
	vars         map[string]string
	files, local []pipeline.File
}

// given reads the values that flags and settings give the pipeline's variables.
func (a *app) given() (g given, err error) {
	g.vars, g.local = map[string]string{}, a.local.Variables
	for _, v := range a.Vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return g, fault.Input(fmt.Errorf("--var %s: want NAME=VALUE", v))
		}
		g.vars[name] = value
	}
	g.files = slices.Clone(a.varFiles)
	for _, f := range a.VarFiles {
		b, err := os.ReadFile(f)
		if err != nil {
			return g, fault.Input(fmt.Errorf("--var-file: %w", err))
		}
		g.files = append(g.files, pipeline.File{Name: f, Bytes: b})
	}
	return g, nil
}

// openScope is Load that keeps the values for expressions to come.
func (a *app) openScope(ctx context.Context) (*pipeline.Scope, *pipeline.Pipeline, error) {
	g, err := a.given()
	if err != nil {
		return nil, nil, err
	}
	sources, err := pipelineSources(a.File)
	if err != nil {
		return nil, nil, err
	}
	a.modules = a.reader(a.File)
	o := a.options(ctx, g, a.modules)
	o.Stop = ctx.Err
	s, p, ds := pipeline.Open(sources, o)
	if err := a.printLoaded(ds); err != nil {
		return nil, nil, err
	}
	a.secrets, a.whose = p.Secrets, p.Results
	return s, p, ctx.Err()
}

// evaluationTime bounds the evaluation of a pipeline's expressions.
const evaluationTime = 2 * time.Minute

// reader opens the modules of a pipeline.
func (a *app) reader(file string) *modules.Reader {
	return &modules.Reader{Lock: filepath.Join(projectDir(file), lockfile.Name), Cache: filepath.Join(a.StateDir, "modules"), Update: a.update}
}

// options are the options of every load of a pipeline.
func (a *app) options(ctx context.Context, g given, mods *modules.Reader) pipeline.Options {
	return pipeline.Options{Registry: a.Registry, Vars: g.vars, VarFiles: g.files, Env: os.Environ(), Local: g.local, ReadFile: pipeline.ReadFile, Module: mods.For(ctx)}
}

func (a *app) read(ctx context.Context, file string, g given, mods *modules.Reader) (*pipeline.Pipeline, pipeline.Diagnostics, error) {
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
	o := a.options(ctx, g, mods)
	o.Lint = a.lint
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
	sources, err := pipeline.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; name your pipeline with -f, or write one to start from with `redsi init`", err)
	}
	if err != nil {
		return nil, fault.Input(err)
	}
	return sources, nil
}

// loadWith loads a pipeline on behalf of a client, with the client's variables and with
// modules only in accepted files; the error has all diagnostics.
func (a *app) loadWith(ctx context.Context, accept func(file string) error, file string, vars map[string]string) (*pipeline.Pipeline, error) {
	mods := a.reader(file)
	mods.Accept, mods.Update = accept, nil
	p, ds, err := a.read(ctx, file, given{vars: vars}, mods)
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

// printDiagnostics prints diagnostics for people, with a count at the end.
func (a *app) printDiagnostics(ds pipeline.Diagnostics) error {
	if len(ds.List) == 0 {
		return nil
	}
	err := ds.Write(a.Err, pipeline.Style{Width: min(terminal(a.Err), 100), Color: a.style(a.Err).Color})
	if n, _ := ds.Count(); n > 0 {
		view.Printf(a.Err, "%s: %s\n", a.File, ds.Summary())
		undeclared := slices.ContainsFunc(ds.List, func(d *hcl.Diagnostic) bool { return strings.HasPrefix(d.Summary, "Undeclared ") })
		if around := pipeline.Around(a.File); undeclared && around != "" {
			view.Printf(a.Err, "%s was read alone. To read it as part of the pipeline in its folder: -f %s\n", a.File, around)
		}
	}
	return err
}
