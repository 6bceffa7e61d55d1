package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

const maxModules = 1000

// module loads each instance of a module; the value is an object of its outputs, with for_each an object of these by key.
func (f *frame) module(n *declare.Node, ctx *hcl.EvalContext) cty.Value {
	m := n.Call
	instances, ok := instances(f.sees(ctx, nil), m.ForEach)
	if !ok && f.Awaits.Any() {
		f.Diags.Error(m.ForEach.Range(), "Modules that are not known", "Which modules there are cannot depend on what a step leaves. Give one module the artifact as an argument, and write the for_each over it in its steps.")
	}
	if !ok || m.Module == nil {
		return cty.DynamicVal
	}
	sweep(f.Diags, n.Name, m.ForEach, m.Body, instances, nil)
	values := make(map[string]cty.Value, len(instances))
	for i := range instances {
		if f.instances++; f.instances > maxModules {
			if f.instances == maxModules+1 {
				f.Diags.Error(n.Range, "Too many modules", fmt.Sprintf("With this block the pipeline has more than %d modules.", maxModules))
			}
			return cty.DynamicVal
		}
		inst := &instances[i]
		f.place(inst, n, ctx)
		v, out, ok := f.decided(inst, m.When, m.Otherwise)
		if !ok {
			if !v.IsKnown() && f.Awaits.Any() {
				f.Diags.Error(m.When.Range(), "Modules that are not known", "Whether there is a module cannot depend on what a step leaves. Give the module the artifact as an argument, and write the when in its steps.")
			}
			return cty.DynamicVal
		}
		if v.False() {
			f.of(n).skipped = append(f.of(n).skipped, out)
			continue
		}
		arguments := make(map[string]argument, len(m.Arguments))
		for _, a := range m.Arguments {
			arguments[a.Name] = argument{f.sees(inst.ctx, inst).Value(a.Expr), a.Expr.Range(), a.NameRange}
		}
		values[inst.Key] = f.load(m, inst.address, arguments)
	}
	all := slices.Collect(maps.Values(values))
	switch {
	case m.ForEach == nil && len(all) > 0:
		return all[0]
	case len(all) > 0 && !slices.ContainsFunc(all, func(v cty.Value) bool { return !v.Type().Equals(all[0].Type()) || v.Type().HasDynamicTypes() }):
		return cty.MapVal(values)
	}
	return cty.ObjectVal(values) // of none it is the empty one
}

// load evaluates an instance of a module and returns its outputs, unknown after errors. The first call declares it.
func (f *frame) load(call *declare.Call, address string, arguments map[string]argument) cty.Value {
	defer f.Diags.Within(syntax.Place{Range: call.DefRange(), Text: "in " + address})()
	m := call.Module()
	if m.Broken() {
		return cty.DynamicVal // a broken file may declare anything
	}
	for _, name := range syntax.Pipelines(m.Files) {
		f.run.modules[name] = m.Files[name]
	}
	c := f.frame(m, address)
	c.setArguments(call, arguments)
	c.fixed()
	c.inherited = f.Awaits
	c.nodes()
	f.modules = append(f.modules, c)
	outputs := map[string]cty.Value{}
	for name, n := range m.ByName {
		if output, ok := strings.CutPrefix(name, "output."); ok {
			outputs[output] = c.of(n).value
			f.Awaits.Add(c.of(n).awaits)
		}
	}
	return cty.ObjectVal(outputs)
}
