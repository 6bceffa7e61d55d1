package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
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
	return newLoader(sources, o).load()
}

func (l *loader) load() (*Pipeline, Diagnostics) {
	if l.parse(); l.Diags.Failed() {
		return nil, l.Diags.Done() // what a broken file declares is not known
	}
	l.declare()
	l.setVariables()
	if b := l.singles["paper"]; b != nil {
		l.paper, _ = schema.Read[Paper](l.fixedReader(b, "var"))
	}
	l.setResults()
	l.setLimits()
	l.evaluateAll()
	if !l.Diags.Failed() {
		l.warnUnused()
		if l.Lint {
			l.lint()
		}
	}
	ds := l.Diags.Done()
	if ds.HasErrors() {
		ds.Questions, ds.Lacks = l.questions(ds), l.Lacks
		return nil, ds
	}
	return l.pipeline(), ds
}

// loader is the state of one Load, or of one module within it, which shares what
// is in session.
type loader struct {
	*session
	files  map[string][]byte // its pipeline files
	bodies []*syntax.Body

	address string    // of the module; "" of the pipeline itself
	parent  *loader   // nil of the pipeline itself
	modules []*loader // that were loaded, in order

	variables map[string]*variable
	singles   map[string]*hclsyntax.Block // by the type of which there is one
	paper     Paper
	checklist Checklist
	results   Results
	blocks    []*node
	byName    map[string]*node // step.train.dsi, module.first, local.sizes
	nodes     []*node          // locals, outputs, modules and blocks in source order

	publish      []Publish
	environments []Environment

	keepValues bool // of all blocks, whether something refers to them or not

	inherited *language.Awaited // by the arguments of the module that this is
	skipped   map[*node][]Skipped
	explains  func(of string, v cty.Value, name string) (summary, detail string) // why, once
	bad       map[hcl.Expression]bool                                            // refers to what does not exist; reported
	steps     map[*node][]Step
	cellNames map[string]map[string]bool // of tables and figures that claims name, by address
	typos     schema.Typos
}

// session is what the modules of a pipeline share with it.
type session struct {
	Options
	*language.Session
	modRead map[string][]byte               // what the pipeline will carry as Modules
	opened  map[[2]string]map[string][]byte // files of modules by the folder and source that name them
	parsed  map[string]*syntax.Body         // by name; nil of a file that is not HCL

	allLimits map[string]int // of the pipeline and its modules, by their names in a plan

	beside map[string]bool // whether files that programs are given as arguments exist

	made struct { // so far
		config         int64 // bytes of all configurations
		steps, modules int
	}
}

func newLoader(sources map[string][]byte, o Options) *loader {
	if o.Registry == nil {
		o.Registry = step.NewRegistry()
	}
	return (&session{
		Options: o, Session: language.NewSession(sources, o.World, syntax.NewCollector(sources), o.Stop), modRead: map[string][]byte{},
		opened: map[[2]string]map[string][]byte{}, parsed: map[string]*syntax.Body{}, beside: map[string]bool{}, allLimits: map[string]int{},
	}).loader(sources)
}

func (s *session) loader(files map[string][]byte) *loader {
	l := &loader{
		session: s, files: files,
		variables: map[string]*variable{}, singles: map[string]*hclsyntax.Block{}, byName: map[string]*node{},
		bad: map[hcl.Expression]bool{}, steps: map[*node][]Step{}, skipped: map[*node][]Skipped{}, typos: schema.Typos{}, cellNames: map[string]map[string]bool{},
	}
	l.explains = l.why
	return l
}

// evaluateAll evaluates what was declared, with the values that variables have.
func (l *loader) evaluateAll() {
	l.resolve()
	for _, n := range l.order() {
		l.evaluate(n)
	}
}

func (l *loader) pipeline() *Pipeline {
	steps, skipped := l.allSteps()
	p := &Pipeline{
		Result: Result{Steps: steps, Skipped: skipped, Modules: l.modRead, Claims: l.claims(), Paper: l.paper, Results: l.results,
			Environments: l.allEnvironments(), Publish: l.publish, Limits: l.allLimits, Checklist: l.checklist},
		Values:  Values{Vars: map[string]json.RawMessage{}, Secrets: map[string]string{}},
		Sources: l.Read, Found: l.Files.Found, With: l.Options, vars: map[string]string{},
	}
	for id, files := range l.opened {
		p.opened = append(p.opened, Module{id[0], id[1], files})
	}
	slices.SortFunc(p.opened, func(a, b Module) int {
		return cmp.Or(strings.Compare(a.Folder, b.Folder), strings.Compare(a.Source, b.Source))
	})
	for _, name := range syntax.Keys(l.variables) {
		v := l.variables[name]
		if v.local {
			p.Local = append(p.Local, name)
		}
		if v.sensitive {
			open := *v
			if open.value, _ = v.value.Unmark(); !open.value.IsNull() {
				p.Secrets[name] = open.argument()
			}
			continue
		}
		p.Vars[name] = v.json()
		if !v.value.IsNull() {
			p.vars[name] = v.argument()
		}
		if !v.optional || !v.value.RawEquals(v.fallback) {
			p.Given = append(p.Given, name)
		}
	}
	return p
}

// allSteps are the loader's own and those of its modules.
func (l *loader) allSteps() (steps []Step, skipped []Skipped) {
	for _, n := range l.blocks {
		if n.block.typ != "claim" {
			steps = append(steps, l.steps[n]...)
			skipped = append(skipped, l.skipped[n]...)
		}
	}
	for _, m := range l.modules {
		more, left := m.allSteps()
		steps, skipped = append(steps, more...), append(skipped, left...)
	}
	return steps, skipped
}
