package evaluate

import (
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/link"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/step"
)

// frame is the evaluation of a pipeline, or of one instance of a module within it.
type frame struct {
	*run
	decl      *declare.Module
	links     *link.Links
	sight     language.Scope // what its expressions see in any case
	address   string         // of the module; "" of the pipeline itself
	variables map[string]*setting
	states    []state // of nodes, by their index
	modules   []*frame
	typos     schema.Typos // in its body and its values
	own       Result

	inherited *language.Awaited          // by the arguments of the module that this is
	cellNames map[string]map[string]bool // of tables and figures that claims name, by address
}

type state struct {
	value     cty.Value         // what references to it give; DynamicVal where that failed
	awaits    *language.Awaited // the outputs that decide the value; nil: none does
	undecided bool              // of a block: some step's when is undecided
	read      bool              // something refers to it, or its value is kept
	cells     cty.Value         // of a table or figure, what claims see; see cellsOf
	steps     []Step
	skipped   []Skipped
}

func (f *frame) of(n *declare.Node) *state { return &f.states[n.Index] }

func (f *frame) qualified(name string) string {
	return address.Address{Modules: f.address, Name: name}.String()
}

// sees is what expressions see in ctx, of an instance or, with nil, of none in particular.
func (f *frame) sees(ctx *hcl.EvalContext, inst *instance) language.Scope {
	sc := f.sight
	sc.Context = ctx
	if inst != nil {
		sc.Instance = &inst.Instance
	}
	return sc
}

func (f *frame) reader(b *hclsyntax.Block, inst *instance) *schema.Reader {
	return f.readerBy(b, declare.FormOf(b), declare.OwnerOf(b), inst)
}

// readerBy is reader for a given specification and a given name of the block in sentences.
func (f *frame) readerBy(b *hclsyntax.Block, spec *step.Spec, owner string, inst *instance) *schema.Reader {
	return &schema.Reader{Scope: f.sees(inst.ctx, inst), Block: b, Spec: spec, Owner: owner, Address: inst.address, Typos: f.typos}
}

// place gives an instance of a block its address and what its expressions can see.
func (f *frame) place(inst *instance, n *declare.Node, ctx *hcl.EvalContext) {
	inst.address, inst.ctx = f.qualified(n.Name), ctx
	if inst.Keyed {
		inst.address += address.Key(inst.Key)
		inst.ctx = ctx.NewChild()
		each := map[string]cty.Value{"key": cty.StringVal(inst.Key), "value": inst.value}
		if inst.value.Type() == language.ArtifactType {
			each["file"] = inst.value
		}
		inst.ctx.Variables = map[string]cty.Value{"each": cty.ObjectVal(each)}
	}
}

type Options struct {
	Lint         bool
	KeepValues   bool // of all blocks, whether something refers to them or not
	Environments environment.Memory
	ReadFile     func(name string) ([]byte, error) // for Lint; nil if there are no files
}

type run struct {
	*language.Session
	Options
	links   map[*declare.Module]*link.Links
	modules map[string][]byte // the pipeline files of modules that have an instance
	limits  map[string]int    // of the pipeline and its modules, by their names in a plan

	steps, instances int   // of steps; of modules
	config           int64 // bytes of all configurations
}

type setting struct {
	*declare.Variable
	value cty.Value // DynamicVal until it is set, and where that failed
	local bool      // its value is of Options.Local
	given bool      // somebody has set it
}

type maker struct {
	f   *frame
	n   *declare.Node
	st  *state
	own *language.Awaited // by what the block refers to and its for_each
}

type stepReader struct {
	*schema.Reader
	f    *frame
	b    *declare.Block
	inst *instance
}

// collect adds the steps, skipped steps and environments of the frame in source order, and of its modules after them.
func (f *frame) collect(r *Result) {
	for _, n := range f.decl.Nodes {
		if n.Call != nil || n.Block != nil && n.Block.Type != "claim" {
			r.Steps = append(r.Steps, f.of(n).steps...)
			r.Skipped = append(r.Skipped, f.of(n).skipped...)
		}
	}
	r.Environments = append(r.Environments, f.own.Environments...)
	for _, m := range f.modules {
		m.collect(r)
	}
}

