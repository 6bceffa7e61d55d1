package pipeline

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// The attributes of resources and retry blocks.
var (
	resourcesAttrs = []string{"cpus", "memory", "gpus", "time", queueAttr, "limits"}
	retryAttrs     = []string{"times", "memory"}
)

// Bounds of what a step can ask for.
const (
	maxCount = 1 << 20 // of processors, cards and steps at a time
	maxTries = 20
	maxGrow  = 16
)

// shapeResources notes a resources or retry block, each of which a block has once.
func (l *loader) shapeResources(b *block, inner *hclsyntax.Block) {
	of, attrs := &b.resources, resourcesAttrs
	if inner.Type == retryBlock {
		of, attrs = &b.retry, retryAttrs
	}
	switch {
	case b.typ == "claim":
		l.diags.error(inner.TypeRange, "Unknown block", "A claim does no work, so it needs no resources and no retry.")
	case *of != nil:
		l.diags.error(inner.TypeRange, "Block written twice", fmt.Sprintf("A block has one %s block.", inner.Type), Place{(*of).TypeRange, "the first one"})
	default:
		*of = inner
		l.labels(inner)
		l.attributes(inner, inner.Type, named(attrs...)...)
		l.noBlocks(inner, inner.Type+" has attributes only.")
	}
}

// asks reads the resources and retry blocks of an instance.
type asks struct {
	l    *loader
	inst *instance
	bad  bool // something is wrong, or not known yet
}

// resources is what an instance asks for, nil if nothing, and its queue, "" if it has none
// of its own; false if something is wrong with it.
func (l *loader) resources(b *block, inst *instance) (queue string, r *step.Resources, ok bool) {
	if b.resources == nil && b.retry == nil {
		return "", nil, true
	}
	a := &asks{l: l, inst: inst}
	var of step.Resources
	at := b.retry
	if b.resources != nil {
		at = b.resources
		queues := []string{string(step.CPU), string(step.GPU)}
		a.read(b.resources, queueAttr, cty.String, strings.Join(queues, " or "), func(v cty.Value) error {
			if queue = v.AsString(); !slices.Contains(queues, queue) {
				return errors.New("another one")
			}
			return nil
		})
		of.CPUs = a.whole(b.resources, "cpus", "a number of processors", 1, maxCount)
		of.GPUs = a.whole(b.resources, "gpus", "a number of cards", 0, maxCount)
		a.read(b.resources, "memory", cty.String, `a size with its unit, such as "12GB" or "12GiB"`, func(v cty.Value) (err error) {
			of.Memory, err = words.ParseSize(v.AsString())
			return err
		})
		a.read(b.resources, "time", cty.String, `a positive time, such as "90m" or "2h"`, func(v cty.Value) (err error) {
			if of.Time, err = time.ParseDuration(v.AsString()); err == nil && of.Time < time.Second {
				err = errors.New("less than a second")
			}
			return err
		})
		a.read(b.resources, "limits", cty.List(cty.String), `a list of names of the limits block, such as ["downloads"]`, func(v cty.Value) error {
			of.Limits = a.limits(b.resources, v)
			return nil
		})
	}
	if b.retry != nil {
		of.Tries = a.whole(b.retry, "times", "how often a failed program is tried again,", 1, maxTries)
		if b.retry.Body.Attributes["times"] == nil {
			a.bad = true
			l.diags.error(b.retry.TypeRange, "Missing attribute", "retry needs times: how often a failed program is tried again.")
		}
		a.read(b.retry, "memory", cty.Number, fmt.Sprintf("by how much memory is multiplied at each further try, from 1 to %d", maxGrow), func(v cty.Value) error {
			if of.Grow, _ = v.AsBigFloat().Float64(); of.Grow < 1 || of.Grow > maxGrow {
				return errors.New("out of bounds")
			}
			return nil
		})
		if of.Grow > 1 && of.Memory == 0 && !a.bad {
			a.bad = true
			l.diags.error(b.retry.Body.Attributes["memory"].NameRange, "Nothing to multiply", `retry { memory = … } multiplies what resources { memory = … } asks for, and that says nothing.`)
		}
	}
	if b.spec.Needs != "" && of.GPUs > 1 {
		a.bad = true
		l.diags.error(b.resources.Body.Attributes["gpus"].NameRange, "Too many cards", fmt.Sprintf("Kind %s computes on one card, which its attribute device names; gpus = 1 says no more than that.", b.kind))
	}
	if a.bad {
		return queue, nil, false
	}
	of.At = posOf(at.TypeRange).String()
	if r = &of; of.CPUs == 0 && of.Memory == 0 && of.GPUs == 0 && of.Time == 0 && len(of.Limits) == 0 && of.Tries == 0 {
		r = nil
	}
	return queue, r, true
}

