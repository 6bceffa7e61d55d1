package pipeline

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

type resourcesForm struct {
	CPUs   int      `hcl:"cpus,optional" min:"1" max:"1048576" help:"Processors that it keeps busy; programs are told, by OMP_NUM_THREADS and others. Default: 1"`
	Memory *string  `hcl:"memory,optional" help:"Memory that it takes, such as \"12GB\": steps run side by side as long as they fit"`
	GPUs   int      `hcl:"gpus,optional" min:"0" max:"1024" help:"Cards that its program is given, by CUDA_VISIBLE_DEVICES"`
	Time   *string  `hcl:"time,optional" help:"The longest that it may take, such as \"2h\""`
	Queue  string   `hcl:"queue,optional" enum:"cpu,gpu" help:"Which workers run the step"`
	Limits []string `hcl:"limits,optional" help:"Names of the limits block: only so many steps of a run have one at a time"`
}

type retryForm struct {
	Times  int     `hcl:"times" min:"1" max:"20" help:"How often a failed program is tried again"`
	Memory float64 `hcl:"memory,optional" min:"1" max:"16" help:"By how much resources.memory is multiplied at each further try"`
}

// maxCount bounds how many steps may have a name at a time.
const maxCount = 1 << 20

// shapeResources notes a resources or retry block, each of which a block has once.
func (l *loader) shapeResources(b *block, inner *hclsyntax.Block) {
	of := &b.resources
	if inner.Type == retryBlock {
		of = &b.retry
	}
	switch {
	case b.typ == "claim":
		l.Diags.Error(inner.TypeRange, "Unknown block", "A claim does no work, so it needs no resources and no retry.")
	case *of != nil:
		l.Diags.Error(inner.TypeRange, "Block written twice", fmt.Sprintf("A block has one %s block.", inner.Type), syntax.Place{Range: (*of).TypeRange, Text: "the first one"})
	default:
		*of = inner
		l.labels(inner)
		l.shapeForm(inner)
	}
}

// resources is what an instance asks for, nil if nothing, and its queue, "" if it has none
// of its own; false if something is wrong with it, or not known yet.
func (l *loader) resources(b *block, inst *instance) (queue string, r *step.Resources, ok bool) {
	if b.resources == nil && b.retry == nil {
		return "", nil, true
	}
	var of step.Resources
	at, ok := b.retry, true
	if b.resources != nil {
		at = b.resources
		c := l.formReader(at, inst)
		var x resourcesForm
		x, ok = schema.Read[resourcesForm](c)
		queue, of.CPUs, of.GPUs, of.Limits = x.Queue, x.CPUs, x.GPUs, l.limitsOf(c, x.Limits)
		if x.Memory != nil {
			var err error
			if of.Memory, err = words.ParseSize(*x.Memory); err != nil {
				c.Problems(step.Problem{Path: "memory", Detail: fmt.Sprintf(`want a size with its unit, such as "12GB" or "12GiB", got %q`, *x.Memory)})
			}
		}
		if x.Time != nil {
			var err error
			if of.Time, err = time.ParseDuration(*x.Time); err != nil || of.Time < time.Second {
				c.Problems(step.Problem{Path: "time", Detail: fmt.Sprintf(`want a time of a second or more, such as "90m" or "2h", got %q`, *x.Time)})
			}
		}
		if b.spec.Needs != "" && of.GPUs > 1 {
			c.Problems(step.Problem{Path: "gpus", Detail: fmt.Sprintf("kind %s computes on one card, which its attribute device names; gpus = 1 says no more than that", b.kind)})
		}
		ok = ok && !c.Failed()
	}
	if b.retry != nil {
		c := l.formReader(b.retry, inst)
		x, read := schema.Read[retryForm](c)
		of.Tries, of.Grow = x.Times, x.Memory
		if of.Grow > 1 && of.Memory == 0 && ok {
			c.Problems(step.Problem{Path: "memory", Detail: "it multiplies what resources { memory = … } asks for, and that says nothing"})
		}
		ok = ok && read && !c.Failed()
	}
	if of.At = syntax.PosOf(at.TypeRange).String(); !ok || of.CPUs == 0 && of.Memory == 0 && of.GPUs == 0 && of.Time == 0 && len(of.Limits) == 0 && of.Tries == 0 {
		return queue, nil, ok
	}
	return queue, &of, true
}

// limits are the names of limits, as a plan has them.
func (l *loader) limitsOf(c *schema.Reader, given []string) (names []string) {
	var declared hclsyntax.Attributes
	if b := l.singles[limitsBlock]; b != nil {
		declared = b.Body.Attributes
	}
	for i, name := range given {
		if declared[name] == nil {
			at := []any{"limits", i}
			c.Fail(at, c.Locate(at), "Unknown limit", fmt.Sprintf("There is no limit %q. %s A limits block declares it: limits { %s = 2 }.", name, syntax.Suggest(name, syntax.Keys(declared), "limit"), name))
			continue
		}
		if name = l.qualified(name); !slices.Contains(names, name) {
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
	l.refersWithin(b, b.Body, "var")
	ctx := l.varContext(b.TypeRange.Filename)
	for _, a := range syntax.Attributes(b.Body) {
		v := l.open(l.value(a.Expr, ctx, nil), a.Expr.Range(), nil)
		if !v.IsKnown() || v.IsNull() {
			continue
		}
		n, accuracy := int64(0), big.Exact
		if v.Type() == cty.Number {
			n, accuracy = v.AsBigFloat().Int64()
		}
		if accuracy != big.Exact || n < 1 || n > maxCount {
			l.Diags.Error(a.Expr.Range(), "Wrong value", fmt.Sprintf("%s is how many steps of a run may have it at a time, from 1 to %d.", a.Name, maxCount))
			continue
		}
		l.allLimits[l.qualified(a.Name)] = int(n)
	}
}
