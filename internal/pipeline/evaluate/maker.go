package evaluate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/link"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

func (m *maker) block(ctx *hcl.EvalContext) {
	f, n, st, b := m.f, m.n, m.st, m.n.Block
	instances, ok := instances(f.sees(ctx, nil), b.ForEach)
	switch {
	case !ok && m.own.Any() && b.Spec != nil:
		m.pend(ctx)
		return
	case ok && m.own.Made && len(instances) == 0 && !b.AllowEmpty:
		f.Diags.Error(b.ForEach.Range(), language.PiecesTitle, fmt.Sprintf("There is no piece: nothing that the step before %s has left matches. If that may be so, write allow_empty = true beside for_each.", n.Name))
		return
	case ok && m.own.Made && len(instances) > language.MaxPieces:
		f.Diags.Error(b.ForEach.Range(), language.PiecesTitle, fmt.Sprintf("This for_each has %d pieces; over what a step leaves, at most %d are allowed. Let one step do the work of several.", len(instances), language.MaxPieces))
		return
	}
	if ok {
		ok = f.countSteps(b, len(instances))
	}
	if !ok || b.Spec == nil {
		return
	}
	chained := f.links.RefersTo(n, n)
	if chained {
		st.value = m.chain(instances)
		ctx = f.scope(n, f.links.Edges[n.Index])
	}
	st.read = st.read || f.KeepValues
	st.read = st.read && b.Type != "claim"  // nothing can refer to one
	values := map[string]cty.Value{}        // of what something refers to
	var configs map[string]artifacts.Digest // configurations, by key; nil if a step is pending or wrong
	if b.Type == "step" && slices.ContainsFunc(instances, func(inst instance) bool { return axes(inst.value) != nil }) {
		configs = map[string]artifacts.Digest{}
	}
	st.steps = make([]Step, 0, len(instances))
	for i := range instances {
		inst := &instances[i]
		f.place(inst, n, ctx)
		own := language.Awaiting(m.own) // as its block's references do
		back := f.Await(own)
		if m.runs(inst) {
			inst.leftOut = len(f.leftOut(n)) > 0
			s, ok := m.step(inst)
			if !ok || s.Pending() {
				configs = nil
			} else if configs != nil {
				configs[inst.Key] = artifacts.Sum(s.Task.Config)
			}
			if ok {
				st.steps = append(st.steps, s)
				if inst.undecided {
					m.own.Add(own)
				}
			}
			if st.read {
				values[inst.Key] = m.valueOf(inst, s, ok)
			}
		}
		back()
		inst.ctx = nil // of 100,000 they are a lot
	}
	sweep(f.Diags, n.Name, b.ForEach, b.Body, instances, configs)
	if chained {
		m.reportCycles()
	}
	switch {
	case !st.read:
	case st.undecided:
		st.value, st.awaits = cty.DynamicVal, m.own
	case b.ForEach == nil && len(values) == 0:
		st.value = cty.EmptyObjectVal // it is skipped
	case b.ForEach == nil:
		st.value = values[""]
	case len(values) == 0:
		st.value = cty.MapValEmpty(language.StepType(b.Spec))
	default:
		st.value = cty.MapVal(values)
	}
}

// valueOf is what references to an instance give; ok is false of a step that is wrong.
func (m *maker) valueOf(inst *instance, s Step, ok bool) cty.Value {
	spec, task, at := m.n.Block.Spec, s.Task, s.Pos
	if !ok || s.Pending() {
		return language.OutputsOf(spec, spec.Outputs, inst.address, nil)
	}
	return language.OutputsOf(spec, spec.Declared(task), inst.address, func(output string) ([]string, bool) {
		if path, ignore, isSource := SourceOf(task, at); isSource {
			return m.f.Files.Folder(path, ignore)
		}
		return spec.Leaves(task, output)
	})
}

// pend lets one step stand for all of a block while it is open which there are, and reports what is wrong with each.
func (m *maker) pend(ctx *hcl.EvalContext) {
	each := instance{address: m.f.qualified(m.n.Name) + address.Any, ctx: ctx.NewChild(), undecided: true}
	each.ctx.Variables = map[string]cty.Value{"each": cty.DynamicVal}
	back := m.f.Await(language.Awaiting(m.own)) // what one of them awaits is for it to say
	m.step(&each)
	back()
	s := pending(m.own, m.f.stepOf(m.n.Block, each.address), nil)
	m.st.steps = []Step{s}
	m.st.awaits = language.Awaiting(m.own)
	m.st.awaits.On[s.Address] = true
}

// chain is what the instances of a block see of each other.
func (m *maker) chain(instances []instance) cty.Value {
	b := m.n.Block
	if b.When != nil {
		m.f.Diags.Error(b.When.Range(), "Chain with a when", fmt.Sprintf("Instances of %s refer to each other, so none of them can be skipped. Leave the element out of its for_each.", m.n.Name))
	}
	values := make(map[string]cty.Value, len(instances))
	for _, inst := range instances {
		m.f.place(&inst, m.n, nil)
		values[inst.Key] = language.OutputsOf(b.Spec, b.Spec.Outputs, inst.address, nil)
	}
	if len(values) == 0 {
		return cty.MapValEmpty(language.StepType(b.Spec))
	}
	return cty.MapVal(values)
}

