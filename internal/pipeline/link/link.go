// Package link finds what each declaration refers to: edges, an order in which each follows what it refers to, circles, names
// that lead nowhere, what nothing refers to. It evaluates nothing, and imports syntax, language and declare. Begin at Link.
package link

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

// Link finds what every variable, block and local value refers to. It reports references to nothing, and marks them bad.
func Link(m *declare.Module, d *syntax.Collector) *Links {
	l := &Links{m: m, diags: d, Edges: make([][]Edge, len(m.ByName)), Read: make([]bool, len(m.ByName)), Bad: map[hcl.Expression]bool{}, used: map[string]bool{}}
	for _, name := range syntax.Keys(m.Variables) {
		for _, c := range m.Variables[name].Checks {
			if !l.onlyVariables(c.Condition) || !l.onlyVariables(c.Message) {
				l.Bad[c.Condition] = true
			}
		}
	}
	for _, t := range declare.Types {
		b := m.Once[t.Name]
		if b == nil || m.Ignores(&t) {
			continue
		}
		detail := fmt.Sprintf("A value of the %s block cannot refer to other values.", b.Type)
		if t.Refers == "var" {
			detail = fmt.Sprintf("A %s block can refer to variables only.", b.Type)
		}
		for _, a := range syntax.Within(b.Body) {
			if !syntax.RefersOnly(d, a.Expr, t.Refers, "Not a constant", detail) || !l.check(a.Expr, false) {
				l.Bad[a.Expr] = true
			}
		}
	}
	for _, n := range m.Nodes {
		l.linkNode(n)
	}
	for _, n := range m.Nodes {
		for _, e := range l.Edges[n.Index] {
			l.Read[e.To.Index] = true
		}
	}
	l.inOrder()
	return l
}

func (l *Links) linkNode(n *declare.Node) {
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
		given := lists.Map(n.Call.Arguments, func(a *hclsyntax.Attribute) hclsyntax.Expression { return a.Expr })
		for _, e := range append(given, n.Call.When, n.Call.Otherwise) {
			if e != nil {
				l.link(n, e, n.Call.ForEach != nil)
			}
		}
	default:
		for _, a := range syntax.Within(n.Block.Body) {
			if a.Expr != n.Block.ForEach && a.Name != declare.AllowEmptyAttr {
				l.link(n, a.Expr, n.Block.ForEach != nil)
			}
		}
	}
}

func (l *Links) link(n *declare.Node, e hclsyntax.Expression, each bool) {
	if !l.check(e, each) {
		return
	}
	for _, tr := range e.Variables() {
		output := len(tr) > declare.Depth(tr.RootName()) // it goes on into a block
		for _, to := range l.targets(tr) {
			l.Edges[n.Index] = append(l.Edges[n.Index], Edge{to, tr.SourceRange(), output && to.Block != nil && to.Block.When != nil && !withinTry(e, tr)})
		}
	}
}

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

func (l *Links) onlyVariables(e hclsyntax.Expression) bool {
	ok := syntax.RefersOnly(l.diags, e, "var", "Not known yet", "A validation can refer to variables only.")
	return l.check(e, false) && ok
}

// Of is what an expression outside the module refers to, except by given roots. It reports references that lead nowhere.
func (l *Links) Of(e hclsyntax.Expression, d *syntax.Collector, given func(root string) bool) (edges []Edge) {
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
			edges = append(edges, Edge{To: to, Range: tr.SourceRange()})
		}
	}
	return edges
}

// check reports references in an expression that lead nowhere.
func (l *Links) check(e hclsyntax.Expression, each bool) bool {
	for _, tr := range e.Variables() {
		if summary, detail := l.dangling(tr, each); summary != "" {
			l.diags.Error(tr.SourceRange(), summary, detail)
			l.Bad[e] = true
		}
	}
	return !l.Bad[e]
}

// Unused reports variables and local values that nothing refers to.
func (l *Links) Unused() {
	for name, v := range l.m.Variables {
		if !l.used[name] {
			l.diags.Warn(v.Range, "Unused variable", fmt.Sprintf("Nothing refers to var.%s.", name))
		}
	}
	for _, name := range l.declared("local.") {
		if n := l.m.ByName[name]; !l.Read[n.Index] {
			l.diags.Warn(n.Range, "Unused local value", fmt.Sprintf("Nothing refers to %s.", name))
		}
	}
}

// Links is what a module's declarations refer to. Edges and Read go by a node's index.
type Links struct {
	m     *declare.Module
	diags *syntax.Collector
	Edges [][]Edge
	Order []*declare.Node         // each after what it refers to
	Read  []bool                  // something refers to the node
	Bad   map[hcl.Expression]bool // refers to what does not exist; reported
	used  map[string]bool         // names of variables that something refers to
}

