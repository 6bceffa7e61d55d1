package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// inOrder sets the order, in which each node follows what it refers to. Nodes that
// refer to themselves, by whatever way, are reported and left out; their value
// stays unknown.
func (l *links) inOrder() {
	for _, group := range groups(l.m.nodes, l.targetsOf) {
		if len(group) == 1 && (!l.refersTo(group[0], group[0]) || l.mayChain(group[0])) {
			l.order = append(l.order, group[0])
			continue
		}
		l.cycle(group)
	}
}

// targetsOf are the nodes that a node refers to.
func (l *links) targetsOf(n *node) []*node {
	to := make([]*node, len(l.edges[n.index]))
	for i, e := range l.edges[n.index] {
		to[i] = e.to
	}
	return to
}

func (l *links) refersTo(a, b *node) bool {
	return slices.ContainsFunc(l.edges[a.index], func(e edge) bool { return e.to == b })
}

// mayChain reports whether a block that refers to itself does so in its instances alone: an instance
// may refer to others of its own block, such as the one before it in a chain whose length is a
// parameter.
func (l *links) mayChain(n *node) bool {
	if n.block == nil || n.block.forEach == nil || n.block.typ != "step" {
		return false
	}
	each := n.block.forEach.Range()
	return !slices.ContainsFunc(l.edges[n.index], func(e edge) bool {
		return e.to == n && e.rng.Start.Byte >= each.Start.Byte && e.rng.End.Byte <= each.End.Byte && e.rng.Filename == each.Filename
	})
}

// groups are the strongly connected ones of nodes, each after those that it refers to.
func groups[N comparable](nodes []N, refs func(N) []N) [][]N {
	o := &orderer[N]{index: map[N]int{}, low: map[N]int{}, on: map[N]bool{}, refs: refs}
	for _, n := range nodes {
		if _, seen := o.index[n]; !seen {
			o.visit(n)
		}
	}
	return o.groups
}

// orderer finds the strongly connected groups of nodes (Tarjan 1972), each after
// those that it refers to.
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

// cycle reports a shortest cycle through the first node of a group, with the
// place of each of its references.
func (l *links) cycle(group []*node) {
	first := slices.MinFunc(group, func(a, b *node) int { return syntax.BySource(a.rng, b.rng) })
	type hop struct {
		from *node
		e    edge
	}
	came := map[*node]hop{}
	var last hop
search:
	for queue := []*node{first}; ; queue = queue[1:] {
		for _, e := range l.edges[queue[0].index] {
			if e.to == first {
				last = hop{queue[0], e}
				break search
			}
			if _, seen := came[e.to]; !seen && slices.Contains(group, e.to) {
				came[e.to] = hop{queue[0], e}
				queue = append(queue, e.to)
			}
		}
	}
	hops := []hop{last}
	for n := last.from; n != first; n = came[n].from {
		hops = append([]hop{came[n]}, hops...)
	}
	walk := []string{first.name}
	var also []syntax.Place
	for i, h := range hops {
		walk = append(walk, h.e.to.name)
		if i > 0 {
			also = append(also, syntax.Place{Range: h.e.rng, Text: fmt.Sprintf("%s refers to %s", h.from.name, h.e.to.name)})
		}
	}
	l.diags.Error(hops[0].e.rng, "References in a circle",
		fmt.Sprintf("%s: none of these can come first. Each of them has to use only what comes before it.", strings.Join(walk, " -> ")), also...)
}
