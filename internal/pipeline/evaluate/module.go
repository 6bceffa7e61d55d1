package evaluate

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

const maxModules = 1000

// module loads each instance of a module; the value is an object of its outputs, with for_each an object of these by key.
func (f *frame) module(n *declare.Node, ctx *hcl.EvalContext) cty.Value {
	m := n.Call
	instances, ok := instances(f.sees(ctx, nil), m.ForEach)
	if !ok && f.Awaits().Any() {
		f.Diags.Error(m.ForEach.Range(), "Modules that are not known", "Which modules there are cannot wait for what a step makes. Give one module the artifact as an argument, and write the for_each over it in its steps.")
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
			if !v.IsKnown() && f.Awaits().Any() {
				f.Diags.Error(m.When.Range(), "Modules that are not known", "Whether there is a module cannot wait for what a step makes. Give the module the artifact as an argument, and write the when in its steps.")
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
	defer f.Diags.Within(syntax.Place{Range: syntax.Header(call.Block), Text: "in " + address})()
	m := call.Module()
	if m.Broken() {
		return cty.DynamicVal // what a broken file declares is not known
	}
	for _, name := range syntax.Pipelines(m.Files) {
		f.run.modules[name] = m.Files[name]
	}
	c := f.frame(m, address)
	c.setArguments(call, arguments)
	c.fixed()
	c.inherited = f.Awaits()
	c.nodes()
	f.modules = append(f.modules, c)
	outputs := map[string]cty.Value{}
	for name, n := range m.ByName {
		if output, ok := strings.CutPrefix(name, "output."); ok {
			outputs[output] = c.of(n).value
			f.Awaits().Add(c.of(n).awaits)
		}
	}
	return cty.ObjectVal(outputs)
}

const maxInstances = 100_000 // of one for_each

type instance struct {
	syntax.Instance
	value   cty.Value
	address string
	ctx     *hcl.EvalContext

	undecided bool // whether it is skipped is not known yet
	leftOut   bool // of a claim: what it is about is left out
}

// of says of a diagnostic about an instance which one that is; nil of no instance.
func (i *instance) of() *syntax.Instance {
	if i == nil {
		return nil
	}
	return &i.Instance
}

// instances evaluates for_each. Without it there is one instance.
func instances(sc language.Scope, forEach hclsyntax.Expression) ([]instance, bool) {
	if forEach == nil {
		return []instance{{}}, true
	}
	v := sc.Open(keys(sc, forEach), forEach.Range())
	fail := func(format string, args ...any) ([]instance, bool) {
		sc.Diags.Error(forEach.Range(), "Wrong for_each", fmt.Sprintf(format, args...))
		return nil, false
	}
	const forms = "for_each takes a map, an object, or a list or set of strings; product({ … }) makes all combinations of several lists."
	if address, ok := language.StepOf(v); ok {
		return fail("%s is one step, not several: it has no for_each. %s", address, forms)
	}
	t := v.Type()
	switch {
	case t == language.ArtifactType:
		return fail("It is %s. %s %s", language.ArtifactIn(v), language.ArtifactIs, forms)
	case !v.IsKnown() || t == cty.DynamicPseudoType && !v.IsNull():
		return nil, false // the reason is reported
	case v.IsNull():
		return fail("It is null. %s", forms)
	case t.IsMapType() || t.IsObjectType():
		m := v.AsValueMap()
		list := make([]instance, 0, len(m))
		for _, k := range syntax.Keys(m) {
			list = append(list, instance{Instance: syntax.Instance{Key: k, Keyed: true}, value: m[k]})
		}
		return checkKeys(sc.Diags, forEach, list)
	case t.IsSetType() || t.IsListType() || t.IsTupleType():
		var list []instance
		for _, e := range v.Elements() {
			switch {
			case e.Type() == language.ArtifactType:
				return fail("An artifact has no name that could be a key. Give each a name: { NAME = step.KIND.NAME.OUTPUT, … }.")
			case !e.IsKnown():
				return nil, false
			case e.IsNull():
				return fail("It has an element that is null. %s", forms)
			case e.Type() != cty.String:
				return fail("It has an element that is a %s. %s", e.Type().FriendlyName(), forms)
			}
			list = append(list, instance{Instance: syntax.Instance{Key: e.AsString(), Keyed: true}, value: e})
		}
		slices.SortStableFunc(list, func(a, b instance) int { return strings.Compare(a.Key, b.Key) })
		return checkKeys(sc.Diags, forEach, list)
	}
	return fail("It is a %s. %s", t.FriendlyName(), forms)
}

// keys is the value of a for_each; of toset(LIST) the list without repetitions, since a set is sorted at each pass.
func keys(sc language.Scope, forEach hclsyntax.Expression) cty.Value {
	call, ok := forEach.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "toset" || len(call.Args) != 1 || call.ExpandFinal || sc.Bad[forEach] {
		return sc.Value(forEach)
	}
	list := sc.Value(call.Args[0])
	if !list.IsKnown() {
		return list // the reason is reported
	}
	if t := list.Type(); list.IsMarked() || list.IsNull() || !t.IsListType() && !t.IsTupleType() || list.LengthInt() == 0 {
		return sc.Value(forEach)
	}
	seen, once := make(map[string]bool, list.LengthInt()), make([]cty.Value, 0, list.LengthInt())
	for _, e := range list.Elements() {
		if e.Type() != cty.String || e.IsMarked() || !e.IsKnown() || e.IsNull() {
			return sc.Value(forEach)
		}
		if key := e.AsString(); !seen[key] {
			seen[key], once = true, append(once, e)
		}
	}
	return cty.ListVal(once)
}

func checkKeys(d *syntax.Collector, forEach hclsyntax.Expression, list []instance) ([]instance, bool) {
	for i, inst := range list {
		wrong := ""
		switch {
		case inst.Key == "":
			wrong = "It has an empty key."
		case len(inst.Key) > declare.MaxName:
			wrong = fmt.Sprintf("Its key %.40q… has %d bytes; at most %d are allowed. Use a map with a short name as key and the text as value.", inst.Key, len(inst.Key), declare.MaxName)
		case strings.ContainsFunc(inst.Key, unicode.IsControl):
			wrong = fmt.Sprintf("Its key %q has a control character.", inst.Key)
		case i > 0 && list[i-1].Key == inst.Key:
			wrong = fmt.Sprintf("It has the key %q twice; distinct() leaves one of each.", inst.Key)
		default:
			continue
		}
		d.Error(forEach.Range(), "Wrong for_each", wrong)
		return nil, false
	}
	return list, true
}

// Opened is what a console, a test or an editor evaluates in; Named may be called by several goroutines, Value by one at a time.
type Opened struct {
	f   *frame
	dir string // for file()
}

// Values are those of the variables, and as --var takes them.
func (o *Opened) Values() (of Values, vars map[string]string) { return o.f.allVariables() }

// Named is the value of a declared name: var.x, local.x, step.train.dsi, table.t; unknown if it could not be evaluated.
func (o *Opened) Named(name string) (cty.Value, bool) {
	if v, ok := strings.CutPrefix(name, "var."); ok {
		if v := o.f.variables[v]; v != nil {
			return v.value, true
		}
		return cty.NilVal, false
	}
	if n := o.f.decl.ByName[name]; n != nil {
		return o.f.of(n).value, true
	}
	return cty.NilVal, false
}

// Expression is a part of a source, with values that hide the pipeline's own, by the name that references to them start with.
type Expression struct {
	Source []byte
	Range  hcl.Range
	With   map[string]cty.Value
}

// WholeExpression is a source that is one expression.
func WholeExpression(file string, source []byte) Expression {
	end := hcl.Pos{Line: 1, Column: 1 + len(source), Byte: len(source)}
	return Expression{Source: source, Range: hcl.Range{Filename: file, Start: hcl.InitialPos, End: end}}
}

// Value evaluates an expression as a local value of the pipeline; with errors it is unknown.
func (o *Opened) Value(x Expression) (cty.Value, syntax.Diagnostics) {
	f, file := o.f, x.Range.Filename
	f.ResetMeter()
	f.Diags = syntax.NewCollector(map[string][]byte{file: x.Source})
	text := x.Range.SliceBytes(x.Source)
	if !syntax.CheckSource(file, text, f.Diags) {
		return cty.DynamicVal, f.Diags.Done()
	}
	e, ds := hclsyntax.ParseExpression(text, file, x.Range.Start)
	f.Diags.HCL(ds, x.Range)
	if ds.HasErrors() {
		return cty.DynamicVal, f.Diags.Done()
	}
	f.RewriteNode(e)
	edges := f.links.Of(e, f.Diags, func(root string) bool { return x.With[root] != cty.NilVal })
	if f.Diags.Failed() {
		return cty.DynamicVal, f.Diags.Done()
	}
	n := &declare.Node{Dir: o.dir}
	ctx := f.scope(n, edges)
	maps.Copy(ctx.Variables, x.With)
	defer f.Await(f.inherits(n, edges))()
	return f.sees(ctx, nil).Value(e), f.Diags.Done()
}

// Questions are those of unset variables that stand where something is wrong. The errors say how else to set them.
func (o *Opened) Questions(ds syntax.Diagnostics) (all []syntax.Question) {
	for _, name := range syntax.Keys(o.f.variables) {
		v := o.f.variables[name]
		if v.Ask == "" || v.given {
			continue
		}
		named := regexp.MustCompile(`\bvar\.` + regexp.QuoteMeta(name) + `\b`)
		asked := false
		for _, d := range ds.List {
			if d.Severity != hcl.DiagError || *d.Subject != v.Range && !named.Match(d.Subject.SliceBytes(o.f.Diags.Source(d.Subject.Filename))) {
				continue
			}
			if *d.Subject != v.Range {
				d.Detail += fmt.Sprintf("\nNobody has set var.%s yet: give it with --var %s=…, or in %s.", name, name, syntax.LocalFile)
			}
			asked = true
		}
		if asked {
			all = append(all, syntax.Question{Variable: name, Text: v.Ask})
		}
	}
	return all
}

// sweep warns of instances of a block that are one step several times: nothing that a step computes differs by an axis of
// each.value, so a mean over such results is of one result. configs are those of steps, by key; without them the block's
// references decide. Every load says so, not lint alone.
func sweep(d *syntax.Collector, name string, forEach hclsyntax.Expression, body *hclsyntax.Body, instances []instance, configs map[string]artifacts.Digest) {
	used := map[string]bool{}
	all := usesEach(body, forEach, used)
	if len(instances) < 2 || all && configs == nil {
		return
	}
	if len(used) == 0 && !all {
		d.Warn(forEach.Range(), "Instances without a difference", fmt.Sprintf("Nothing in %s refers to each.key or each.value, so its %d instances are the same step.", name, len(instances)))
		return
	}
	groups, unused, n := map[string][]map[string]cty.Value{}, map[string]bool{}, 0
	for _, inst := range instances {
		config, ok := configs[inst.Key]
		if configs != nil && !ok {
			continue // its when is false
		}
		m := axes(inst.value)
		if m == nil {
			return
		}
		of := map[string]any{"": config.String()}
		for attr := range used {
			if v, ok := m["."+attr]; ok && configs == nil {
				of[attr] = language.JSON(v, func(r step.Ref) any { return []string{r.String()} })
			}
		}
		id, err := json.Marshal(of)
		if err != nil {
			return
		}
		group := append(groups[string(id)], m)
		groups[string(id)] = group
		n++
		for attr, v := range m {
			if was, ok := group[0][attr]; !(configs == nil && used[attr[1:]]) && !(ok && v.RawEquals(was)) {
				unused["each.value"+attr] = true
			}
		}
	}
	for _, g := range groups { // in a sweep all are as large; where two systems share an index, the others are alone
		if len(unused) == 0 || len(g)*len(groups) != n {
			return
		}
	}
	if len(unused) > 0 {
		d.Warn(forEach.Range(), "Unused axis", fmt.Sprintf("What %s computes does not depend on %s, so its %d instances are %s, and a mean over them is of one result several times. Use it in the block, such as in its arguments, or leave it out of the for_each.",
			name, strings.Join(syntax.Keys(unused), " or "), n, words.Count(len(groups), "step")))
	}
}

// axes are the parts of an element of for_each, by what follows each.value: .seed, or [1]; nil: none can be compared.
func axes(v cty.Value) map[string]cty.Value {
	if !v.IsWhollyKnown() || v.IsNull() || language.SensitiveIn(v) != "" {
		return nil
	}
	parts := map[string]cty.Value{}
	switch t := v.Type(); {
	case t.IsObjectType() || t.IsMapType():
		for name, part := range v.AsValueMap() {
			parts["."+name] = part
		}
	case t.IsTupleType() || t.IsListType():
		for i, part := range v.AsValueSlice() {
			parts[fmt.Sprintf("[%d]", i)] = part
		}
	default:
		return nil
	}
	return parts
}

// usesEach notes the attributes of each.value that a body refers to; true: the body uses all of each, or may.
func usesEach(b *hclsyntax.Body, forEach hclsyntax.Expression, used map[string]bool) bool {
	for _, a := range b.Attributes {
		if a.Expr == forEach {
			continue
		}
		for _, tr := range a.Expr.Variables() {
			if tr.RootName() != "each" {
				continue
			}
			attr := ""
			if path := language.Names(tr); len(path) > 2 && path[1] == "value" {
				attr = path[2]
			}
			if attr == "" {
				return true
			}
			used[attr] = true
		}
	}
	return slices.ContainsFunc(b.Blocks, func(inner *hclsyntax.Block) bool { return usesEach(inner.Body, forEach, used) })
}
