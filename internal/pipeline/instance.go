package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// checkKeys refuses keys that cannot be in an address.
func (l *loader) checkKeys(forEach hclsyntax.Expression, list []instance) ([]instance, bool) {
	for i, inst := range list {
		wrong := ""
		switch {
		case inst.Key == "":
			wrong = "It has an empty key."
		case len(inst.Key) > maxName:
			wrong = fmt.Sprintf("Its key %.40q… has %d bytes; at most %d are allowed. Use a map with a short name as key and the text as value.", inst.Key, len(inst.Key), maxName)
		case strings.ContainsFunc(inst.Key, unicode.IsControl):
			wrong = fmt.Sprintf("Its key %q has a control character.", inst.Key)
		case i > 0 && list[i-1].Key == inst.Key:
			wrong = fmt.Sprintf("It has the key %q twice; distinct() leaves one of each.", inst.Key)
		default:
			continue
		}
		l.Diags.Error(forEach.Range(), "Wrong for_each", wrong)
		return nil, false
	}
	return list, true
}

// step makes the step of one instance; false if something is wrong with it.
func (l *loader) step(b *block, inst *instance) (Step, bool) {
	if l.made.config > maxConfigs || l.Ended() { // reported
		return Step{}, false
	}
	c := l.stepReader(b, inst)
	attrs := b.spec.Attrs
	if inst.leftOut {
		attrs = slices.DeleteFunc(slices.Clone(attrs), func(a step.Attr) bool { return a.Name == expectBlock })
	}
	tree := c.Body(b.Body, attrs, nil)
	if err := b.spec.WithCode(tree, l.Code(syntax.Dir(b.TypeRange.Filename))); err != nil {
		c.Problems(err)
	}
	queue, resources, queueOK := l.resources(b, inst)
	temporary, keepOK := l.temporary(b, inst)
	queueOK = queueOK && keepOK
	checks, checksOK := c.checks(tree)
	s := l.stepOf(b, inst.address)
	s.Key, s.Queue, s.Resources, s.Temporary = inst.Key, queue, resources, temporary
	task, err := c.task(tree)
	if err != nil {
		c.Problems(err) // but those of what is not known
	}
	if l.Now.Any() && (c.Failed() || !queueOK || !checksOK || inst.undecided) {
		return pending(l.Now, s, step.RefsIn(tree)), true
	}
	if err == nil && !inst.leftOut {
		c.fields(tree)
		c.cells(tree)
	}
	if err != nil || c.Failed() || !queueOK || !checksOK {
		return Step{}, false
	}
	if l.Lint && !inst.leftOut {
		c.lint(task)
	}
	before := l.made.config
	if l.made.config += int64(len(task.Config)); l.made.config > maxConfigs {
		if before <= maxConfigs {
			l.Diags.Error(syntax.Header(b.Block), "Configurations too large", fmt.Sprintf("With this block the configurations of all steps have more than %d MiB. Let steps read large texts from an artifact, such as the output of a download step; their configurations then hold only its name.", maxConfigs>>20))
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
	return step.Task{Kind: c.b.kind, Config: config}, err
}

// stepOf is the step of a block with an address, without what an instance says of it.
func (l *loader) stepOf(b *block, address string) Step {
	return Step{Address: address, Module: l.address, Block: b.typ, Kind: b.kind, Name: b.name, Task: step.Task{Kind: b.kind},
		Pos: syntax.PosOf(b.TypeRange), AttrPos: b.places()}
}

// places are those of the block's attributes and inner blocks, by name: one map for all
// instances.
func (b *block) places() map[string]syntax.Pos {
	if b.attrPos != nil {
		return b.attrPos
	}
	b.attrPos = map[string]syntax.Pos{}
	expects := 0
	for name, a := range b.Body.Attributes {
		b.attrPos[name] = syntax.PosOf(a.NameRange)
	}
	for _, inner := range b.Body.Blocks {
		at := syntax.PosOf(inner.TypeRange)
		if _, ok := b.attrPos[inner.Type]; !ok {
			b.attrPos[inner.Type] = at
		}
		if inner.Type == expectBlock {
			b.attrPos[fmt.Sprintf("%s[%d]", expectBlock, expects)] = at
			expects++
		}
	}
	return b.attrPos
}

// pending describes the step of an instance, or the one for all instances of a block, that
// is not known yet. reads are the artifacts that are known to be in its configuration.
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

const maxConfigs = 256 << 20 // bytes of all configurations
