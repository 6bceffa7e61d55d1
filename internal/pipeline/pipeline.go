package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// Step is one piece of work: a source, step, table or figure block, or one instance of
// such a block with for_each.
type Step struct {
	Address string // step.dedup.nq["url"], table.dedup_counts, module.first.step.dedup.nq["url"]
	Module  string // address of the module that it is part of; "" if none
	Block   string // the block's type: source, step, table or figure
	Kind    string
	Name    string
	Key     string // the for_each key; "" without for_each

	Task    step.Task      // completed configuration, its inputs being references
	Pos     Pos            // of the block
	AttrPos map[string]Pos // of its attributes, by name; shared by the instances of a block

	Asks
	Waiting
}

// Asks is what a step asks of the run beside its task. It is in no key.
type Asks struct {
	Queue     string          // from resources; "" leaves it to the kind
	Resources *step.Resources // what else it asks for; nil: nothing
	Temporary bool            // its keep is false: its bytes leave the store when all that read them are done
}

// Waiting is what a step waits for that is not known yet. Awaits are the outputs by which it is
// decided what the step is, or, of an address BLOCK[*], which steps there are: it is pending until
// they are known to Options.Made, and has no configuration. After are steps that come before it in
// any case.
type Waiting struct {
	Awaits []step.Ref
	After  []string
}

// Pending reports whether it is not known yet what the step is.
func (s *Step) Pending() bool { return len(s.Awaits) > 0 }

// Skipped is a step that is not one: its `when` is false.
type Skipped struct {
	Address string `json:"address"`
	Pos     Pos    `json:"pos"`           // of its when
	Why     string `json:"why,omitempty"` // its otherwise; "" without one

	Paper   string `json:"paper,omitempty"` // of a table or figure
	Caption string `json:"caption,omitempty"`
}

// Reason says why it is skipped.
func (s Skipped) Reason() string {
	return cmp.Or(s.Why, fmt.Sprintf("its when is false (%s)", s.Pos))
}

// Pipeline is a loaded pipeline.
type Pipeline struct {
	Result
	Values

	// Sources is every file that was read, pipeline files and those that file()
	// read, by name. Loading them again, with the modules' files and Found, gives the
	// same pipeline.
	Sources map[string][]byte

	// Found is what was learned of other files.
	Found language.Found

	// With are the options that the pipeline was loaded with.
	With Options

	vars   map[string]string
	opened []Module
}

// Result is what the blocks of a pipeline say.
type Result struct {
	// Steps are in the order of the sources (pipelines.hcl, then files by name), the instances of a
	// block in the order of their keys. Those of modules follow, module by module.
	Steps []Step

	// Skipped are those whose when is false, in the same order.
	Skipped []Skipped

	// Modules has the pipeline files of modules, by name.
	Modules map[string][]byte

	// Claims are what the pipeline's own claim blocks say, in the order of the sources.
	// Those of modules are checked and left out: they are about another paper.
	Claims []Claim

	// Paper is what the paper block says; empty without one.
	Paper Paper

	// Results is what the results block says; empty without one.
	Results Results

	// Environments are the environment blocks, in the order of the sources, and those of modules.
	Environments []Environment

	// Publish are the publish blocks, in the order of the sources.
	Publish []Publish

	// Limits are how many steps of a run may have a name at a time.
	Limits map[string]int

	// Checklist is what the checklist block says; empty without one.
	Checklist Checklist
}

// Values are those of a pipeline's variables.
type Values struct {
	// Vars has the value of every variable as JSON, but for the sensitive ones.
	Vars map[string]json.RawMessage

	// Local names the variables whose values came from Options.Local, sorted.
	Local []string

	// Given names the variables, but for the sensitive ones, whose values are not their
	// defaults, sorted: with these of Inputs alone, the sources give the same pipeline.
	Given []string

	// Secrets has the texts of the sensitive variables. They are for steps that
	// this process runs, and must not be kept or sent.
	Secrets map[string]string
}

// Inputs returns the variables in the form that Options.Vars takes: with it,
// another process that loads the same sources gets the same pipeline, if it is
// given the same sensitive variables, which are not among them.
func (p *Pipeline) Inputs() map[string]string { return p.vars }

// Options says with what a pipeline is loaded.
type Options struct {
	Registry *step.Registry

	// Where variables get their values, strongest first; what none of them has
	// is the variable's default.
	Vars     map[string]string // --var NAME=VALUE
	VarFiles []File            // --var-file, later ones win
	Env      []string          // REDSI_VAR_NAME=VALUE among others, as os.Environ gives them
	Local    []File            // of a LocalFile, later ones win

	language.World

	// Module returns the pipeline files that a module's source names, as a source in
	// the folder says it; nil if there are no modules.
	Module func(folder, source string) (map[string][]byte, error)

	// Environments remembers what locks of environments have.
	Environments environment.Memory

	// Lint adds warnings of what is hardly meant to those that are always there.
	Lint bool

	// Stop, if set, is asked now and then; an error ends the evaluation.
	Stop func() error
}

// Load evaluates the pipeline files among the sources: those whose names end in
// ".hcl", but for tests. The pipeline is nil if there are errors.
func Load(sources map[string][]byte, o Options) (*Pipeline, Diagnostics) {
	_, p, ds := load(begin(sources, o), sources, o, false)
	return p, ds
}

// begin is a load of which nothing has been evaluated.
func begin(sources map[string][]byte, o Options) *language.Session {
	return language.NewSession(sources, o.World, syntax.NewCollector(sources), o.Stop)
}

// load declares and evaluates a pipeline; the scope is nil if it is not known what is declared.
func load(s *language.Session, sources map[string][]byte, o Options, keepValues bool) (*Scope, *Pipeline, Diagnostics) {
	t := declare(s, sources, declareOptions{o.Registry, o.Module, o.Lint})
	if t.root.broken() {
		return nil, nil, s.Diags.Done()
	}
	for _, name := range syntax.Pipelines(sources) {
		s.Read[name] = sources[name]
	}
	r, opened := evaluate(s, t, givens{t.root, s.Diags, &o}, evaluateOptions{o.Lint, keepValues, o.Environments, o.ReadFile})
	ds := s.Diags.Done()
	if ds.HasErrors() {
		ds.Questions, ds.Lacks = opened.questions(ds), s.Lacks
		return opened, nil, ds
	}
	p := &Pipeline{Result: *r, Sources: s.Read, Found: s.Found, With: o}
	p.Values, p.vars = opened.f.variables.all()
	for id, files := range t.opened {
		p.opened = append(p.opened, Module{id[0], id[1], files})
	}
	slices.SortFunc(p.opened, func(a, b Module) int {
		return cmp.Or(strings.Compare(a.Folder, b.Folder), strings.Compare(a.Source, b.Source))
	})
	return opened, p, ds
}
