package evaluate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

const maxConfigs = 256 << 20 // bytes of all configurations

// step makes the step of one instance; false if something is wrong with it.
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
		c.Problems(err) // but those of what is not known
	}
	if f.Awaits().Any() && (c.Failed() || !queueOK || !checksOK || inst.undecided) {
		return pending(f.Awaits(), s, step.RefsIn(tree)), true
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
			f.Diags.Error(syntax.Header(b.Block), "Configurations too large", fmt.Sprintf("With this block the configurations of all steps have more than %d MiB. Let steps read large texts from an artifact, such as the output of a download step; their configurations then hold only its name.", maxConfigs>>20))
		}
		return Step{}, false
	}
	task.Checks = checks
	s.Task = task
	return s, true
}

// task is the task of a configuration. That of a claim about what is left out has its sentence alone.
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

// pending is the step of an instance, or of all of a block, that is not known yet. reads are artifacts in its configuration.
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
