package link

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// dangling says why a reference leads nowhere; "" if it does not.
func (l *Links) dangling(tr hcl.Traversal, each bool) (summary, detail string) {
	p := language.Names(tr)
	switch p[0] {
	case "var":
		for name := range l.m.Variables {
			l.used[name] = l.used[name] || len(p) == 1 || p[1] == name
		}
		if len(p) > 1 && l.m.Variables[p[1]] == nil {
			return "Undeclared variable", fmt.Sprintf("There is no variable %q. %s", p[1], syntax.Suggest(p[1], syntax.Keys(l.m.Variables), "variable"))
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
	detail := fmt.Sprintf("There is no %q. A reference starts with %s.", name, strings.Join(declare.Roots(), ", "))
	if n := syntax.Nearest(name, declare.Roots()); n != "" {
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
	return "Undeclared " + typ, fmt.Sprintf("There is no %s. %s", given, syntax.Suggest(given, all, typ))
}

// isInterpolation reports whether a reference is all that stands between ${ and }.
func (l *Links) isInterpolation(rng hcl.Range) bool {
	src, from, to := l.diags.Source(rng.Filename), rng.Start.Byte-len("${"), rng.End.Byte
	return from >= 0 && to < len(src) && string(src[from:rng.Start.Byte]) == "${" && src[to] == '}'
}
