package pipeline

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

func (l *loader) declareBlock(t *Type, hb *hclsyntax.Block) {
	if t.Kind == ClaimKind && !l.claimName(hb) || t.Kind != ClaimKind && !l.labels(hb, t.Labels...) {
		return
	}
	b, kindRange := &block{Block: hb, typ: t.Name, kind: t.Kind, name: hb.Labels[len(hb.Labels)-1], owner: ownerOf(hb)}, hb.TypeRange
	if t.Kind == "" {
		b.kind, kindRange = hb.Labels[0], hb.LabelRanges[0]
	}
	n := &node{name: b.address(), rng: syntax.Header(hb), block: b}
	if !l.add(n) {
		return
	}
	l.nodes = append(l.nodes, n)
	b.spec = l.kind(b, kindRange)
	l.shape(b)
	b.places = placesIn(hb.Body)
}

// kind looks up a block's kind and reports one that cannot be used so.
func (l *loader) kind(b *block, rng hcl.Range) *step.Spec {
	s := l.Registry.Lookup(b.kind)
	switch {
	case s == nil || s.Hidden:
		var names []string
		for _, k := range l.Registry.Kinds() {
			if !k.Hidden && !k.Block {
				names = append(names, k.Name)
			}
		}
		slices.Sort(names)
		detail := fmt.Sprintf("There is no kind %q. %s", b.kind, syntax.Suggest(b.kind, names, "kind"))
		if Of(b.typ).Kind != "" {
			detail = fmt.Sprintf("This build has no kind %q, which a %s block stands for.", b.kind, b.typ)
		}
		l.Diags.Error(rng, "Unknown step kind", detail+" See redsi kinds.")
		return nil
	case s.Block && Of(b.typ).Kind == "":
		if t := OfKind(b.kind); t != nil {
			l.Diags.Error(rng, "Not a step", fmt.Sprintf("This is written %s %q { … }.", t.Name, b.name))
		}
		return nil
	}
	return s
}

// shape checks the names and forms in a block's body, which are the same for
// all of its instances. Values are checked when they are known.
func (l *loader) shape(b *block) {
	if a := b.Body.Attributes[forEachAttr]; a != nil {
		b.forEach = a.Expr
	}
	l.shapeFlags(b)
	for _, inner := range b.Body.Blocks {
		switch {
		case b.spec != nil && schema.AttrOf(b.spec.Attrs, inner.Type) != nil: // the kind's own
		case inner.Type == checkBlock && b.kind != ClaimKind:
			l.shapeCheck(b, inner)
		case inner.Type == resourcesBlock || inner.Type == retryBlock:
			l.shapeResources(b, inner)
		}
	}
	if b.spec != nil {
		schema.Shape(l.Diags, b.Block, b.spec.Attrs, Common, b.owner, l.typos)
	}
}
