package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/language"
)

// pend makes one step stand for all of a block: which there are is not known yet. What is wrong
// with each of them, whichever they are, is reported.
func (l *loader) pend(n *node, own *language.Awaited, ctx *hcl.EvalContext) {
	b := n.block
	each := instance{address: l.qualified(n.name) + address.Any, ctx: ctx.NewChild(), undecided: true}
	each.ctx.Variables = map[string]cty.Value{"each": cty.DynamicVal}
	l.Now = language.Awaiting(own) // what one of them awaits is for it to say
	l.step(b, &each)
	l.Now = own
	s := pending(own, l.stepOf(b, each.address), nil)
	l.steps[n] = []Step{s}
	n.awaits = language.Awaiting(own)
	n.awaits.On[s.Address] = true
}

// qualified is a name with the module that it is in.
func (l *loader) qualified(name string) string {
	return address.Address{Modules: l.address, Name: name}.String()
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
		l.Diags.Error(n.block.when.Range(), "Chain with a when", fmt.Sprintf("Instances of %s refer to each other, so none of them can be skipped. Leave the element out of its for_each.", n.name))
	}
	values := make(map[string]cty.Value, len(instances))
	for _, inst := range instances {
		l.place(&inst, n, nil)
		values[inst.Key] = language.OutputsOf(n.block.spec, n.block.spec.Outputs, inst.address, nil)
	}
	if len(values) == 0 {
		return cty.MapValEmpty(language.StepType(n.block.spec))
	}
	return cty.MapVal(values)
}

// noCircle reports instances that refer to each other in a circle.
func (l *loader) noCircle(n *node) {
	var nodes []*node
	byAddress := map[string]*node{}
	for _, s := range l.steps[n] {
		nodes = append(nodes, &node{name: s.Address})
		byAddress[s.Address] = nodes[len(nodes)-1]
	}
	for i, s := range l.steps[n] {
		refs, _ := s.Task.Refs() // of a task that was made here
		for _, ref := range refs {
			if to := byAddress[ref.Step]; to != nil {
				nodes[i].deps = append(nodes[i].deps, edge{to: to})
			}
		}
	}
	var names []string
	for _, group := range groups(nodes) {
		for _, inst := range group {
			if len(group) > 1 || refersTo(inst, inst) {
				names = append(names, inst.name)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	const most = 5
	if left := len(names) - most; left > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", left))
	}
	l.Diags.Error(n.rng, "References in a circle", fmt.Sprintf("%s: each of these refers to another of them, or to one that does, so none can come first.", strings.Join(names, ", ")))
}
