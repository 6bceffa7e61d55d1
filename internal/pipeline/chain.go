package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// pend makes one step stand for all of a block: which there are is not known yet.
func (l *loader) pend(n *node, own *awaited) {
	b := n.block
	s := Step{Address: l.qualified(n.name) + AnyInstance, Module: l.address, Block: b.typ, Kind: b.kind, Name: b.name,
		Pos: Pos{b.TypeRange.Filename, b.TypeRange.Start.Line}, AttrPos: b.places()}
	s.Task.Kind = b.kind
	l.steps[n] = []Step{own.pending(s, nil)}
	n.awaits = own.clone()
	n.awaits.behind(s.Address)
}

// qualified is a name with the module that it is in.
func (l *loader) qualified(name string) string {
	if l.address == "" {
		return name
	}
	return l.address + "." + name
}

// An instance may refer to others of its own block, such as the one before it in a chain
// whose length is a parameter.

// mayChain reports whether a block that refers to itself does so in its instances alone.
func mayChain(n *node) bool {
	if n.block == nil || n.block.forEach == nil || n.block.typ != "step" {
		return false
	}
	each := n.block.forEach.Range()
	return !slices.ContainsFunc(n.deps, func(e edge) bool {
		return e.to == n && e.rng.Start.Byte >= each.Start.Byte && e.rng.End.Byte <= each.End.Byte && e.rng.Filename == each.Filename
	})
}

// chain is what the instances of a block see of each other.
func (l *loader) chain(n *node, instances []instance) cty.Value {
	if n.block.when != nil {
		l.diags.error(n.block.when.Range(), "Chain with a when", fmt.Sprintf("Instances of %s refer to each other, so none of them can be skipped. Leave the element out of its for_each.", n.name))
	}
	values := make(map[string]cty.Value, len(instances))
	for _, inst := range instances {
		l.place(&inst, n, nil)
		values[inst.key] = outputsOf(n.block.spec, n.block.spec.Outputs, inst.address, nil)
	}
	if len(values) == 0 {
		return cty.MapValEmpty(stepType(n.block.spec))
	}
	return cty.MapVal(values)
}

// noCircle reports instances that refer to each other in a circle.
func (l *loader) noCircle(n *node) {
	steps := l.steps[n]
	index := make(map[string]int, len(steps))
	for i, s := range steps {
		index[s.Address] = i
	}
	open, readers := make([]int, len(steps)), make([][]int, len(steps))
	var free []int // those that read none that is not free
	for i, s := range steps {
		refs, _ := s.Task.Refs() // of a task that was made here
		for _, ref := range refs {
			if j, ok := index[ref.Step]; ok {
				readers[j] = append(readers[j], i)
				open[i]++
			}
		}
		if open[i] == 0 {
			free = append(free, i)
		}
	}
	for k := 0; k < len(free); k++ {
		for _, i := range readers[free[k]] {
			if open[i]--; open[i] == 0 {
				free = append(free, i)
			}
		}
	}
	if len(free) == len(steps) {
		return
	}
	const most = 5
	var names []string
	for i, s := range steps {
		if open[i] > 0 {
			names = append(names, s.Address)
		}
	}
	if left := len(names) - most; left > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", left))
	}
	l.diags.error(n.rng, "References in a circle", fmt.Sprintf("%s: each of these refers to another of them, or to one that does, so none can come first.", strings.Join(names, ", ")))
}
