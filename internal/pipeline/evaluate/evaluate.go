// Package evaluate gives declarations their values, in the order that link has found: variables, nodes, instances, what a when
// leaves out, what awaits a step, modules within modules. The result is Steps. Begin at Evaluate, then frame.go and maker.go.
package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/link"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/step"
)

// Evaluate gives declarations their values, of which the steps follow. With errors, the result is incomplete.
func Evaluate(s *language.Session, t *declare.Tree, given Given, o Options) (*Result, *Opened) {
	r := &run{Session: s, Options: o, links: map[*declare.Module]*link.Links{}, modules: map[string][]byte{}, limits: map[string]int{}}
	f := r.frame(t.Root, "")
	f.setVariables(given)
	f.fixed()
	f.nodes()
	if !s.Diags.Failed() {
		f.links.Unused()
		f.warnPublished()
		if o.Lint {
			(&linter{f, map[string]bool{}}).lint()
		}
	}
	result := f.own
	result.Environments = nil
	f.collect(&result)
	if !s.Diags.Failed() {
		result.Claims = f.claims()
	}
	result.Modules, result.Limits = r.modules, r.limits
	return &result, &Opened{f, syntax.Dir(t.Root.Bodies[0].Name)}
}

// Step is one piece of work: a source, step, table or figure block, or an instance of one with for_each.
type Step struct {
	Address string // step.dedup.nq["url"], table.dedup_counts, module.first.step.dedup.nq["url"]
	Module  string // address of the module that it is part of; "" if none
	Block   string // the block's type: source, step, table or figure
	Kind    string
	Name    string
	Key     string // the for_each key; "" without for_each

	Task    step.Task             // completed configuration, its inputs being references
	Pos     syntax.Pos            // of the block
	AttrPos map[string]syntax.Pos // of its attributes, by name; shared by the instances of a block

	Asks
	Waiting
}

// Asks is what a step asks of the run beside its task. It is in no key.
type Asks struct {
	Queue     string          // from resources; "" leaves it to the kind
	Resources *step.Resources // what else it asks for; nil: nothing
	AtLeast   float64         // of the steps of its block, see declare.Flags; 0: it is not left out if it fails
	Fresh     time.Duration   // for how long its result counts; 0: for ever
	Temporary bool            // its keep is false: its bytes leave the store when all that read them are done
}

// Waiting is what a pending step awaits: the outputs that decide what it is or, of an address BLOCK[*], which steps there are.
// Until Options.Made has them, the step has no configuration. After are steps that come before it in any case.
type Waiting struct {
	Awaits []step.Ref
	After  []string
}

// Pending reports whether outputs that are not there yet decide what the step is.
func (s *Step) Pending() bool { return len(s.Awaits) > 0 }

func (s *Step) tree() map[string]any {
	tree, err := s.Task.Tree()
	if err != nil {
		panic(fmt.Sprintf("%s: %v", s.Address, err))
	}
	return tree
}

// Skipped is a step that is left out since its `when` is false.
type Skipped struct {
	Address string     `json:"address"`
	Pos     syntax.Pos `json:"pos"`           // of its when
	Why     string     `json:"why,omitempty"` // its otherwise; "" without one

	Paper   string `json:"paper,omitempty"` // of a table or figure
	Caption string `json:"caption,omitempty"`
}

func (s Skipped) Reason() string { return cmp.Or(s.Why, fmt.Sprintf("its when is false (%s)", s.Pos)) }

// Result is what the blocks of a pipeline say, in the order of sources (pipelines.hcl, then by name), then module by module.
type Result struct {
	Steps        []Step // the instances of a block in the order of their keys
	Skipped      []Skipped
	Modules      map[string][]byte // the pipeline files of modules, by name
	Claims       []Claim           // its own: a module's claims are checked and left out, being about another paper
	Paper        declare.Paper     // empty without a block, as Results and Checklist are
	Results      Results
	Checklist    Checklist
	Environments []Environment // its own and its modules'
	Publish      []Publish
	Limits       map[string]int // how many steps of a run may have a name at a time
}

// Values are the values of a pipeline's variables.
type Values struct {
	Vars  map[string]json.RawMessage // of every variable that is not sensitive
	Local []string                   // the variables whose values came from Options.Local, sorted

	// Given names the variables, except sensitive ones, whose values are not their defaults, sorted: the sources need them.
	Given []string

	// Secrets are the sensitive variables' texts, for steps that this process runs: they must not be kept or sent.
	Secrets map[string]string
}

// Results is what a pipeline says of others' results: where they are, and whose are believed. It is in no key.
type Results struct {
	From      []string // addresses of stores that are only read; folders as pipeline files are named
	Trust     []signature.Public
	Revoked   []signature.Public
	Untrusted string // "run", "verify" or "use": of others' results that no trusted key signed; "" if it is not said
	Shared    string // the same of results in the project's own store
}

// Checklist is what a pipeline says for conferences' checklists and no record has, with places. It is in no key.
type Checklist struct {
	Selection Said                       // how what is reported was chosen
	Search    []Bound                    // by name
	Assets    []declare.Asset            // as they stand
	Answers   map[string]map[string]Said // by list and number of the question
}

type Said struct {
	Text string
	Pos  syntax.Pos
}

// Bound is what was tried of one hyperparameter.
type Bound struct {
	Name string
	Said
}

// Publish is a publish block: files of steps that a run writes beside the pipeline. It is no step, and in no key.
type Publish struct {
	Name  string
	To    string // a folder below its source's folder, with slashes
	Files []step.Ref
	Pos   syntax.Pos
}

// Environment is an environment block: what programs are run in, as its lock has it.
type Environment struct {
	Name     string                 // environment.NAME, after the address of its module
	Text     []byte                 // of the recipe
	Recipe   artifacts.Digest       // of Text
	Packages *libraries.Environment // what it has, by the digest that is in keys
}

// Claim is a claim block, or an instance of one: a sentence of the paper, and what its tables hold if it is true.
type Claim struct {
	Name    string          // the label, with for_each and the key: NAME["KEY"]
	Config  json.RawMessage // completed, as the kind has it
	Cells   []string        // ADDRESS:CELL of all that it is about, in the order of the source
	LeftOut []Skipped       // tables and figures that it is about; with any, its Config has no expect, and it no Cells
	Pos     syntax.Pos
	AttrPos map[string]syntax.Pos // of its attributes and expect blocks; see Step
}

func (c Claim) Text() string {
	var config struct{ Text string }
	if err := json.Unmarshal(c.Config, &config); err != nil {
		panic(fmt.Sprintf("claim %q: %v", c.Name, err)) // the evaluation wrote it
	}
	return config.Text
}

// Items are the addresses of the tables and figures that the claim is about, each once.
func (c Claim) Items() []string {
	items := lists.Unique(lists.Map(c.Cells, func(cell string) string { item, _, _ := address.Cell(cell); return item }))
	return append(items, lists.Map(c.LeftOut, func(s Skipped) string { return s.Address })...)
}

// SourceOf is the path that a source block's task names, and whether .gitignore files count there; not ok: another task.
func SourceOf(t step.Task, pos syntax.Pos) (path string, ignore, ok bool) {
	var c struct {
		Path   string `json:"path"`
		Ignore bool   `json:"ignore"`
	}
	if t.Kind != declare.SourceKind || json.Unmarshal(t.Config, &c) != nil || c.Path == "" {
		return "", false, false
	}
	if path = filepath.FromSlash(c.Path); !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(filepath.FromSlash(pos.File)), path)
	}
	return path, c.Ignore, true
}
