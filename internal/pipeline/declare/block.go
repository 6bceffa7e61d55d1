package declare

import (
	"fmt"
	"math"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

func (d *declarer) declareBlock(t *Type, hb *hclsyntax.Block) {
	if !labels(d.Diags, hb) {
		return
	}
	b, kindRange := &Block{Block: hb, Kind: t.KindOf(hb.Labels), Name: hb.Labels[len(hb.Labels)-1], Owner: OwnerOf(hb)}, hb.TypeRange
	if t.Kind == "" {
		kindRange = hb.LabelRanges[0]
	}
	name, _ := NameOf(hb)
	n := &Node{Name: name, Range: hb.DefRange(), Block: b}
	if !d.add(n) {
		return
	}
	d.m.Nodes = append(d.m.Nodes, n)
	b.Spec = d.kind(b, kindRange)
	d.shape(b)
	b.Places = placesIn(hb.Body)
}

// kind looks up a block's kind, and reports a kind that such a block cannot have.
func (d *declarer) kind(b *Block, rng hcl.Range) *step.Spec {
	s := d.Registry.Lookup(b.Kind)
	switch {
	case s == nil || s.Hidden:
		kinds := lists.Filter(d.Registry.Kinds(), func(k step.Spec) bool { return !k.Hidden && !k.Block })
		names := slices.Sorted(slices.Values(lists.Map(kinds, func(k step.Spec) string { return k.Name })))
		detail := fmt.Sprintf("There is no kind %q. %s", b.Kind, syntax.Suggest(b.Kind, names, "kind"))
		if Of(b.Type).Kind != "" {
			detail = fmt.Sprintf("This build has no kind %q, which a %s block stands for.", b.Kind, b.Type)
		}
		d.Diags.Error(rng, "Unknown step kind", detail+" `redsi kinds` lists them, with what each does.")
		return nil
	case s.Block && Of(b.Type).Kind == "":
		if t := OfKind(b.Kind); t != nil {
			d.Diags.Error(rng, "Not a step", fmt.Sprintf("This is written %s %q { … }.", t.Name, b.Name))
		}
		return nil
	}
	return s
}

// shape checks the names and forms in a block's body, which all instances share. Evaluation checks the values.
func (d *declarer) shape(b *Block) {
	if a := b.Body.Attributes[forEachAttr]; a != nil {
		b.ForEach = a.Expr
	}
	d.shapeFlags(b)
	for _, inner := range b.Body.Blocks {
		switch {
		case b.Spec != nil && schema.AttrOf(b.Spec.Attrs, inner.Type) != nil: // the kind's own
		case inner.Type == checkBlock && b.Kind != ClaimKind:
			d.shapeCheck(b, inner)
		case inner.Type == resourcesBlock || inner.Type == retryBlock:
			d.shapeResources(b, inner)
		}
	}
	if b.Spec != nil {
		schema.Shape(d.Diags, b.Block, b.Spec.Attrs, common, b.Owner, d.m.Typos)
	}
}

// shapeFlags notes when, otherwise, allow_empty, on_failure and keep, unless they are attributes of the kind.
func (d *declarer) shapeFlags(b *Block) {
	flag := func(name string) *hclsyntax.Attribute {
		if b.Spec != nil && schema.AttrOf(b.Spec.Attrs, name) != nil {
			return nil
		}
		return b.Body.Attributes[name]
	}
	take := func(to *hclsyntax.Expression, name string, misplaced bool, why string, args ...any) {
		if a := flag(name); a != nil && misplaced {
			d.Diags.Error(a.NameRange, "Not an attribute", fmt.Sprintf(why, args...))
		} else if a != nil {
			*to = a.Expr
		}
	}
	take(&b.When, whenAttr, b.Type == "claim", "A claim does no work, so there is nothing to skip.")
	take(&b.Otherwise, otherwiseAttr, b.When == nil, "otherwise says why a block whose when is false is left out: it stands beside a when.")
	take(&b.Keep, keepAttr, b.Type != "step", "keep stands in a step whose outputs only other steps read; what a %s leaves is kept.", b.Type)
	if b.Type == "step" && b.Spec != nil && b.Spec.Splits() {
		take(&b.Fresh, freshAttr, true, "Kind %q is cut into parts, whose results count as long as they are there: fresh stands in the step that fetches what it reads.", b.Kind)
	} else {
		take(&b.Fresh, freshAttr, b.Type != "step", "fresh stands in a step that looks at the outside world; a %s does not.", b.Type)
	}
	if a := flag(AllowEmptyAttr); a != nil {
		v, ds := a.Expr.Value(nil)
		switch {
		case ds.HasErrors() || v.IsNull() || v.Type() != cty.Bool:
			d.Diags.Error(a.Expr.Range(), "Wrong type", "allow_empty is true or false, as it is written.")
		case b.ForEach == nil:
			d.Diags.Error(a.NameRange, "Not an attribute", "allow_empty stands beside a for_each over what a step leaves: there may be no piece.")
		default:
			b.AllowEmpty = v.True()
		}
	}
	d.shapeOnFailure(b, flag(OnFailureAttr), flag(AtLeastAttr))
}

// shapeOnFailure notes how many of a block's steps must have results for what goes on without the others.
func (d *declarer) shapeOnFailure(b *Block, on, least *hclsyntax.Attribute) {
	given := func(a *hclsyntax.Attribute, is cty.Type) (cty.Value, bool) {
		v, ds := a.Expr.Value(nil)
		return v, !ds.HasErrors() && !v.IsNull() && v.Type() == is
	}
	if on != nil {
		switch v, ok := given(on, cty.String); {
		case !ok || v.AsString() != leaveOut:
			d.Diags.Error(on.Expr.Range(), "Wrong value", fmt.Sprintf("on_failure is %q, as it is written. Without it, a step that fails stops all that needs it.", leaveOut))
		case b.ForEach == nil || b.Type != "step":
			d.Diags.Error(on.NameRange, "Not an attribute", "on_failure stands beside the for_each of a step: what reads several of its steps goes on without the steps that fail.")
		default:
			b.AtLeast = 1
		}
	}
	if least == nil {
		return
	}
	v, ok := given(least, cty.Number)
	n := 0.0
	if ok {
		n, _ = v.AsBigFloat().Float64()
	}
	switch {
	case on == nil:
		d.Diags.Error(least.NameRange, "Not an attribute", fmt.Sprintf("at_least stands beside on_failure = %q.", leaveOut))
	case !ok || n <= 0 || n > 1 && n != math.Trunc(n):
		d.Diags.Error(least.Expr.Range(), "Wrong value", "at_least is a share above 0 and below 1, such as 0.95, or an integer from 1 on, as it is written.")
	default:
		b.AtLeast = n
	}
}

func (d *declarer) shapeCheck(b *Block, inner *hclsyntax.Block) {
	if b.Type != "step" {
		d.Diags.Error(inner.TypeRange, "Unknown block", fmt.Sprintf("A check belongs to a step. What is expected of a %s is written in expect and claim blocks.", b.Type))
		return
	}
	if len(inner.Labels) != 1 || inner.Labels[0] == "" {
		d.Diags.Error(inner.DefRange(), "Wrong labels", `A check is written check "WHAT IT CHECKS" { … }.`)
		return
	}
	d.shapeForm(inner)
	b.Checks = append(b.Checks, inner)
}

// shapeResources notes a resources or retry block, each of which a block has once.
func (d *declarer) shapeResources(b *Block, inner *hclsyntax.Block) {
	of := &b.Resources
	if inner.Type == retryBlock {
		of = &b.Retry
	}
	switch {
	case b.Type == "claim":
		d.Diags.Error(inner.TypeRange, "Unknown block", "A claim does no work, so it needs no resources and no retry.")
	case *of != nil:
		d.Diags.Error(inner.TypeRange, "Block written twice", fmt.Sprintf("A block has one %s block.", inner.Type), syntax.Place{Range: (*of).TypeRange, Text: "the first one"})
	default:
		*of = inner
		labels(d.Diags, inner)
		d.shapeForm(inner)
	}
}