// reportCycles reports instances that refer to each other in a circle.
func (m *maker) reportCycles() {
	all, byAddress := make([]int, len(m.st.steps)), map[string]int{}
	for i, s := range m.st.steps {
		all[i], byAddress[s.Address] = i, i
	}
	refs := func(i int) (to []int) {
		refs, _ := m.st.steps[i].Task.Refs() // this program wrote the task
		for _, ref := range refs {
			if j, own := byAddress[ref.Step]; own {
				to = append(to, j)
			}
		}
		return to
	}
	var names []string
	for _, group := range link.Groups(all, refs) {
		for _, i := range group {
			if len(group) > 1 || slices.Contains(refs(i), i) {
				names = append(names, m.st.steps[i].Address)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	m.f.Diags.Error(m.n.Range, "References in a circle", fmt.Sprintf("%s: each of these refers to itself, directly or through others, so none can come first. Let an instance refer only to instances before it.", words.And(names, 5)))
}

// countSteps refuses a block that takes the pipeline beyond the most steps that it may have.
func (r *run) countSteps(b *declare.Block, n int) bool {
	rng := b.DefRange()
	if b.ForEach != nil {
		rng = b.ForEach.Range()
	}
	switch r.steps += n; {
	case n > maxInstances:
		r.Diags.Error(rng, "Too many steps", fmt.Sprintf("This for_each has %d keys; at most %d are allowed. Let one step do the work of several.", n, maxInstances))
	case r.steps > maxSteps && r.steps-n <= maxSteps:
		r.Diags.Error(rng, "Too many steps", fmt.Sprintf("With this block the pipeline has more than %d steps. Let one step do the work of several.", maxSteps))
	}
	return n <= maxInstances && r.steps <= maxSteps
}

const maxSteps = 200_000 // of a pipeline

const maxConfigs = 256 << 20 // bytes of all configurations

// step is the step of one instance; false: something is wrong with it.
func (m *maker) step(inst *instance) (Step, bool) {
	f, b := m.f, m.n.Block
	if f.config > maxConfigs || f.Ended() { // reported
		return Step{}, false
	}
	c := &stepReader{f.readerBy(b.Block, b.Spec, b.Owner, inst), f, b, inst}
	attrs := b.Spec.Attrs
	if inst.leftOut {
		attrs = slices.DeleteFunc(slices.Clone(attrs), func(a step.Attr) bool { return a.Name == declare.ExpectBlock })
	}
	tree := c.Body(b.Body, attrs, nil)
	if err := b.Spec.WithCode(tree, f.Code(syntax.Dir(b.TypeRange.Filename))); err != nil {
		c.Problems(err)
	}
	queue, resources, queueOK := c.resources()
	temporary, keepOK := m.temporary(inst)
	fresh, freshOK := m.fresh(inst)
	queueOK = queueOK && keepOK && freshOK
	checks, checksOK := c.checks(tree)
	s := f.stepOf(b, inst.address)
	s.Key, s.Queue, s.Resources, s.Temporary, s.Fresh = inst.Key, queue, resources, temporary, fresh
	task, err := c.task(tree)
	if err != nil {
		c.Problems(err) // unless about a value that is not known yet
	}
	if f.Awaits.Any() && (c.Failed() || !queueOK || !checksOK || inst.undecided) {
		return pending(f.Awaits, s, step.RefsIn(tree)), true
	}
	if err == nil && !inst.leftOut {
		c.fields(tree)
		c.cells(tree)
	}
	if err != nil || c.Failed() || !queueOK || !checksOK {
		return Step{}, false
	}
	if f.Lint && !inst.leftOut {
		c.lint(task)
	}
	before := f.config
	if f.config += int64(len(task.Config)); f.config > maxConfigs {
		if before <= maxConfigs {
			f.Diags.Error(b.DefRange(), "Configurations too large", fmt.Sprintf("With this block the configurations of all steps have more than %d MiB. Let steps read large texts from an artifact, such as the output of a download step; their configurations then hold only its name.", maxConfigs>>20))
		}
		return Step{}, false
	}
	task.Checks = checks
	s.Task = task
	return s, true
}

// task is the task of a configuration. A claim about what is left out keeps only its sentence.
func (c *stepReader) task(tree map[string]any) (step.Task, error) {
	if _, said := tree["text"].(string); !c.inst.leftOut || !said {
		return step.NewTask(c.Spec, tree)
	}
	config, err := json.Marshal(tree)
	return step.Task{Kind: c.b.Kind, Config: config}, err
}

// stepOf is the step of a block with an address, without what an instance says of it.
func (f *frame) stepOf(b *declare.Block, address string) Step {
	return Step{Address: address, Module: f.address, Block: b.Type, Kind: b.Kind, Name: b.Name, Task: step.Task{Kind: b.Kind}, Asks: Asks{AtLeast: b.AtLeast},
		Pos: syntax.PosOf(b.TypeRange), AttrPos: b.Places}
}

// pending is an instance, or all of a block, as a step that awaits what a does. reads are artifacts in its configuration.
func pending(a *language.Awaited, s Step, reads []step.Ref) Step {
	s.Task.Config = json.RawMessage(`{}`)
	s.Awaits = slices.SortedFunc(maps.Keys(a.Refs), func(x, y step.Ref) int { return strings.Compare(x.String(), y.String()) })
	after := maps.Clone(a.On)
	for _, ref := range reads {
		after[ref.Step] = true
	}
	delete(after, s.Address)
	s.After = slices.Sorted(maps.Keys(after))
	return s
}
