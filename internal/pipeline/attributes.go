package pipeline

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// attribute is one that a block may have, and what reads it.
type attribute struct {
	name string
	read func(a *hclsyntax.Attribute)
}

// attributes reads those of a block in the order in which they are written, and reports
// others; owner is the block for people.
func (l *loader) attributes(b *hclsyntax.Block, owner string, known ...attribute) {
	for _, a := range sortedAttributes(b.Body) {
		if i := slices.IndexFunc(known, func(k attribute) bool { return k.name == a.Name }); i >= 0 {
			known[i].read(a)
			continue
		}
		names := make([]string, len(known))
		for i, k := range known {
			names[i] = k.name
		}
		l.diags.error(a.NameRange, "Unknown attribute", fmt.Sprintf("%s has no attribute %q. %s", owner, a.Name, suggest(a.Name, names, "attribute")))
	}
}

// noBlocks reports the blocks of one that has none.
func (l *loader) noBlocks(b *hclsyntax.Block, only string) {
	for _, inner := range b.Body.Blocks {
		l.diags.error(inner.TypeRange, "Unknown block", only)
	}
}

// expression notes an attribute's expression.
func expression(to *hclsyntax.Expression) func(*hclsyntax.Attribute) {
	return func(a *hclsyntax.Attribute) { *to = a.Expr }
}

// description checks a text that is for people alone.
func (l *loader) description(a *hclsyntax.Attribute) {
	if l.constant(a.Expr, "A description") {
		l.typed(a.Expr, l.constContext(a.NameRange.Filename), nil, cty.String, "A description is a string.")
	}
}

// typed is the value of an expression as a primitive type; false if it is not known, or null or
// of another type, which is reported.
func (l *loader) typed(e hclsyntax.Expression, ctx *hcl.EvalContext, inst *instance, want cty.Type, wrong string) (cty.Value, bool) {
	v := l.open(l.value(e, ctx, inst), e.Range(), inst)
	if !v.IsWhollyKnown() {
		return v, false
	}
	if typed, err := convert.Convert(v, want); err == nil && !typed.IsNull() {
		return typed, true
	}
	rng := e.Range()
	l.diags.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong type", Detail: wrong, Subject: &rng}, inst, wrong)
	return v, false
}
