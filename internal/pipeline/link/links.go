package link

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

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

// Edge is a reference from one node to another.
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

// RefersTo reports whether a refers to b itself, not only by what lies between.
func (l *Links) RefersTo(a, b *declare.Node) bool {
	return slices.ContainsFunc(l.Edges[a.Index], func(e Edge) bool { return e.To == b })
}

// targetsOf are the nodes that a node refers to.
func (l *Links) targetsOf(n *declare.Node) []*declare.Node {
	return lists.Map(l.Edges[n.Index], func(e Edge) *declare.Node { return e.To })
}
