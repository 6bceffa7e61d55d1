package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// evaluate gives a node its value and, for a block, makes its steps. What it
// refers to has been evaluated.
func (l *loader) evaluate(n *node) {
	outer, own := l.Now, l.inherits(n)
	l.Now = own
	defer func() { l.Now = outer }()
	ctx := l.scope(n)
	switch {
	case n.module != nil:
		l.evaluateModule(n, ctx)
	case n.form != nil && n.form.Type == "environment":
		l.evaluateEnvironment(n, ctx)
		return
	case n.form != nil:
		l.evaluatePublish(n, ctx)
		return
	case n.block == nil:
		n.value = l.value(n.expr, ctx, nil)
	default:
		l.evaluateBlock(n, ctx)
		return
	}
	switch {
	case own.Any() && !n.value.IsWhollyKnown():
		n.awaits = own
	case own.Made:
		n.awaits = &language.Awaited{Made: true}
	}
}

// inherits is what the value of a node waits for because what it refers to does.
func (l *loader) inherits(n *node) *language.Awaited {
	own := language.Awaiting(l.inherited)
	for _, e := range n.deps {
		own.Add(e.to.awaits)
		if e.to.block != nil && e.bare && e.to.undecided && (n.block == nil || n.block.when == nil) {
			l.Diags.Error(e.rng, "Step that may be skipped", fmt.Sprintf("Whether %s runs is decided by its when, after a step has run. What reads its output takes it by try(%s.…, …), which passes over a step that was skipped, or has a when itself.", e.to.name, e.to.name))
		}
	}
	return own
}

func (l *loader) evaluateBlock(n *node, ctx *hcl.EvalContext) {
	b, own := n.block, l.Now
	instances, ok := l.instances(b.forEach, ctx)
	switch {
	case !ok && own.Any() && b.spec != nil:
		l.pend(n, own, ctx)
		return
	case ok && own.Made && len(instances) == 0 && !b.allowEmpty:
		l.Diags.Error(b.forEach.Range(), language.PiecesTitle, fmt.Sprintf("There is no piece: what the step before %s has made has nothing that matches. If that may be so, write allow_empty = true beside for_each.", n.name))
		return
	case ok && own.Made && len(instances) > language.MaxPieces:
		l.Diags.Error(b.forEach.Range(), language.PiecesTitle, fmt.Sprintf("This for_each has %d pieces; at most %d are allowed of those that a step makes. Let one step do the work of several.", len(instances), language.MaxPieces))
		return
	}
	if ok {
		ok = l.countSteps(b, len(instances))
	}
	if !ok || b.spec == nil {
		return
	}
	chained := refersTo(n, n)
	if chained {
		n.value = l.chain(n, instances)
		ctx = l.scope(n)
	}
	n.read = n.read || l.keepValues
	n.read = n.read && b.typ != "claim"     // nothing can refer to one
	values := map[string]cty.Value{}        // of what something refers to
	var configs map[string]artifacts.Digest // configurations, by key, if all are known
	if b.typ == "step" {
		configs = map[string]artifacts.Digest{}
	}
	for i := range instances {
		inst := &instances[i]
		l.Now = language.Awaiting(own) // as its block's references do
		l.place(inst, n, ctx)
		if !l.runs(n, inst) {
			inst.ctx = nil
			continue
		}
		inst.leftOut = len(l.leftOut(n)) > 0
		outputs, names := b.spec.Outputs, language.Leaves(nil)
		s, ok := l.step(b, inst)
		if !ok || s.Pending() {
			configs = nil
		} else if configs != nil {
			configs[inst.Key] = artifacts.Sum(s.Task.Config)
		}
		if ok {
			l.steps[n] = append(l.steps[n], s)
			if inst.undecided {
				own.Add(l.Now)
			}
			if n.read && !s.Pending() {
				outputs, names = b.spec.Declared(s.Task), l.leavesOf(s.Task, s.Pos, b.spec)
			}
		}
		inst.ctx = nil // of 100,000 they are a lot
		if n.read {
			values[inst.Key] = language.OutputsOf(b.spec, outputs, inst.address, names)
		}
	}
	l.sweep(n.name, b.forEach, b.Body, instances, configs)
	if chained {
		l.noCircle(n)
	}
	switch {
	case !n.read:
	case n.undecided:
		n.value, n.awaits = cty.DynamicVal, own
	case b.forEach == nil && len(values) == 0:
		n.value = cty.EmptyObjectVal // it is skipped
	case b.forEach == nil:
		n.value = values[""]
	case len(values) == 0:
		n.value = cty.MapValEmpty(language.StepType(b.spec))
	default:
		n.value = cty.MapVal(values)
	}
}

