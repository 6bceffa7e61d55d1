package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// What a pipeline may be made of.
const (
	maxModuleDepth = 20   // modules within each other
	maxModules     = 1000 // of a pipeline, instances one by one
)

const sourceAttr = "source"

func (l *loader) declareModule(b *hclsyntax.Block) {
	n := l.declareNamed(b)
	if n == nil {
		return
	}
	m := &moduleCall{Block: b}
	n.module = m
	l.nodes = append(l.nodes, n)
	noBlocks(l.Diags, b, "A module has attributes only: source, for_each, and its variables.")
	for _, a := range syntax.Attributes(b.Body) {
		switch a.Name {
		case sourceAttr:
			if files := l.openModule(n, a); files != nil {
				m.declared = sync.OnceValue(func() *module { return l.within(files) })
			}
		case forEachAttr:
			m.forEach = a.Expr
		default:
			m.arguments = append(m.arguments, a)
		}
	}
	if b.Body.Attributes[sourceAttr] == nil {
		l.Diags.Error(n.rng, "Missing attribute", `A module needs source = "…": a folder or .hcl file by a path that starts with ./ or ../, or git::URL?ref=REF.`)
	}
}

// openModule returns the files of a module; nil if they cannot be had.
func (l *loader) openModule(n *node, a *hclsyntax.Attribute) map[string][]byte {
	v, ok := l.constantOf(a, nil, cty.String, "The source of a module", "The source of a module is a string.")
	if !ok {
		return nil
	}
	rng := a.Expr.Range()
	if l.Module == nil {
		l.Diags.Error(rng, "No modules", "Modules cannot be used here.")
		return nil
	}
	id := [2]string{n.dir, v.AsString()}
	files, ok := l.opened[id]
	if !ok {
		var err error
		if files, err = l.Module(id[0], id[1]); err != nil {
			l.Diags.Error(rng, "Module not available", strings.TrimRight(err.Error(), ".")+".")
			return nil
		}
		l.opened[id] = files
	}
	depth := 0
	for outer := l.module; outer != nil; outer, depth = outer.parent, depth+1 {
		for name := range files {
			if _, again := outer.files[name]; again {
				l.Diags.Error(rng, "Modules in a circle", fmt.Sprintf("%s contains this module. A pipeline cannot have itself as a module.", name))
				return nil
			}
		}
	}
	if depth > maxModuleDepth {
		l.Diags.Error(rng, "Modules too deep", fmt.Sprintf("Modules are nested more than %d deep here.", maxModuleDepth))
		return nil
	}
	return files
}

// module loads each instance of a module; the value is an object of its
// outputs, and with for_each one of such objects by key.
func (f *frame) module(n *node, ctx *hcl.EvalContext) cty.Value {
	m := n.module
	instances, ok := instances(f.sees(ctx, nil), m.forEach)
	if !ok && f.Awaits().Any() {
		f.Diags.Error(m.forEach.Range(), "Modules that are not known", "Which modules there are cannot wait for what a step makes. Give one module the artifact as an argument, and write the for_each over it in its steps.")
	}
	if !ok || m.declared == nil {
		return cty.DynamicVal
	}
	sweep(f.Diags, n.name, m.forEach, m.Body, instances, nil)
	values := make(map[string]cty.Value, len(instances))
	for i := range instances {
		if f.instances++; f.instances > maxModules {
			if f.instances == maxModules+1 {
				f.Diags.Error(n.rng, "Too many modules", fmt.Sprintf("With this block the pipeline has more than %d modules.", maxModules))
			}
			return cty.DynamicVal
		}
		inst := &instances[i]
		f.place(inst, n, ctx)
		arguments := make(map[string]argument, len(m.arguments))
		for _, a := range m.arguments {
			arguments[a.Name] = argument{f.sees(inst.ctx, inst).Value(a.Expr), a.Expr.Range(), a.NameRange}
		}
		values[inst.Key] = f.load(m, inst.address, arguments)
	}
	switch {
	case m.forEach == nil:
		return values[""]
	case len(values) == 0:
		return cty.EmptyObjectVal
	case sameTypes(values):
		return cty.MapVal(values)
	}
	return cty.ObjectVal(values)
}

func sameTypes(values map[string]cty.Value) bool {
	all := slices.Collect(maps.Values(values))
	return !slices.ContainsFunc(all, func(v cty.Value) bool { return !v.Type().Equals(all[0].Type()) || v.Type().HasDynamicTypes() })
}

// load evaluates an instance of a module and returns its outputs, unknown ones if something
// is wrong with it. The first one declares the module.
func (f *frame) load(call *moduleCall, address string, arguments map[string]argument) cty.Value {
	defer f.Diags.Within(syntax.Place{Range: syntax.Header(call.Block), Text: "in " + address})()
	m := call.declared()
	if m.broken() {
		return cty.DynamicVal // what a broken file declares is not known
	}
	for _, name := range syntax.Pipelines(m.files) {
		f.run.modules[name] = m.files[name]
	}
	c := f.frame(m, address)
	c.variables.setArguments(call, arguments)
	c.fixed()
	c.inherited = f.Awaits()
	c.nodes()
	f.modules = append(f.modules, c)
	outputs := map[string]cty.Value{}
	for name, n := range m.byName {
		if output, ok := strings.CutPrefix(name, "output."); ok {
			outputs[output] = c.of(n).value
			f.Awaits().Add(c.of(n).awaits)
		}
	}
	return cty.ObjectVal(outputs)
}

// declareOutput declares what a pipeline shows of itself where it is a module.
func (l *loader) declareOutput(b *hclsyntax.Block) {
	n := l.declareNamed(b)
	if n == nil {
		return
	}
	l.shapeForm(b)
	l.description(b)
	a := b.Body.Attributes["value"]
	if a == nil {
		l.Diags.Error(n.rng, "Missing attribute", "An output needs value = …, which pipelines that use this one as a module refer to.")
		return
	}
	n.expr = a.Expr
	l.nodes = append(l.nodes, n)
}

// LocalModule returns the pipeline files of a module whose source is a path: that
// file, or all *.hcl of that folder. It is an Options.Module.
func LocalModule(folder, source string) (map[string][]byte, error) {
	if !IsLocalModule(source) {
		return nil, fmt.Errorf("%q is not a source of a module: write a path that starts with ./ or ../, or git::URL?ref=REF", source)
	}
	return syntax.Read(syntax.Beside(folder, source))
}

// IsLocalModule reports whether a module's source is a path.
func IsLocalModule(source string) bool {
	return slices.Contains([]string{".", ".."}, source) || slices.ContainsFunc([]string{"./", "../", "/"}, func(p string) bool { return strings.HasPrefix(source, p) })
}