// read gives an attribute's value, of that type, to use, whose error says that it is not of the form.
func (a *asks) read(b *hclsyntax.Block, name string, want cty.Type, form string, use func(cty.Value) error) {
	attr := b.Body.Attributes[name]
	if attr == nil {
		return
	}
	rng := attr.Expr.Range()
	v := a.l.open(a.l.value(attr.Expr, a.inst.ctx, a.inst), rng, a.inst)
	if !v.IsWhollyKnown() {
		a.bad = true
		return
	}
	if v.IsNull() {
		return
	}
	given := shownValue(v)
	v, err := convert.Convert(v, want)
	switch {
	case err != nil:
	case want.IsListType() && slices.ContainsFunc(v.AsValueSlice(), cty.Value.IsNull):
		err = errors.New("null")
	default:
		err = use(v)
	}
	if err != nil {
		a.bad = true
		a.l.diags.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong value", Detail: fmt.Sprintf("%s is %s, not %s.", name, form, given), Subject: &rng}, a.inst, given)
	}
}

// shownValue is a value for an error.
func shownValue(v cty.Value) string {
	switch v.Type() {
	case cty.String:
		return fmt.Sprintf("%q", words.Clip(v.AsString(), 60))
	case cty.Number:
		return v.AsBigFloat().Text('g', 10)
	}
	return v.Type().FriendlyName()
}

// whole is an attribute's whole number within bounds; 0 if there is none.
func (a *asks) whole(b *hclsyntax.Block, name, what string, least, most int64) (n int) {
	a.read(b, name, cty.Number, fmt.Sprintf("%s from %d to %d", what, least, most), func(v cty.Value) error {
		x, accuracy := v.AsBigFloat().Int64()
		if accuracy != big.Exact || x < least || x > most {
			return errors.New("out of bounds")
		}
		n = int(x)
		return nil
	})
	return n
}

// limits are the names of limits, as a plan has them.
func (a *asks) limits(b *hclsyntax.Block, v cty.Value) (names []string) {
	var declared hclsyntax.Attributes
	if l := a.l.singles[limitsBlock]; l != nil {
		declared = l.Body.Attributes
	}
	for _, e := range v.AsValueSlice() {
		name := e.AsString()
		if declared[name] == nil {
			a.bad = true
			a.l.diags.error(b.Body.Attributes["limits"].Expr.Range(), "Unknown limit",
				fmt.Sprintf("There is no limit %q. %s A limits block declares it: limits { %s = 2 }.", name, suggest(name, sortedKeys(declared), "limit"), name))
			continue
		}
		if name = a.l.qualified(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// declareLimits notes the limits block, which is read once variables have values.
func (l *loader) declareLimits(b *hclsyntax.Block) {
	if l.single(b) {
		l.noBlocks(b, "A limits block has attributes only: NAME = how many steps of a run may have it at a time.")
	}
}

// setLimits reads the limits block, where null is no limit. A module's names are its own.
func (l *loader) setLimits() {
	b := l.singles[limitsBlock]
	if b == nil {
		return
	}
	for _, at := range sortedAttributes(b.Body) {
		if !l.refersOnly(at.Expr, "var", "Not a constant", "A limits block can refer to variables only.") || !l.check(at.Expr, false) {
			continue
		}
		ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"var": l.variableObject()}, Functions: l.functions(folder(at.NameRange.Filename))}
		a := &asks{l: l, inst: &instance{ctx: ctx}}
		if n := a.whole(b, at.Name, "how many steps of a run may have it at a time,", 1, maxCount); n > 0 {
			l.allLimits[l.qualified(at.Name)] = n
		}
	}
}
