package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// ProjectDir is the folder of the pipeline and its lock file, in which relative local sources start.
func ProjectDir(file string) string {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return file
	}
	return filepath.Dir(file)
}

// LoadPlan reads the pipeline, fills in pins and selects targets. The pipeline has only its tables and figures, for memory's
// sake, unless it has pending steps.
func (se *Session) LoadPlan(ctx context.Context) (*plan.Plan, *pipeline.Pipeline, error) {
	over := se.Waiting("reading the pipeline and its modules")
	p, err := se.Load(ctx)
	over()
	if err != nil {
		return nil, nil, err
	}
	se.Variables = ShownVariables(p)
	for _, sources := range []map[string][]byte{p.Sources, p.Modules} {
		for name := range sources {
			se.read.Store(filepath.FromSlash(name), nil)
		}
	}
	pl, p, err := se.planGrown(ctx, p, se.Targets, false)
	if err != nil {
		return nil, nil, err
	}
	se.Published = p.Publish
	return pl, p, nil
}

// planGrown is PlanOf with the steps that follow from what the stores have; unless complete, the pipeline is as LoadPlan's.
func (se *Session) planGrown(ctx context.Context, p *pipeline.Pipeline, targets []string, complete bool) (*plan.Plan, *pipeline.Pipeline, error) {
	pl, err := se.build(p, se.File, targets)
	if err == nil {
		if !complete && !pl.Pending() {
			p.Steps = lists.Filter(p.Steps, func(s pipeline.Step) bool { return address.Of(s.Address).IsRendered() })
		}
		pl, err = se.digested(ctx, p, pl, se.File, nil)
	}
	if err == nil {
		p, pl, err = se.Grow(ctx, p, pl, func(p *pipeline.Pipeline) (*plan.Plan, error) { return se.PlanOf(ctx, p, se.File, targets) })
	}
	if invalid, ok := errors.AsType[*pipeline.Invalid](err); ok {
		err = se.Diagnostics(invalid.Diagnostics)
	}
	return pl, p, err
}

// Grow rebuilds a plan (nil: none yet), by planOf, with what the stores have of its steps' outputs.
func (se *Session) Grow(ctx context.Context, p *pipeline.Pipeline, pl *plan.Plan, planOf func(*pipeline.Pipeline) (*plan.Plan, error)) (*pipeline.Pipeline, *plan.Plan, error) {
	var err error
	if pl == nil {
		pl, err = planOf(p)
	}
	if err != nil || !pl.Pending() {
		return p, pl, err
	}
	store, err := se.OpenStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, pl, err = plan.Grower{
		Origin: p.Origin(),
		With:   p.With,
		Plan:   planOf,
		Follow: func(pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) { return se.PreviewOf(ctx, store, pl, keep) },
		Store:  store,
	}.Grow(ctx, p, pl)
	if _, ok := errors.AsType[*pipeline.Invalid](err); ok {
		err = fault.Input(err)
	}
	return p, pl, err
}

// TargetError adds to an error about targets, if there is one, how to see what there is.
func (se *Session) TargetError(err error) error {
	if unknown, ok := errors.AsType[*plan.UnknownTarget](err); ok && unknown.Near == "" && se.NamesFile && se.Hint != nil {
		err = fmt.Errorf("%w; `%s` lists them", err, se.Hint("plan", "--all"))
	}
	return fault.Input(err)
}

func (se *Session) LockFile() string { return se.LockOf(se.File) }

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

// PlanOf plans a pipeline, with the digests of its sources and programs. It rehashes those of changed steps.
func (se *Session) PlanOf(ctx context.Context, p *pipeline.Pipeline, file string, targets []string, changed ...string) (*plan.Plan, error) {
	pl, err := se.build(p, file, targets)
	if err != nil {
		return nil, err
	}
	return se.digested(ctx, p, pl, file, changed)
}

// build plans only by what the pipeline says, without digests.
func (se *Session) build(p *pipeline.Pipeline, file string, targets []string) (*plan.Plan, error) {
	pl, err := plan.Build(filepath.Base(file), p, se.Registry, targets)
	return pl, se.TargetError(err)
}

// digested adds the digests of sources and programs to a plan, see PlanOf.
func (se *Session) digested(ctx context.Context, p *pipeline.Pipeline, pl *plan.Plan, file string, changed []string) (*plan.Plan, error) {
	se.Know(p)
	src, err := lockfile.Open(se.LockOf(file), ProjectDir(file), se.MemoFile())
	if err != nil {
		return nil, fault.Input(err)
	}
	err = se.Resolve(ctx, pl, src, se.Sources(src), changed)
	if un, ok := errors.AsType[*unresolved](err); ok && se.Partial {
		if rest, _ := pl.Without(nil, func(i int) bool { return un.steps[i] }); len(rest.Steps) > 0 {
			se.Lacks = fmt.Errorf("%w\nthe plan has the other %s; left out, since they need this: %s", err, words.Count(len(rest.Steps), "step"), words.Count(len(pl.Steps)-len(rest.Steps), "step"))
			return rest, nil
		}
	}
	return pl, err
}

// PlanSources answers a plan's questions about sources, programs and their libraries.
type PlanSources struct {
	*lockfile.Sources
	planLibraries
	explains bool
}

// Explains reports whether Session.Unkeyed will be asked.
func (p PlanSources) Explains() bool { return p.explains }

func (PlanSources) Program(name string) (string, error) { return command.Find(name) }

// Sources answers the questions of a plan about sources; src answers those about files.
func (se *Session) Sources(src *lockfile.Sources) PlanSources {
	src.Asked = func(path string) { se.read.Store(path, nil) }
	return PlanSources{src, se.newLibraries(), se.Explains}
}

// unresolved names the steps whose source or program is missing, and says why.
type unresolved struct {
	error
	steps map[int]bool
}

func (e *unresolved) Unwrap() error { return e.error }

// Resolve fills in the digests of the steps' sources and programs, by the answers of sources, whose files are src's.
func (se *Session) Resolve(ctx context.Context, pl *plan.Plan, src *lockfile.Sources, sources step.Sources, changed []string) error {
	ctx, over := se.Reading(ctx, "planning")
	defer over()
	return se.resolve(ctx, pl, lists.Places(len(pl.Steps)), src, sources, changed)
}

// ResolveGrown is Resolve for some steps of a grown plan, with a project's lock file; "": the session's.
func (se *Session) ResolveGrown(ctx context.Context, pl *plan.Plan, steps []int, lock string) error {
	lock = cmp.Or(lock, se.LockFile())
	src, err := lockfile.OpenWith(os.ReadFile, lock, filepath.Dir(lock), se.MemoFile())
	if err != nil {
		return fault.Input(err)
	}
	return se.resolve(ctx, pl, steps, src, se.Sources(src), nil)
}

func (se *Session) resolve(ctx context.Context, pl *plan.Plan, steps []int, src *lockfile.Sources, sources step.Sources, changed []string) error {
	defer command.Remember()()
	var problems []error
	missing := map[int]bool{}
	for _, i := range steps {
		s := pl.Steps[i]
		if s.Pending() {
			continue
		}
		src.Rehash = slices.Contains(changed, s.Address)
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

// ShownVariables are a pipeline's variables as JSON, with nothing of sensitive ones.
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
