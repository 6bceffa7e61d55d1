package evaluate

import (
	"fmt"
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/link"
)

// nodes evaluates what is declared, in the order of references.
func (f *frame) nodes() {
	for _, n := range f.links.Order {
		f.node(n)
	}
}

// node gives a node its value and makes a block's steps. What the node refers to has been evaluated.
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
		panic(unread(n.Form.Type))
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

// unread is the mistake that the table of types has one that is read nowhere.
func unread(typ string) string { return fmt.Sprintf("evaluate: no case reads a %s block", typ) }

// inherits is what the value of a node waits for because what it refers to does.
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
	f.variables = &variables{f, make(map[string]*setting, len(m.Variables))}
	for name, v := range m.Variables {
		f.variables.of[name] = &setting{Variable: v, value: cty.DynamicVal}
	}
	return f
}
