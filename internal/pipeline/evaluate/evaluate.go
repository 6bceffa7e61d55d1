package evaluate

import (
	"fmt"
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/link"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Evaluate gives what is declared its values and makes the steps. Where something is wrong, the result
// is incomplete.
func Evaluate(s *language.Session, t *declare.Tree, given Given, o Options) (*Result, *Opened) {
	r := &run{Session: s, Options: o, links: map[*declare.Module]*link.Links{}, modules: map[string][]byte{}, limits: map[string]int{}}
	f := r.frame(t.Root, "")
	f.variables.set(&givens{t.Root, s.Diags, given})
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

// Options say how a pipeline is evaluated.
type Options struct {
	Lint         bool
	KeepValues   bool // of all blocks, whether something refers to them or not
	Environments environment.Memory
	ReadFile     func(name string) ([]byte, error) // for Lint; nil if there are no files
}

// run is one evaluation of a pipeline with its modules.
type run struct {
	*language.Session
	Options
	links   map[*declare.Module]*link.Links
	modules map[string][]byte // the pipeline files of modules that have an instance
	limits  map[string]int    // of the pipeline and its modules, by their names in a plan

	steps, instances int   // of steps; of modules
	config           int64 // bytes of all configurations
}

const maxSteps = 200_000 // of a pipeline

// countSteps refuses a block with which a pipeline has more steps than it may.
func (r *run) countSteps(b *declare.Block, n int) bool {
	rng := syntax.Header(b.Block)
	if b.ForEach != nil {
		rng = b.ForEach.Range()
	}
	switch r.steps += n; {
	case n > maxInstances:
		r.Diags.Error(rng, "Too many steps", fmt.Sprintf("This for_each has %d keys; at most %d are allowed. Let one step do the work of several.", n, maxInstances))
	case r.steps > maxSteps && r.steps-n <= maxSteps:
		r.Diags.Error(rng, "Too many steps", fmt.Sprintf("With this block the pipeline has more than %d steps. Let one step do the work of several.", maxSteps))
	}
	return n <= maxInstances && r.steps <= maxSteps
}

// frame begins an evaluation of a module. The first one links it.
func (r *run) frame(m *declare.Module, address string) *frame {
	links := r.links[m]
	if links == nil {
		links = link.Link(m, r.Diags)
		r.links[m] = links
	}
	f := &frame{run: r, decl: m, links: links, address: address, states: make([]state, len(m.ByName)), typos: maps.Clone(m.Typos), cellNames: map[string]map[string]bool{}}
	for i := range f.states {
		f.states[i] = state{value: cty.DynamicVal, read: links.Read[i]}
	}
	f.sight = language.Scope{Session: r.Session, Bad: links.Bad, Why: f.why}
	f.variables = newVariables(f)
	return f
}