func (f *frame) nodes() {
	for _, n := range f.links.Order {
		f.node(n)
	}
}

// node gives a node its value and a block its steps. What the node refers to has been evaluated.
func (f *frame) node(n *declare.Node) {
	edges, st := f.links.Edges[n.Index], f.of(n)
	own := f.inherits(n, edges)
	defer f.Await(own)()
	ctx := f.scope(n, edges)
	switch {
	case n.Call != nil:
		st.value = f.module(n, ctx)
	case n.Form != nil && n.Form.Type == "environment":
		f.environment(n, ctx)
		return
	case n.Form != nil && n.Form.Type == "publish":
		f.publishes(n, ctx)
		return
	case n.Form != nil:
		panic(fmt.Sprintf("evaluate: no case reads a %s block", n.Form.Type))
	case n.Block == nil:
		st.value = f.sees(ctx, nil).Value(n.Expr)
	default:
		(&maker{f, n, st, own}).block(ctx)
		return
	}
	switch {
	case own.Any() && !st.value.IsWhollyKnown():
		st.awaits = own
	case own.Made:
		st.awaits = &language.Awaited{Made: true}
	}
}

// inherits is what the value of a node awaits because what it refers to awaits it.
func (f *frame) inherits(n *declare.Node, edges []link.Edge) *language.Awaited {
	own := language.Awaiting(f.inherited)
	for _, e := range edges {
		to := f.of(e.To)
		own.Add(to.awaits)
		if e.To.Block != nil && e.Bare && to.undecided && (n.Block == nil || n.Block.When == nil) {
			f.Diags.Error(e.Range, "Step that may be skipped", fmt.Sprintf("Whether %s runs is decided by its when, after a step has run. What reads its output takes it by try(%s.…, …), which passes over a step that was skipped, or has a when itself.", e.To.Name, e.To.Name))
		}
	}
	return own
}

// frame begins an evaluation of a module. The first evaluation links the module.
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
	f.variables = make(map[string]*setting, len(m.Variables))
	for name, v := range m.Variables {
		f.variables[name] = &setting{Variable: v, value: cty.DynamicVal}
	}
	return f
}

// scope is what a node's expressions can see: only what they refer to, so that a scope costs no more than its node.
func (f *frame) scope(n *declare.Node, edges []link.Edge) *hcl.EvalContext {
	values, kinds := map[string]map[string]cty.Value{}, map[string]map[string]cty.Value{}
	for _, root := range declare.Roots {
		if root != "var" && root != "each" {
			values[root] = map[string]cty.Value{}
		}
	}
	for _, e := range edges {
		root, name, _ := strings.Cut(e.To.Name, ".")
		switch {
		case root == "claim": // nothing names one
		case root == "step":
			kind, name, _ := strings.Cut(name, ".")
			if kinds[kind] == nil {
				kinds[kind] = map[string]cty.Value{}
			}
			kinds[kind][name] = f.of(e.To).value
		case e.To.Block != nil && n.Block != nil && n.Block.Type == "claim":
			values[root][name] = f.cellsOf(e.To)
		default:
			values[root][name] = f.of(e.To).value
		}
	}
	for kind, steps := range kinds {
		values["step"][kind] = cty.ObjectVal(steps)
	}
	ctx := f.context(n.Dir)
	for root, of := range values {
		ctx.Variables[root] = cty.ObjectVal(of)
	}
	return ctx
}

// context is what expressions of a file that refer only to variables are evaluated in.
func (f *frame) context(dir string) *hcl.EvalContext {
	vars := make(map[string]cty.Value, len(f.variables))
	for name, v := range f.variables {
		vars[name] = v.value
	}
	return &hcl.EvalContext{Functions: f.Functions(dir, f.decl.AnySensitive), Variables: map[string]cty.Value{"var": cty.ObjectVal(vars)}}
}
