package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// links is what the declarations of a module refer to. Edges and read have what they say of a node
// by its index.
type links struct {
	m     *module
	diags *syntax.Collector
	edges [][]edge
	order []*node                 // each after what it refers to
	read  []bool                  // something refers to the node
	bad   map[hcl.Expression]bool // refers to what does not exist; reported
	used  map[string]bool         // names of variables that something refers to
}

// edge is a reference from one node to another.
type edge struct {
	to   *node
	rng  hcl.Range
	bare bool // it takes an output of a step that may be skipped, not within try()
}

// link finds what every variable, block and local value refers to. References to what is not
// declared are reported, and their expressions marked bad.
func link(m *module, d *syntax.Collector) *links {
	l := &links{m: m, diags: d, edges: make([][]edge, len(m.byName)), read: make([]bool, len(m.byName)), bad: map[hcl.Expression]bool{}, used: map[string]bool{}}
	for _, name := range syntax.Keys(m.variables) {
		for _, c := range m.variables[name].checks {
			if !l.onlyVariables(c.condition) || !l.onlyVariables(c.message) {
				l.bad[c.condition] = true
			}
		}
	}
	for _, t := range Types {
		if b := m.singles[t.Name]; t.Once() && b != nil && !m.ignores(&t) {
			l.refersWithin(b, b.Body, t.Refers)
		}
	}
	for _, n := range m.nodes {
		l.linkNode(n)
	}
	for _, n := range m.nodes {
		for _, e := range l.edges[n.index] {
			l.read[e.to.index] = true
		}
	}
	l.inOrder()
	return l
}

func (l *links) linkNode(n *node) {
	if forEach := n.forEach(); forEach != nil {
		l.link(n, forEach, false)
	}
	switch {
	case n.expr != nil:
		l.link(n, n.expr, false)
	case n.form != nil:
		for _, a := range syntax.Attributes(n.form.Body) {
			l.link(n, a.Expr, false)
		}
	case n.module != nil:
		for _, a := range n.module.arguments {
			l.link(n, a.Expr, n.module.forEach != nil)
		}
	default:
		l.linkBody(n, n.block.Body)
	}
}

func (l *links) linkBody(n *node, body *hclsyntax.Body) {
	for _, a := range syntax.Attributes(body) {
		if a.Expr != n.block.forEach && a.Name != allowEmptyAttr {
			l.link(n, a.Expr, n.block.forEach != nil)
		}
	}
	for _, inner := range body.Blocks {
		l.linkBody(n, inner.Body)
	}
}

func (l *links) link(n *node, e hclsyntax.Expression, each bool) {
	if !l.check(e, each) {
		return
	}
	for _, tr := range e.Variables() {
		for _, to := range l.targets(tr) {
			l.edges[n.index] = append(l.edges[n.index], edge{to, tr.SourceRange(), to.block != nil && to.block.when != nil && takesOutput(tr) && !withinTry(e, tr)})
		}
	}
}

// takesOutput reports whether a reference to a block goes on into it.
func takesOutput(tr hcl.Traversal) bool { return len(tr) > Depth(tr.RootName()) }

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
	for name, v := range l.m.variables {
		if !l.used[name] {
			l.diags.Warn(v.rng, "Unused variable", fmt.Sprintf("Nothing refers to var.%s.", name))
		}
	}
	for _, name := range l.declared("local.") {
		if n := l.m.byName[name]; !l.read[n.index] {
			l.diags.Warn(n.rng, "Unused local value", fmt.Sprintf("Nothing refers to %s.", name))
		}
	}
}
