package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// resolve finds what every local and block refers to: its edges. References to
// what is not declared are reported, and their expressions marked bad.
func (l *loader) resolve() {
	for _, n := range l.nodes {
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
}

func (l *loader) linkBody(n *node, body *hclsyntax.Body) {
	for _, a := range syntax.Attributes(body) {
		if a.Expr != n.block.forEach && a.Name != allowEmptyAttr {
			l.link(n, a.Expr, n.block.forEach != nil)
		}
	}
	for _, inner := range body.Blocks {
		l.linkBody(n, inner.Body)
	}
}

func (l *loader) link(n *node, e hclsyntax.Expression, each bool) {
	if !l.check(e, each) {
		return
	}
	for _, tr := range e.Variables() {
		for _, to := range l.targets(tr) {
			n.deps = append(n.deps, edge{to, tr.SourceRange(), to.block != nil && to.block.when != nil && takesOutput(tr) && !l.withinTry(e, tr)})
		}
	}
}

// check reports references in an expression that lead nowhere.
func (l *loader) check(e hclsyntax.Expression, each bool) bool {
	ok := true
	for _, tr := range e.Variables() {
		if summary, detail := l.dangling(tr, each); summary != "" {
			l.Diags.Error(tr.SourceRange(), summary, detail)
			ok = false
		}
	}
	if !ok {
		l.bad[e] = true
	}
	return ok
}

// dangling says why a reference leads nowhere; "" if it does not.
func (l *loader) dangling(tr hcl.Traversal, each bool) (summary, detail string) {
	p := language.Names(tr)
	switch p[0] {
	case "var":
		for name, v := range l.variables {
			v.used = v.used || len(p) == 1 || p[1] == name
		}
		if len(p) > 1 && l.variables[p[1]] == nil {
			return "Undeclared variable", fmt.Sprintf("There is no variable %q. %s", p[1], syntax.Suggest(p[1], syntax.Keys(l.variables), "variable"))
		}
	case "local":
		if len(p) > 1 && len(l.targets(tr)) == 0 {
			names := l.declared("local.")
			for i, name := range names {
				names[i] = strings.TrimPrefix(name, "local.")
			}
			return "Undeclared local value", fmt.Sprintf("There is no local value %q. %s", p[1], syntax.Suggest(p[1], names, "local value"))
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
		case Depth(p[0]) == 0:
			return l.unknownRoot(p[0], tr)
		case len(l.targets(tr)) == 0:
			return l.noBlock(p)
		}
	}
	return "", ""
}

func (l *loader) unknownRoot(name string, tr hcl.Traversal) (string, string) {
	for _, n := range l.nodes {
		if strings.HasSuffix(n.name, "."+name) && !strings.HasPrefix(n.name, "output.") {
			return "Unknown name", fmt.Sprintf("There is no %q. Did you mean %q?", name, n.name)
		}
	}
	if l.variables[name] != nil {
		return "Unknown name", fmt.Sprintf("There is no %q. Did you mean %q?", name, "var."+name)
	}
	detail := fmt.Sprintf("There is no %q. A reference starts with %s.", name, strings.Join(Roots(), ", "))
	if n := syntax.Nearest(name, Roots()); n != "" {
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

// noBlock explains a reference to a block that is not declared.
func (l *loader) noBlock(p []string) (summary, detail string) {
	typ, depth := p[0], Depth(p[0])
	given := strings.Join(p[:min(len(p), depth)], ".")
	all := l.declared(typ + ".")
	if len(p) >= depth { // the same name under another kind is the likelier slip
		for _, a := range all {
			if strings.HasSuffix(a, "."+p[depth-1]) {
				return "Undeclared " + typ, fmt.Sprintf("There is no %s. Did you mean %q?", given, a)
			}
		}
	}
	return "Undeclared " + typ, fmt.Sprintf("There is no %s. %s", given, syntax.Suggest(given, all, typ))
}

// targets are the nodes that a reference reads: one, or all that a shorter one
// such as step.train covers.
func (l *loader) targets(tr hcl.Traversal) []*node {
	p := language.Names(tr)
	if depth := Depth(p[0]); len(p) >= depth {
		if n := l.byName[strings.Join(p[:depth], ".")]; n != nil {
			return []*node{n}
		}
		return nil
	}
	var all []*node
	for _, name := range l.declared(strings.Join(p, ".") + ".") {
		all = append(all, l.byName[name])
	}
	return all
}

// declared are the names of nodes that begin so, sorted.
func (l *loader) declared(prefix string) []string {
	return slices.DeleteFunc(syntax.Keys(l.byName), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// warnUnused reports variables and local values that nothing refers to.
func (l *loader) warnUnused() {
	for name, v := range l.variables {
		if !v.used {
			l.Diags.Warn(v.rng, "Unused variable", fmt.Sprintf("Nothing refers to var.%s.", name))
		}
	}
	for _, name := range l.declared("local.") {
		if n := l.byName[name]; !n.read {
			l.Diags.Warn(n.rng, "Unused local value", fmt.Sprintf("Nothing refers to %s.", name))
		}
	}
	l.warnPublished()
}

// isInterpolation reports whether a reference is all that stands between ${ and }.
func (l *loader) isInterpolation(rng hcl.Range) bool {
	src, from, to := l.Diags.Source(rng.Filename), rng.Start.Byte-len("${"), rng.End.Byte
	return from >= 0 && to < len(src) && string(src[from:rng.Start.Byte]) == "${" && src[to] == '}'
}
