package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// order returns the nodes such that each follows what it refers to. Nodes that
// refer to themselves, by whatever way, are reported and left out; their value
// stays unknown.
func (l *loader) order() []*node {
	var order []*node
	for _, group := range groups(l.nodes) {
		if len(group) == 1 && (!refersTo(group[0], group[0]) || mayChain(group[0])) {
			order = append(order, group[0])
			continue
		}
		l.cycle(group)
	}
	return order
}

// groups are the strongly connected ones of nodes, each after those that it refers to.
func groups(nodes []*node) [][]*node {
	o := &orderer{index: map[*node]int{}, low: map[*node]int{}, on: map[*node]bool{}}
	for _, n := range nodes {
		if _, seen := o.index[n]; !seen {
			o.visit(n)
		}
	}
	return o.groups
}

// orderer finds the strongly connected groups of nodes (Tarjan 1972), each after
// those that it refers to.
type orderer struct {
	index, low map[*node]int
	on         map[*node]bool
	stack      []*node
	groups     [][]*node
}

func (o *orderer) visit(n *node) {
	o.index[n] = len(o.index)
	o.low[n] = o.index[n]
	o.stack = append(o.stack, n)
	o.on[n] = true
	for _, e := range n.deps {
		e.to.read = true
		if _, seen := o.index[e.to]; !seen {
			o.visit(e.to)
			o.low[n] = min(o.low[n], o.low[e.to])
		} else if o.on[e.to] {
			o.low[n] = min(o.low[n], o.index[e.to])
		}
	}
	if o.low[n] != o.index[n] {
		return
	}
	for i := len(o.stack) - 1; ; i-- {
		m := o.stack[i]
		o.on[m] = false
		if m == n {
			o.groups = append(o.groups, append([]*node(nil), o.stack[i:]...))
			o.stack = o.stack[:i]
			return
		}
	}
}

func refersTo(a, b *node) bool {
	return slices.ContainsFunc(a.deps, func(e edge) bool { return e.to == b })
}

// cycle reports a shortest cycle through the first node of a group, with the
// place of each of its references.
func (l *loader) cycle(group []*node) {
	first := slices.MinFunc(group, func(a, b *node) int { return syntax.BySource(a.rng, b.rng) })
	type hop struct {
		from *node
		e    edge
	}
	came := map[*node]hop{}
	var last hop
search:
	for queue := []*node{first}; ; queue = queue[1:] {
		for _, e := range queue[0].deps {
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
	l.Diags.Error(hops[0].e.rng, "References in a circle",
		fmt.Sprintf("%s: none of these can come first. Each of them has to use only what comes before it.", strings.Join(walk, " -> ")), also...)
}
