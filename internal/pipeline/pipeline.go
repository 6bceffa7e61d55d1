package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/evaluate"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

type Pipeline struct {
	evaluate.Result
	evaluate.Values

	// Sources is every file that was read, by name: with Modules and Found, they give the same pipeline.
	Sources map[string][]byte
	Found   language.Found // of other files
	With    Options        // of the load

	// Inputs are the variables as Options.Vars takes them: these and the sensitive ones give another process the same pipeline.
	Inputs map[string]string

	opened []Module
}

type Options struct {
	Registry *step.Registry

	// Where variables get their values, strongest first; else they have their defaults.
	Vars     map[string]string // --var NAME=VALUE
	VarFiles []File            // --var-file, later ones win
	Env      []string          // REDSI_VAR_NAME=VALUE among others, as os.Environ gives them
	Local    []File            // of a LocalFile, later ones win

	language.World

	// Module returns the pipeline files of a module's source, relative to a folder; nil: there are no modules.
	Module func(folder, source string) (map[string][]byte, error)

	Environments environment.Memory // remembers what locks of environments have
	Lint         bool               // adds warnings of what is hardly meant
	Stop         func() error       // if set, is asked now and then; an error ends the evaluation
}

// Load evaluates the pipeline files among the sources: *.hcl except tests and settings. The pipeline is nil after errors.
func Load(sources map[string][]byte, o Options) (*Pipeline, Diagnostics) {
	_, p, ds := load(sources, o, false)
	return p, ds
}

// load declares and evaluates a pipeline; the scope is nil if a file cannot be read as HCL.
func load(sources map[string][]byte, o Options, keepValues bool) (*Scope, *Pipeline, Diagnostics) {
	s := language.NewSession(sources, o.World, syntax.NewCollector(sources), o.Stop)
	t := declare.Declare(s, sources, declare.Options{Registry: o.Registry, Module: o.Module, Lint: o.Lint})
	if t.Root.Broken() {
		return nil, nil, s.Diags.Done()
	}
	for _, name := range syntax.Pipelines(sources) {
		s.Read[name] = sources[name]
	}
	r, opened := evaluate.Evaluate(s, t, evaluate.Given{Vars: o.Vars, VarFiles: o.VarFiles, Env: o.Env, Local: o.Local}, evaluate.Options{Lint: o.Lint, KeepValues: keepValues, Environments: o.Environments, ReadFile: o.ReadFile})
	ds := s.Diags.Done()
	if ds.HasErrors() {
		ds.Questions, ds.Lacks = opened.Questions(ds), s.Lacks
		return opened, nil, ds
	}
	p := &Pipeline{Result: *r, Sources: s.Read, Found: s.Found, With: o}
	p.Values, p.Inputs = opened.Values()
	for _, id := range slices.SortedFunc(maps.Keys(t.Opened), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		p.opened = append(p.opened, Module{id[0], id[1], t.Opened[id]})
	}
	return opened, p, ds
}

// Open is Load that keeps the values, unknown ones after mistakes; the scope is nil of sources that are not HCL.
func Open(sources map[string][]byte, o Options) (*Scope, *Pipeline, Diagnostics) {
	return load(sources, o, true)
}

// Module is where the files of a module came from.
type Module struct {
	Folder string            `json:"folder"` // that the source is relative to
	Source string            `json:"source"`
	Files  map[string][]byte `json:"files"`
}

// What is wrong with a pipeline, and where.
type (
	Pos         = syntax.Pos
	File        = syntax.File
	Diagnostics = syntax.Diagnostics
	Invalid     = syntax.Invalid
	Style       = syntax.Style
)

// What a load asks of the outside, and what it was told.
type (
	World = language.World
	Found = language.Found
	Made  = language.Made
)

// What a pipeline consists of, as its blocks say it and as the last pass makes it.
type (
	Paper     = declare.Paper
	Asset     = declare.Asset
	Step      = evaluate.Step
	Skipped   = evaluate.Skipped
	Claim     = evaluate.Claim
	Checklist = evaluate.Checklist
	Said      = evaluate.Said
	Bound     = evaluate.Bound
	Results   = evaluate.Results
	Publish   = evaluate.Publish
)

// Scope is what the expressions of a loaded pipeline see; an Expression is evaluated in it later.
type (
	Scope      = evaluate.Opened
	Expression = evaluate.Expression
)

const EnvPrefix = evaluate.EnvPrefix

func SourceOf(t step.Task, pos Pos) (path string, ignore, ok bool) { return evaluate.SourceOf(t, pos) }

func WholeExpression(file string, source []byte) Expression {
	return evaluate.WholeExpression(file, source)
}

// Origin is what a pipeline was loaded from: a worker reloads it once a step has decided which steps there are.
type Origin struct {
	Sources map[string][]byte `json:"sources"`
	Found   language.Found    `json:"found"`
	Modules []Module          `json:"modules,omitempty"`
	Vars    map[string]string `json:"vars,omitempty"`    // see Inputs
	Secrets []string          `json:"secrets,omitempty"` // names of sensitive variables

	local, given []string // as Pipeline has them
}

func (p *Pipeline) Origin() *Origin {
	return &Origin{p.Sources, p.Found, p.opened, p.Inputs, syntax.Keys(p.Secrets), p.Local, p.Given}
}

// Load reloads the pipeline, with options beside the origin: Vars or Env have the sensitive variables, which it lacks.
func (o *Origin) Load(with Options) (*Pipeline, syntax.Diagnostics) {
	vars := map[string]string{}
	maps.Copy(vars, with.Vars)
	maps.Copy(vars, o.Vars)
	with.Vars, with.Found = vars, o.Found
	with.Env = slices.DeleteFunc(slices.Clone(with.Env), func(e string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, evaluate.EnvPrefix), "=")
		return !slices.Contains(o.Secrets, name)
	})
	with.Module = func(folder, source string) (map[string][]byte, error) {
		i := slices.IndexFunc(o.Modules, func(m Module) bool { return m.Folder == folder && m.Source == source })
		if i < 0 {
			return nil, fmt.Errorf("the module %s is not among the modules of the plan: plan again", source)
		}
		return o.Modules[i].Files, nil
	}
	p, ds := Load(o.Sources, with)
	if p != nil {
		p.Local, p.Given = o.local, o.given
	}
	return p, ds
}
