package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/language"
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
	l.noBlocks(b, "A module has attributes only: source, for_each, and its variables.")
	for _, a := range syntax.Attributes(b.Body) {
		switch a.Name {
		case sourceAttr:
			m.files = l.openModule(n, a)
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
	for outer := l; outer != nil; outer, depth = outer.parent, depth+1 {
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

// evaluateModule loads each instance of a module; the value is an object of its
// outputs, and with for_each one of such objects by key.
func (l *loader) evaluateModule(n *node, ctx *hcl.EvalContext) {
	m := n.module
	instances, ok := l.instances(m.forEach, ctx)
	if !ok && l.Now.Any() {
		l.Diags.Error(m.forEach.Range(), "Modules that are not known", "Which modules there are cannot wait for what a step makes. Give one module the artifact as an argument, and write the for_each over it in its steps.")
	}
	if !ok || m.files == nil {
		return
	}
	l.sweep(n.name, m.forEach, m.Body, instances, nil)
	values := make(map[string]cty.Value, len(instances))
	for i := range instances {
		if l.made.modules++; l.made.modules > maxModules {
			if l.made.modules == maxModules+1 {
				l.Diags.Error(n.rng, "Too many modules", fmt.Sprintf("With this block the pipeline has more than %d modules.", maxModules))
			}
			return
		}
		inst := &instances[i]
		l.place(inst, n, ctx)
		arguments := make(map[string]argument, len(m.arguments))
		for _, a := range m.arguments {
			arguments[a.Name] = argument{l.value(a.Expr, inst.ctx, inst), a.Expr.Range(), a.NameRange}
		}
		values[inst.Key] = l.loadModule(m, inst.address, arguments)
	}
	switch {
	case m.forEach == nil:
		n.value = values[""]
	case len(values) == 0:
		n.value = cty.EmptyObjectVal
	case sameTypes(values):
		n.value = cty.MapVal(values)
	default:
		n.value = cty.ObjectVal(values)
	}
}

func sameTypes(values map[string]cty.Value) bool {
	all := slices.Collect(maps.Values(values))
	return !slices.ContainsFunc(all, func(v cty.Value) bool { return !v.Type().Equals(all[0].Type()) || v.Type().HasDynamicTypes() })
}

// loadModule evaluates a module and returns its outputs, unknown ones if something
// is wrong with it.
func (l *loader) loadModule(m *moduleCall, address string, arguments map[string]argument) cty.Value {
	c := l.session.loader(m.files)
	c.address, c.parent = address, l
	defer l.Diags.Within(syntax.Place{Range: syntax.Header(m.Block), Text: "in " + address})()
	if c.parse(); len(c.bodies) < len(c.files) {
		return cty.DynamicVal // what a broken file declares is not known
	}
	c.declare()
	c.setArguments(m, arguments)
	c.setLimits()
	c.inherited = l.Now
	c.evaluateAll()
	l.modules = append(l.modules, c)
	outputs := map[string]cty.Value{}
	for name, n := range c.byName {
		if output, ok := strings.CutPrefix(name, "output."); ok {
			outputs[output] = n.value
			l.Now.Add(n.awaits)
		}
	}
	return cty.ObjectVal(outputs)
}

// argument is the value that a module's variable is given.
type argument struct {
	value     cty.Value
	rng, name hcl.Range
}

// setArguments gives the variables of a module their values.
func (l *loader) setArguments(m *moduleCall, arguments map[string]argument) {
	for _, name := range syntax.Keys(arguments) {
		if l.variables[name] == nil {
			l.Diags.Error(arguments[name].name, "Undeclared variable",
				fmt.Sprintf("The module has no variable %q. %s", name, syntax.Suggest(name, syntax.Keys(l.variables), "variable")))
		}
	}
	for _, name := range syntax.Keys(l.variables) {
		v := l.variables[name]
		a, given := arguments[name]
		switch {
		case given && !(a.value.IsKnown() && a.value.IsNull() && v.optional):
			v.value = l.argumentOf(v, a)
		case v.optional:
			v.value = v.fallback
		default:
			l.Diags.Error(syntax.Header(m.Block), "Variable without a value",
				fmt.Sprintf("The module's var.%s has no default. Give it a value: %s = ….", name, name), syntax.Place{Range: v.rng, Text: "declared here"})
		}
	}
	l.validateAll()
}

// argumentOf converts what a module is given to the variable's type. A sensitive
// variable takes a sensitive one of the pipeline, whose name its uses then have.
func (l *loader) argumentOf(v *variable, a argument) cty.Value {
	if _, whole := l.WholeVariable(a.value); v.sensitive && a.value.IsKnown() && !whole {
		l.Diags.Error(a.rng, "Not a sensitive variable",
			fmt.Sprintf("The module's var.%s is sensitive, so it takes only a whole sensitive variable of the pipeline; its value must not be in a file.", v.name), syntax.Place{Range: v.rng, Text: "declared here"})
		return cty.DynamicVal
	}
	if a.value.Type() == cty.DynamicPseudoType && !a.value.IsKnown() {
		return a.value // reported
	}
	out, err := convert.Convert(a.value, v.typ)
	if err != nil {
		hint := ""
		if language.HoldsArtifact(a.value.Type()) {
			hint = " A variable that takes artifacts has type = any."
		}
		l.Diags.Error(a.rng, "Wrong type",
			fmt.Sprintf("The value does not fit the type of the module's var.%s, %s: %s.%s", v.name, typeexpr.TypeString(v.typ), err, hint), syntax.Place{Range: v.rng, Text: "declared here"})
		return cty.DynamicVal
	}
	return out
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