type Edge struct {
	To    *declare.Node
	Range hcl.Range
	Bare  bool // it takes an output of a step that may be skipped, not within try()
}

// targets are the nodes that a reference reads: one, or all that a shorter one such as step.train covers.
func (l *Links) targets(tr hcl.Traversal) []*declare.Node {
	p := language.Names(tr)
	if depth := declare.Depth(p[0]); len(p) >= depth {
		if n := l.m.ByName[strings.Join(p[:depth], ".")]; n != nil {
			return []*declare.Node{n}
		}
		return nil
	}
	return lists.Map(l.declared(strings.Join(p, ".")+"."), func(name string) *declare.Node { return l.m.ByName[name] })
}

// declared are the names of nodes that begin so, sorted.
func (l *Links) declared(prefix string) []string {
	return slices.DeleteFunc(syntax.Keys(l.m.ByName), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// RefersTo reports whether a refers to b directly.
func (l *Links) RefersTo(a, b *declare.Node) bool {
	return slices.ContainsFunc(l.Edges[a.Index], func(e Edge) bool { return e.To == b })
}

// inOrder sets Order: each node follows what it refers to. Nodes in a circle are reported and left out.
func (l *Links) inOrder() {
	for _, group := range Groups(l.m.Nodes, func(n *declare.Node) []*declare.Node {
		return lists.Map(l.Edges[n.Index], func(e Edge) *declare.Node { return e.To })
	}) {
		if len(group) == 1 && (!l.RefersTo(group[0], group[0]) || l.mayChain(group[0])) {
			l.Order = append(l.Order, group[0])
			continue
		}
		l.cycle(group)
	}
}

// mayChain reports whether a block refers to itself only in its instances, as each of a chain does to the instance before it.
func (l *Links) mayChain(n *declare.Node) bool {
	if n.Block == nil || n.Block.ForEach == nil || n.Block.Type != "step" {
		return false
	}
	each := n.Block.ForEach.Range()
	return !slices.ContainsFunc(l.Edges[n.Index], func(e Edge) bool {
		return e.To == n && e.Range.Start.Byte >= each.Start.Byte && e.Range.End.Byte <= each.End.Byte && e.Range.Filename == each.Filename
	})
}

// Groups finds the strongly connected groups of nodes (Tarjan 1972), each after the groups that it refers to.
func Groups[N comparable](nodes []N, refs func(N) []N) (groups [][]N) {
	index, low, on := map[N]int{}, map[N]int{}, map[N]bool{}
	var stack []N
	var visit func(n N)
	visit = func(n N) {
		index[n] = len(index)
		low[n] = index[n]
		first := len(stack)
		stack, on[n] = append(stack, n), true
		for _, to := range refs(n) {
			if _, seen := index[to]; !seen {
				visit(to)
				low[n] = min(low[n], low[to])
			} else if on[to] {
				low[n] = min(low[n], index[to])
			}
		}
		if low[n] != index[n] {
			return
		}
		group := slices.Clone(stack[first:])
		groups, stack = append(groups, group), stack[:first]
		for _, m := range group {
			on[m] = false
		}
	}
	for _, n := range nodes {
		if _, seen := index[n]; !seen {
			visit(n)
		}
	}
	return groups
}

// cycle reports a shortest cycle through the first node of a group, with the place of each reference.
func (l *Links) cycle(group []*declare.Node) {
	first := slices.MinFunc(group, func(a, b *declare.Node) int { return syntax.BySource(a.Range, b.Range) })
	type hop struct {
		from *declare.Node
		e    Edge
	}
	came := map[*declare.Node]hop{}
	var last hop
search:
	for queue := []*declare.Node{first}; ; queue = queue[1:] {
		for _, e := range l.Edges[queue[0].Index] {
			if e.To == first {
				last = hop{queue[0], e}
				break search
			}
			if _, seen := came[e.To]; !seen && slices.Contains(group, e.To) {
				came[e.To] = hop{queue[0], e}
				queue = append(queue, e.To)
			}
		}
	}
	hops := []hop{last}
	for n := last.from; n != first; n = came[n].from {
		hops = append([]hop{came[n]}, hops...)
	}
	walk := []string{first.Name}
	var also []syntax.Place
	for i, h := range hops {
		walk = append(walk, h.e.To.Name)
		if i > 0 {
			also = append(also, syntax.Place{Range: h.e.Range, Text: fmt.Sprintf("%s refers to %s", h.from.Name, h.e.To.Name)})
		}
	}
	l.diags.Error(hops[0].e.Range, "References in a circle",
		fmt.Sprintf("%s: each refers to the next, so none of these can come first. Take one of the marked references out, or name in locals what both sides need.", strings.Join(walk, " -> ")), also...)
}

// dangling says why a reference leads nowhere; "": it leads somewhere.
func (l *Links) dangling(tr hcl.Traversal, each bool) (summary, detail string) {
	p := language.Names(tr)
	switch p[0] {
	case "var":
		for name := range l.m.Variables {
			l.used[name] = l.used[name] || len(p) == 1 || p[1] == name
		}
		if len(p) > 1 && l.m.Variables[p[1]] == nil {
			return "Undeclared variable", fmt.Sprintf("There is no variable %q. %s", p[1], orDeclare(p[1], syntax.Keys(l.m.Variables), "variable", fmt.Sprintf("variable %q {}", p[1])))
		}
	case "local":
		if len(p) > 1 && len(l.targets(tr)) == 0 {
			names := lists.Map(l.declared("local."), func(name string) string { return strings.TrimPrefix(name, "local.") })
			return "Undeclared local value", fmt.Sprintf("There is no local value %q. %s", p[1], orDeclare(p[1], names, "local value", fmt.Sprintf("locals { %s = VALUE }", p[1])))
		}
	case "each":
		switch {
		case !each:
			return "each without for_each", "each.key and each.value stand for an instance of a block that has for_each."
		case len(p) > 1 && p[1] != "key" && p[1] != "value" && p[1] != "file":
			return "Unknown name", "each has each.key and each.value, and of files() each.file."
		}
	default:
		switch {
		case declare.Depth(p[0]) == 0:
			return l.unknownRoot(p[0], tr)
		case len(l.targets(tr)) == 0:
			return l.noBlock(p)
		}
	}
	return "", ""
}

func (l *Links) unknownRoot(name string, tr hcl.Traversal) (string, string) {
	for _, n := range l.m.Nodes {
		if strings.HasSuffix(n.Name, "."+name) && !strings.HasPrefix(n.Name, "output.") {
			return "Unknown name", fmt.Sprintf("There is no %q. Did you mean %q?", name, n.Name)
		}
	}
	if l.m.Variables[name] != nil {
		return "Unknown name", fmt.Sprintf("There is no %q. Did you mean %q?", name, "var."+name)
	}
	detail := fmt.Sprintf("There is no %q. A reference starts with %s.", name, strings.Join(declare.Roots, ", "))
	if n := syntax.Nearest(name, declare.Roots); n != "" {
		detail = fmt.Sprintf("There is no %q. Did you mean %q?", name, n)
	}
	switch {
	case len(tr) > 1:
	case l.isInterpolation(tr.SourceRange()):
		detail += " " + language.LeaveToProgram(name)
	default:
		detail += fmt.Sprintf(" A text is written in quotes: %q.", name)
	}
	return "Unknown name", detail
}

func (l *Links) noBlock(p []string) (summary, detail string) {
	typ, depth := p[0], declare.Depth(p[0])
	given := strings.Join(p[:min(len(p), depth)], ".")
	all := l.declared(typ + ".")
	if len(p) >= depth { // the same name under another kind is the likelier slip
		for _, a := range all {
			if strings.HasSuffix(a, "."+p[depth-1]) {
				return "Undeclared " + typ, fmt.Sprintf("There is no %s. Did you mean %q?", given, a)
			}
		}
	}
	block := typ
	for i, label := range declare.Of(typ).Labels { // of what is not named, what it is
		if i+1 < len(p) {
			label = p[i+1]
		}
		block += fmt.Sprintf(" %q", label)
	}
	return "Undeclared " + typ, fmt.Sprintf("There is no %s. %s", given, orDeclare(given, all, typ, block+" { … }"))
}

// orDeclare says which name was meant or, if none is near, how the name is declared.
func orDeclare(name string, names []string, noun, declaration string) string {
	if near := syntax.Nearest(name, names); near != "" {
		return fmt.Sprintf("Did you mean %q?", near)
	}
	return syntax.Suggest(name, names, noun) + " To declare it, write " + declaration + "."
}

// isInterpolation reports whether a reference is all that stands between ${ and }.
func (l *Links) isInterpolation(rng hcl.Range) bool {
	src, from, to := l.diags.Sources[rng.Filename], rng.Start.Byte-len("${"), rng.End.Byte
	return from >= 0 && to < len(src) && string(src[from:rng.Start.Byte]) == "${" && src[to] == '}'
}
