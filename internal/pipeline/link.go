package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// links is what the declarations of a module refer to. Edges and read have what they say of a node
// by its index.
type links struct {
	m     *declare.Module
	diags *syntax.Collector
	edges [][]edge
	order []*declare.Node         // each after what it refers to
	read  []bool                  // something refers to the node
	bad   map[hcl.Expression]bool // refers to what does not exist; reported
	used  map[string]bool         // names of variables that something refers to
}

// edge is a reference from one node to another.
type edge struct {
	to   *declare.Node
	rng  hcl.Range
	bare bool // it takes an output of a step that may be skipped, not within try()
}

// link finds what every variable, block and local value refers to. References to what is not
// declared are reported, and their expressions marked bad.
func link(m *declare.Module, d *syntax.Collector) *links {
	l := &links{m: m, diags: d, edges: make([][]edge, len(m.ByName)), read: make([]bool, len(m.ByName)), bad: map[hcl.Expression]bool{}, used: map[string]bool{}}
	for _, name := range syntax.Keys(m.Variables) {
		for _, c := range m.Variables[name].Checks {
			if !l.onlyVariables(c.Condition) || !l.onlyVariables(c.Message) {
				l.bad[c.Condition] = true
			}
		}
	}
	for _, t := range declare.Types {
		if b := m.Once[t.Name]; t.Once() && b != nil && !m.Ignores(&t) {
			l.refersWithin(b, b.Body, t.Refers)
		}
	}
	for _, n := range m.Nodes {
		l.linkNode(n)
	}
	for _, n := range m.Nodes {
		for _, e := range l.edges[n.Index] {
			l.read[e.to.Index] = true
		}
	}
	l.inOrder()
	return l
}

func (l *links) linkNode(n *declare.Node) {
	if forEach := n.ForEach(); forEach != nil {
		l.link(n, forEach, false)
	}
	switch {
	case n.Expr != nil:
		l.link(n, n.Expr, false)
	case n.Form != nil:
		for _, a := range syntax.Attributes(n.Form.Body) {
			l.link(n, a.Expr, false)
		}
	case n.Call != nil:
		for _, a := range n.Call.Arguments {
			l.link(n, a.Expr, n.Call.ForEach != nil)
		}
	default:
		l.linkBody(n, n.Block.Body)
	}
}

func (l *links) linkBody(n *declare.Node, body *hclsyntax.Body) {
	for _, a := range syntax.Attributes(body) {
		if a.Expr != n.Block.ForEach && a.Name != declare.AllowEmptyAttr {
			l.link(n, a.Expr, n.Block.ForEach != nil)
		}
	}
	for _, inner := range body.Blocks {
		l.linkBody(n, inner.Body)
	}
}

func (l *links) link(n *declare.Node, e hclsyntax.Expression, each bool) {
	if !l.check(e, each) {
		return
	}
	for _, tr := range e.Variables() {
		for _, to := range l.targets(tr) {
			l.edges[n.Index] = append(l.edges[n.Index], edge{to, tr.SourceRange(), to.Block != nil && to.Block.When != nil && takesOutput(tr) && !withinTry(e, tr)})
		}
	}
}

// takesOutput reports whether a reference to a block goes on into it.
func takesOutput(tr hcl.Traversal) bool { return len(tr) > declare.Depth(tr.RootName()) }

// withinTry reports whether a reference of an expression is an argument of try or can.
func withinTry(e hclsyntax.Expression, tr hcl.Traversal) (within bool) {
	at := tr.SourceRange()
	hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && (call.Name == "try" || call.Name == "can") {
			rng := call.Range()
			within = within || rng.Start.Byte <= at.Start.Byte && at.End.Byte <= rng.End.Byte
		}
		return nil
	})
	return within
}

// refersWithin reports what else expressions of a block refer to.
func (l *links) refersWithin(b *hclsyntax.Block, body *hclsyntax.Body, root string) {
	detail := fmt.Sprintf("A value of the %s block cannot refer to other values.", b.Type)
	if root == "var" {
		detail = fmt.Sprintf("A %s block can refer to variables only.", b.Type)
	}
	for _, a := range syntax.Attributes(body) {
		if !syntax.RefersOnly(l.diags, a.Expr, root, "Not a constant", detail) || !l.check(a.Expr, false) {
			l.bad[a.Expr] = true
		}
	}
	for _, inner := range body.Blocks {
		l.refersWithin(b, inner.Body, root)
	}
}

func (l *links) onlyVariables(e hclsyntax.Expression) bool {
	ok := syntax.RefersOnly(l.diags, e, "var", "Not known yet", "A validation can refer to variables only.")
	return l.check(e, false) && ok
}

// of is what an expression refers to that is no part of the module, but by roots that it is given. What
// leads nowhere is reported.
func (l *links) of(e hclsyntax.Expression, d *syntax.Collector, given func(root string) bool) (edges []edge) {
	here := *l
	here.diags = d
	for _, tr := range e.Variables() {
		if given(tr.RootName()) {
			continue
		}
		if summary, detail := here.dangling(tr, false); summary != "" {
			d.Error(tr.SourceRange(), summary, detail)
			continue
		}
		for _, to := range here.targets(tr) {
			edges = append(edges, edge{to: to, rng: tr.SourceRange()})
		}
	}
	return edges
}

// check reports references in an expression that lead nowhere.
func (l *links) check(e hclsyntax.Expression, each bool) bool {
	ok := true
	for _, tr := range e.Variables() {
		if summary, detail := l.dangling(tr, each); summary != "" {
			l.diags.Error(tr.SourceRange(), summary, detail)
			ok = false
		}
	}
	if !ok {
		l.bad[e] = true
	}
	return ok
}

// unused reports variables and local values that nothing refers to.
func (l *links) unused() {
	for name, v := range l.m.Variables {
		if !l.used[name] {
			l.diags.Warn(v.Range, "Unused variable", fmt.Sprintf("Nothing refers to var.%s.", name))
		}
	}
	for _, name := range l.declared("local.") {
		if n := l.m.ByName[name]; !l.read[n.Index] {
			l.diags.Warn(n.Range, "Unused local value", fmt.Sprintf("Nothing refers to %s.", name))
		}
	}
}
