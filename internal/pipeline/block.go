package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

func (d *declarer) declareBlock(t *Type, hb *hclsyntax.Block) {
	if t.Kind == ClaimKind && !claimName(d.Diags, hb) || t.Kind != ClaimKind && !labels(d.Diags, hb, t.Labels...) {
		return
	}
	b, kindRange := &block{Block: hb, typ: t.Name, kind: t.Kind, name: hb.Labels[len(hb.Labels)-1], owner: ownerOf(hb)}, hb.TypeRange
	if t.Kind == "" {
		b.kind, kindRange = hb.Labels[0], hb.LabelRanges[0]
	}
	n := &node{name: b.address(), rng: syntax.Header(hb), block: b}
	if !d.add(n) {
		return
	}
	d.nodes = append(d.nodes, n)
	b.spec = d.kind(b, kindRange)
	d.shape(b)
	b.places = placesIn(hb.Body)
}

// kind looks up a block's kind and reports one that cannot be used so.
func (d *declarer) kind(b *block, rng hcl.Range) *step.Spec {
	s := d.Registry.Lookup(b.kind)
	switch {
	case s == nil || s.Hidden:
		var names []string
		for _, k := range d.Registry.Kinds() {
			if !k.Hidden && !k.Block {
				names = append(names, k.Name)
			}
		}
		slices.Sort(names)
		detail := fmt.Sprintf("There is no kind %q. %s", b.kind, syntax.Suggest(b.kind, names, "kind"))
		if Of(b.typ).Kind != "" {
			detail = fmt.Sprintf("This build has no kind %q, which a %s block stands for.", b.kind, b.typ)
		}
		d.Diags.Error(rng, "Unknown step kind", detail+" See redsi kinds.")
		return nil
	case s.Block && Of(b.typ).Kind == "":
		if t := OfKind(b.kind); t != nil {
			d.Diags.Error(rng, "Not a step", fmt.Sprintf("This is written %s %q { … }.", t.Name, b.name))
		}
		return nil
	}
	return s
}

// shape checks the names and forms in a block's body, which are the same for
// all of its instances. Values are checked when they are known.
func (d *declarer) shape(b *block) {
	if a := b.Body.Attributes[forEachAttr]; a != nil {
		b.forEach = a.Expr
	}
	d.shapeFlags(b)
	for _, inner := range b.Body.Blocks {
		switch {
		case b.spec != nil && schema.AttrOf(b.spec.Attrs, inner.Type) != nil: // the kind's own
		case inner.Type == checkBlock && b.kind != ClaimKind:
			d.shapeCheck(b, inner)
		case inner.Type == resourcesBlock || inner.Type == retryBlock:
			d.shapeResources(b, inner)
		}
	}
	if b.spec != nil {
		schema.Shape(d.Diags, b.Block, b.spec.Attrs, Common, b.owner, d.typos)
	}
}

// shapeFlags notes when, otherwise, allow_empty and keep, unless they are attributes of the kind.
func (d *declarer) shapeFlags(b *block) {
	flag := func(name string) *hclsyntax.Attribute {
		if b.spec != nil && schema.AttrOf(b.spec.Attrs, name) != nil {
			return nil
		}
		return b.Body.Attributes[name]
	}
	if a := flag(whenAttr); a != nil && b.typ == "claim" {
		d.Diags.Error(a.NameRange, "Not an attribute", "A claim does no work, so there is nothing to skip.")
	} else if a != nil {
		b.when = a.Expr
	}
	if a := flag(otherwiseAttr); a != nil && b.when == nil {
		d.Diags.Error(a.NameRange, "Not an attribute", "otherwise says why a block whose when is false is left out: it stands beside a when.")
	} else if a != nil {
		b.otherwise = a.Expr
	}
	if a := flag(keepAttr); a != nil && b.typ != "step" {
		d.Diags.Error(a.NameRange, "Not an attribute", fmt.Sprintf("keep stands in a step whose outputs only other steps read; what a %s makes stays.", b.typ))
	} else if a != nil {
		b.keep = a.Expr
	}
	if a := flag(allowEmptyAttr); a != nil {
		v, ds := a.Expr.Value(nil)
		switch {
		case ds.HasErrors() || v.IsNull() || v.Type() != cty.Bool:
			d.Diags.Error(a.Expr.Range(), "Wrong type", "allow_empty is true or false, as it is written.")
		case b.forEach == nil:
			d.Diags.Error(a.NameRange, "Not an attribute", "allow_empty stands beside a for_each over what a step makes: there may be no piece.")
		default:
			b.allowEmpty = v.True()
		}
	}
}

// shapeCheck checks the names in a check block.
func (d *declarer) shapeCheck(b *block, inner *hclsyntax.Block) {
	if b.typ != "step" {
		d.Diags.Error(inner.TypeRange, "Unknown block", fmt.Sprintf("A check belongs to a step. What is expected of a %s is written in expect and claim blocks.", b.typ))
		return
	}
	if len(inner.Labels) != 1 || inner.Labels[0] == "" {
		d.Diags.Error(syntax.Header(inner), "Wrong labels", `A check is written check "WHAT IT CHECKS" { … }.`)
		return
	}
	d.shapeForm(inner)
	b.checks = append(b.checks, inner)
}

// shapeResources notes a resources or retry block, each of which a block has once.
func (d *declarer) shapeResources(b *block, inner *hclsyntax.Block) {
	of := &b.resources
	if inner.Type == retryBlock {
		of = &b.retry
	}
	switch {
	case b.typ == "claim":
		d.Diags.Error(inner.TypeRange, "Unknown block", "A claim does no work, so it needs no resources and no retry.")
	case *of != nil:
		d.Diags.Error(inner.TypeRange, "Block written twice", fmt.Sprintf("A block has one %s block.", inner.Type), syntax.Place{Range: (*of).TypeRange, Text: "the first one"})
	default:
		*of = inner
		labels(d.Diags, inner)
		d.shapeForm(inner)
	}
}

// claimName checks a claim's label, which is a name for people.
func claimName(d *syntax.Collector, b *hclsyntax.Block) bool {
	if len(b.Labels) != 1 {
		d.Error(syntax.Header(b), "Wrong labels", `A claim block is written claim "NAME" { … }.`)
		return false
	}
	name := b.Labels[0]
	if strings.TrimSpace(name) == "" || len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		d.Error(b.LabelRanges[0], "Not a name", fmt.Sprintf("A claim's name is a few words on one line, at most %d bytes.", maxName))
		return false
	}
	return true
}
