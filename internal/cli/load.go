package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/view"
)

// Load reads and evaluates the pipeline that the flags name. Diagnostics are
// printed; if there are errors among them, the returned error says no more.
func (a *app) Load(ctx context.Context) (*pipeline.Pipeline, error) {
	p, ds, err := a.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.printLoaded(ds); err != nil {
		return nil, err
	}
	return p, nil
}

// printLoaded prints what is wrong with a pipeline that is to be used; an error if that
// cannot be.
func (a *app) printLoaded(ds pipeline.Diagnostics) error {
	if ds.HasErrors() && a.JSON {
		if err := view.WriteJSON(a.Out, map[string]any{"diagnostics": ds}); err != nil {
			return err
		}
		return &exitError{code: exitInput}
	}
	if err := a.printDiagnostics(ds); err != nil {
		return err
	}
	if ds.HasErrors() {
		return &exitError{code: exitInput}
	}
	return nil
}

// evaluate is Load without printing.
func (a *app) evaluate(ctx context.Context) (*pipeline.Pipeline, pipeline.Diagnostics, error) {
	vars, files, err := a.given()
	if err != nil {
		return nil, pipeline.Diagnostics{}, err
	}
	p, ds, err := a.read(ctx, a.File, vars, files)
	if err == nil {
		err = ctx.Err()
	}
	return p, ds, err
}

// given reads what the flags give the pipeline's variables.
func (a *app) given() (vars map[string]string, files []pipeline.File, err error) {
	vars = map[string]string{}
	for _, v := range a.Vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, nil, inputError(fmt.Errorf("--var %s: want NAME=VALUE", v))
		}
		vars[name] = value
	}
	files = slices.Clone(a.varFiles)
	for _, f := range a.VarFiles {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, nil, inputError(fmt.Errorf("--var-file: %w", err))
		}
		files = append(files, pipeline.File{Name: f, Bytes: b})
	}
	return vars, files, nil
}

// openScope is Load that keeps the values for expressions to come.
func (a *app) openScope(ctx context.Context) (*pipeline.Scope, *pipeline.Pipeline, error) {
	vars, files, err := a.given()
	if err != nil {
		return nil, nil, err
	}
	sources, err := readSources(a.File)
	if err != nil {
		return nil, nil, err
	}
	s, p, ds := pipeline.Open(sources, pipeline.Options{Registry: a.Registry, Vars: vars, VarFiles: files, Env: os.Environ(),
		ReadFile: pipeline.ReadFile, Stop: ctx.Err})
	if err := a.printLoaded(ds); err != nil {
		return nil, nil, err
	}
	a.secrets = p.Secrets
	return s, p, ctx.Err()
}

// evaluationTime is how long the expressions of a pipeline may take.
const evaluationTime = 2 * time.Minute

func (a *app) read(ctx context.Context, file string, vars map[string]string, files []pipeline.File) (*pipeline.Pipeline, pipeline.Diagnostics, error) {
	sources, err := readSources(file)
	if err != nil {
		return nil, pipeline.Diagnostics{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, evaluationTime,
		fmt.Errorf("evaluating the pipeline took longer than %s; let command steps do what its expressions do", evaluationTime))
	defer cancel()
	stop := func() error { return context.Cause(limited) }
	p, ds := pipeline.Load(sources, pipeline.Options{
		Registry: a.Registry, Vars: vars, VarFiles: files, Env: os.Environ(), ReadFile: pipeline.ReadFile, Stop: stop})
	return p, ds, nil
}

func readSources(file string) (map[string][]byte, error) {
	sources, err := pipeline.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; name your pipeline with -f, or let `redsi init` write one to start from", err)
	}
	if err != nil {
		return nil, inputError(err)
	}
	return sources, nil
}

// loadWith loads a pipeline on somebody else's behalf, with what they give: the
// error says all that is wrong.
func (a *app) loadWith(ctx context.Context, file string, vars map[string]string) (*pipeline.Pipeline, error) {
	p, ds, err := a.read(ctx, file, vars, nil)
	switch {
	case err != nil:
		return nil, err
	case ds.HasErrors():
		return nil, inputError(ds.Err())
	}
	for name := range p.Secrets {
		if _, sent := vars[name]; sent {
			return nil, inputError(fmt.Errorf("var.%s is sensitive, and a workflow's input is kept by the server: set %s%s in the environment of the workers instead, and give the value up: the server has it", name, pipeline.EnvPrefix, name))
		}
	}
	return p, ctx.Err()
}

// printDiagnostics writes them for people, with a count at the end.
func (a *app) printDiagnostics(ds pipeline.Diagnostics) error {
	if len(ds.List) == 0 {
		return nil
	}
	err := ds.Write(a.Err, pipeline.Style{Width: min(terminal(a.Err), 100), Color: a.style(a.Err).Color})
	if n, _ := ds.Count(); n > 0 {
		view.Printf(a.Err, "%s: %s\n", a.File, ds.Summary())
	}
	return err
}