// place gives an instance of a block its address and what its expressions can see.
func (l *loader) place(inst *instance, n *node, ctx *hcl.EvalContext) {
	inst.address, inst.ctx = l.qualified(n.name), ctx
	if inst.Keyed {
		inst.address += address.Key(inst.Key)
		inst.ctx = ctx.NewChild()
		each := map[string]cty.Value{"key": cty.StringVal(inst.Key), "value": inst.value}
		if inst.value.Type() == language.ArtifactType {
			each["file"] = inst.value
		}
		inst.ctx.Variables = map[string]cty.Value{"each": cty.ObjectVal(each)}
	}
}

// countSteps refuses a block with which a pipeline has more steps than it may.
func (l *loader) countSteps(b *block, n int) bool {
	rng := syntax.Header(b.Block)
	if b.forEach != nil {
		rng = b.forEach.Range()
	}
	switch l.made.steps += n; {
	case n > maxInstances:
		l.Diags.Error(rng, "Too many steps", fmt.Sprintf("This for_each has %d keys; at most %d are allowed. Let one step do the work of several.", n, maxInstances))
	case l.made.steps > maxSteps && l.made.steps-n <= maxSteps:
		l.Diags.Error(rng, "Too many steps", fmt.Sprintf("With this block the pipeline has more than %d steps. Let one step do the work of several.", maxSteps))
	}
	return n <= maxInstances && l.made.steps <= maxSteps
}

// scope is what a node's expressions can see: only what they refer to, so that
// a scope costs no more than its node.
func (l *loader) scope(n *node) *hcl.EvalContext {
	values := map[string]map[string]cty.Value{"local": {}, "source": {}, "step": {}, "environment": {}, "table": {}, "figure": {}, "module": {}}
	kinds := map[string]map[string]cty.Value{}
	for _, e := range n.deps {
		root, name, _ := strings.Cut(e.to.name, ".")
		switch {
		case root == "claim": // nothing names one
		case root == "step":
			kind, name, _ := strings.Cut(name, ".")
			if kinds[kind] == nil {
				kinds[kind] = map[string]cty.Value{}
			}
			kinds[kind][name] = e.to.value
		case e.to.block != nil && n.block != nil && n.block.typ == "claim":
			values[root][name] = l.cellsOf(e.to)
		default:
			values[root][name] = e.to.value
		}
	}
	for kind, steps := range kinds {
		values["step"][kind] = cty.ObjectVal(steps)
	}
	ctx := &hcl.EvalContext{Functions: l.functions(n.dir), Variables: map[string]cty.Value{"var": l.variableObject()}}
	for root, of := range values {
		ctx.Variables[root] = cty.ObjectVal(of)
	}
	return ctx
}

// instance is one of the steps or modules that a block makes.
type instance struct {
	syntax.Of
	value   cty.Value
	address string
	ctx     *hcl.EvalContext

	undecided bool // whether it is skipped is not known yet
	leftOut   bool // of a claim: what it is about is left out
}

// of says of a diagnostic about an instance which one that is; nil of no instance.
func (i *instance) of() *syntax.Of {
	if i == nil {
		return nil
	}
	return &i.Of
}

// instances evaluates for_each. Without it there is one instance.
func (l *loader) instances(forEach hclsyntax.Expression, ctx *hcl.EvalContext) ([]instance, bool) {
	if forEach == nil {
		return []instance{{}}, true
	}
	v := l.open(l.value(forEach, ctx, nil), forEach.Range(), nil)
	fail := func(format string, args ...any) ([]instance, bool) {
		l.Diags.Error(forEach.Range(), "Wrong for_each", fmt.Sprintf(format, args...))
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
			list = append(list, instance{Of: syntax.Of{Key: k, Keyed: true}, value: m[k]})
		}
		return l.checkKeys(forEach, list)
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
			list = append(list, instance{Of: syntax.Of{Key: e.AsString(), Keyed: true}, value: e})
		}
		slices.SortStableFunc(list, func(a, b instance) int { return strings.Compare(a.Key, b.Key) })
		return l.checkKeys(forEach, list)
	}
	return fail("It is a %s. %s", t.FriendlyName(), forms)
}

const (
	maxInstances = 100_000 // of one for_each
	maxSteps     = 200_000 // of a pipeline
)
