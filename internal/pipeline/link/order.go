package link

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// inOrder sets the order, in which each node follows what it refers to. Nodes in a circle are reported and left out; their
// value stays unknown.
func (l *Links) inOrder() {
	for _, group := range Groups(l.m.Nodes, l.targetsOf) {
		if len(group) == 1 && (!l.RefersTo(group[0], group[0]) || l.mayChain(group[0])) {
			l.Order = append(l.Order, group[0])
			continue
		}
		l.cycle(group)
	}
}

// mayChain reports whether a block refers to itself in its instances alone: one may refer to others, such as the one before
// it in a chain whose length is a parameter.
func (l *Links) mayChain(n *declare.Node) bool {
	if n.Block == nil || n.Block.ForEach == nil || n.Block.Type != "step" {
		return false
	}
	each := n.Block.ForEach.Range()
	return !slices.ContainsFunc(l.Edges[n.Index], func(e Edge) bool {
		return e.To == n && e.Range.Start.Byte >= each.Start.Byte && e.Range.End.Byte <= each.End.Byte && e.Range.Filename == each.Filename
	})
}

// Groups are the strongly connected ones of nodes, each after those that it refers to.
func Groups[N comparable](nodes []N, refs func(N) []N) [][]N {
	o := &orderer[N]{index: map[N]int{}, low: map[N]int{}, on: map[N]bool{}, refs: refs}
	for _, n := range nodes {
		if _, seen := o.index[n]; !seen {
			o.visit(n)
		}
	}
	return o.groups
}

// orderer finds the strongly connected groups of nodes (Tarjan 1972), each after the groups that it refers to.
type orderer[N comparable] struct {
	index, low map[N]int
	on         map[N]bool
	stack      []N
	groups     [][]N
	refs       func(N) []N
}

func (o *orderer[N]) visit(n N) {
	o.index[n] = len(o.index)
	o.low[n] = o.index[n]
	o.stack = append(o.stack, n)
	o.on[n] = true
	for _, to := range o.refs(n) {
		if _, seen := o.index[to]; !seen {
			o.visit(to)
			o.low[n] = min(o.low[n], o.low[to])
		} else if o.on[to] {
			o.low[n] = min(o.low[n], o.index[to])
		}
	}
	if o.low[n] != o.index[n] {
		return
	}
	for i := len(o.stack) - 1; ; i-- {
		m := o.stack[i]
		o.on[m] = false
		if m == n {
			o.groups = append(o.groups, append([]N(nil), o.stack[i:]...))
			o.stack = o.stack[:i]
			return
		}
	}
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
		fmt.Sprintf("%s: none of these can come first. Each of them has to use only what comes before it.", strings.Join(walk, " -> ")), also...)
}
