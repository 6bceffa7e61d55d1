package evaluate

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// temporary evaluates the keep of an instance; not ok: it is wrong, or not known yet.
func (m *maker) temporary(inst *instance) (temporary, ok bool) {
	keep := m.n.Block.Keep
	if keep == nil {
		return false, true
	}
	v, ok := m.f.sees(inst.ctx, inst).Typed(keep, cty.Bool, "keep is true or false: the bytes of a step with keep = false leave the store when all that read them are done.")
	if temporary = ok && v.False(); temporary {
		m.f.Dropped[inst.address] = true
	}
	return temporary, ok
}

// fresh evaluates the fresh of an instance; not ok: it is wrong, or not known yet.
func (m *maker) fresh(inst *instance) (fresh time.Duration, ok bool) {
	e := m.n.Block.Fresh
	if e == nil {
		return 0, true
	}
	v, ok := m.f.sees(inst.ctx, inst).Typed(e, cty.String, "fresh is a time, such as \"24h\": a run that begins later rebuilds the result.")
	if !ok {
		return 0, false
	}
	fresh, err := time.ParseDuration(v.AsString())
	if err != nil || fresh < time.Second {
		m.f.Diags.Error(e.Range(), "Wrong value", fmt.Sprintf("fresh is a time of a second or more, such as \"90m\" or \"24h\", and not %q.", v.AsString()))
		return 0, false
	}
	return fresh, true
}

// resources reads what an instance asks for, nil: nothing, and its queue, "": the kind's; not ok: wrong, or not known yet.
func (c *stepReader) resources() (queue string, r *step.Resources, ok bool) {
	b, inst := c.b, c.inst
	if b.Resources == nil && b.Retry == nil {
		return "", nil, true
	}
	var of step.Resources
	at, ok := b.Retry, true
	if b.Resources != nil {
		at = b.Resources
		r := c.f.reader(at, inst)
		var x declare.ResourcesForm
		x, ok = schema.Read[declare.ResourcesForm](r)
		queue, of.CPUs, of.GPUs, of.Limits = x.Queue, x.CPUs, x.GPUs, c.limits(r, x.Limits)
		if x.Memory != nil {
			var err error
			if of.Memory, err = words.ParseSize(*x.Memory); err != nil {
				r.Problems(step.Problem{Path: "memory", Detail: fmt.Sprintf(`want a size with its unit, such as "12GB" or "12GiB", got %q`, *x.Memory)})
			}
		}
		if x.Time != nil {
			var err error
			if of.Time, err = time.ParseDuration(*x.Time); err != nil || of.Time < time.Second {
				r.Problems(step.Problem{Path: "time", Detail: fmt.Sprintf(`want a time of a second or more, such as "90m" or "2h", got %q`, *x.Time)})
			}
		}
		if b.Spec.Needs != "" && of.GPUs > 1 {
			r.Problems(step.Problem{Path: "gpus", Detail: fmt.Sprintf("kind %s computes on one card, which its attribute device names; gpus = 1 says no more than that", b.Kind)})
		}
		ok = ok && !r.Failed()
	}
	if b.Retry != nil {
		r := c.f.reader(b.Retry, inst)
		x, read := schema.Read[declare.RetryForm](r)
		of.Tries, of.Grow, of.GrowTime = x.Times, x.Memory, x.Time
		if of.Grow > 1 && of.Memory == 0 && ok {
			r.Problems(step.Problem{Path: "memory", Detail: "it multiplies what resources { memory = … } asks for, and that says nothing"})
		}
		if of.GrowTime > 1 && of.Time == 0 && ok {
			r.Problems(step.Problem{Path: "time", Detail: "it multiplies what resources { time = … } asks for, and that says nothing"})
		}
		ok = ok && read && !r.Failed()
	}
	if of.At = syntax.PosOf(at.TypeRange).String(); !ok || of.CPUs == 0 && of.Memory == 0 && of.GPUs == 0 && of.Time == 0 && len(of.Limits) == 0 && of.Tries == 0 {
		return queue, nil, ok
	}
	return queue, &of, true
}

// limits are the names of limits, as a plan has them.
func (c *stepReader) limits(r *schema.Reader, given []string) (names []string) {
	var declared hclsyntax.Attributes
	if b := c.f.decl.Once[declare.LimitsBlock]; b != nil {
		declared = b.Body.Attributes
	}
	for i, name := range given {
		if declared[name] == nil {
			at := []any{"limits", i}
			r.Fail(at, r.Locate(at), "Unknown limit", fmt.Sprintf("There is no limit %q. %s A limits block declares it: limits { %s = 2 }.", name, syntax.Suggest(name, syntax.Keys(declared), "limit"), name))
			continue
		}
		if name = c.f.qualified(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
