package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// ProjectDir is the folder of the pipeline: the lock file is there, and local
// sources are relative to it.
func ProjectDir(file string) string {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return file
	}
	return filepath.Dir(file)
}

// LoadPlan reads the pipeline, fills in what is pinned and selects the targets.
func (se *Session) LoadPlan(ctx context.Context) (*plan.Plan, *pipeline.Pipeline, error) {
	over := se.Waiting("reading the pipeline and its modules")
	p, err := se.Load(ctx)
	over()
	if err != nil {
		return nil, nil, err
	}
	se.Variables = ShownVariables(p)
	pl, err := se.PlanOf(ctx, p, se.File, se.Targets)
	return pl, p, err
}

// TargetError adds to an error about targets how to see what there is.
func (se *Session) TargetError(err error) error {
	var unknown *plan.UnknownTarget
	if errors.As(err, &unknown) && unknown.Near == "" && se.NamesFile && se.Hint != nil {
		err = fmt.Errorf("%w; `%s` lists them", err, se.Hint("plan", "--all"))
	}
	return fault.Input(err)
}

// LockFile is beside the pipeline.
func (se *Session) LockFile() string { return se.LockOf(se.File) }

// LockOf is the lock file of a pipeline.
func (se *Session) LockOf(file string) string {
	if se.Lock != "" {
		return se.Lock
	}
	return filepath.Join(ProjectDir(file), lockfile.Name)
}

// Project is the id of the pipeline's project; "": none.
func (se *Session) Project() string {
	f, err := lockfile.Read(se.LockFile())
	if err != nil {
		return ""
	}
	return f.Project
}

// MemoFile remembers the checksums of local files.
func (se *Session) MemoFile() string { return filepath.Join(se.StateDir, "digests.json") }

// PlanOf plans a pipeline, with what is known of its sources and programs.
func (se *Session) PlanOf(ctx context.Context, p *pipeline.Pipeline, file string, targets []string) (*plan.Plan, error) {
	return se.PlanAgain(ctx, p, file, targets, nil)
}

// PlanAgain is PlanOf that hashes the sources and programs of some steps again, whatever
// checksums are remembered.
func (se *Session) PlanAgain(ctx context.Context, p *pipeline.Pipeline, file string, targets, changed []string) (*plan.Plan, error) {
	pl, err := plan.Build(filepath.Base(file), p, se.Registry, targets)
	if err != nil {
		return nil, se.TargetError(err)
	}
	src, err := lockfile.Open(se.LockOf(file), ProjectDir(file), se.MemoFile())
	if err != nil {
		return nil, fault.Input(err)
	}
	err = se.Resolve(ctx, pl, src, se.Sources(src, p), changed)
	var un *unresolved
	if se.Partial && errors.As(err, &un) {
		if rest, _ := pl.Without(func(i int) bool { return un.steps[i] }); len(rest.Steps) > 0 {
			se.Lacks = fmt.Errorf("%w\nthe plan has the other %s; left out, since they need this: %s", err, words.Count(len(rest.Steps), "step"), words.Count(len(pl.Steps)-len(rest.Steps), "step"))
			return rest, nil
		}
	}
	return pl, err
}

// Sources answers the questions of a plan of a pipeline, whose files are those of src.
func (se *Session) Sources(src *lockfile.Sources, p *pipeline.Pipeline) PlanSources {
	salt := filepath.Join(se.StateDir, "secrets.salt")
	return PlanSources{src, fingerprints{salt, secret.Finder{Vars: p.Secrets}}, programs{}, se.newLibraries()}
}

// unresolved names the steps whose source or program is missing, and says why.
type unresolved struct {
	error
	steps map[int]bool
}

func (e *unresolved) Unwrap() error { return e.error }

// Resolve fills in what is known of the sources and programs of a plan's steps: sources
// answers, of the files of src.
func (se *Session) Resolve(ctx context.Context, pl *plan.Plan, src *lockfile.Sources, sources step.Sources, changed []string) error {
	ctx, over := se.talk().Reading(ctx, "planning")
	defer over()
	var problems []error
	missing := map[int]bool{}
	for i, s := range pl.Steps {
		src.HashAgain(slices.Contains(changed, s.Address))
		if err := src.From(filepath.Dir(filepath.FromSlash(s.Pos.File))); err != nil {
			return fault.Input(err)
		}
		t, err := se.Registry.Resolved(ctx, sources, s.Task)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %w", s.Pos, s.Address, err))
			missing[i] = true
			continue
		}
		pl.Steps[i].Task = t
	}
	if len(problems) > 0 {
		return fault.Input(&unresolved{errors.Join(problems...), missing})
	}
	if err := errors.Join(src.Save(), se.libraries.memory.Save()); err != nil {
		se.Log.Warn("checksums of local files could not be saved", "err", err)
	}
	return nil
}

// ShownVariables are a pipeline's variables with their values as JSON, sensitive ones
// without.
func ShownVariables(p *pipeline.Pipeline) map[string]string {
	shown := make(map[string]string, len(p.Vars)+len(p.Secrets))
	for name, value := range p.Vars {
		shown[name] = string(value)
	}
	for name := range p.Secrets {
		shown[name] = "(sensitive)"
	}
	return shown
}
