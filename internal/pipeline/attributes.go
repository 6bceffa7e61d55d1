package pipeline

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// noBlocks reports the blocks of one that has none.
func noBlocks(d *syntax.Collector, b *hclsyntax.Block, only string) {
	for _, inner := range b.Body.Blocks {
		d.Error(inner.TypeRange, "Unknown block", only)
	}
}

// constantOf is the value of an attribute, which may be missing, whose expression refers to nothing.
func (d *declarer) constantOf(a *hclsyntax.Attribute, ctx *hcl.EvalContext, want cty.Type, what, wrong string) (v cty.Value, ok bool) {
	if a == nil || !constant(d.Diags, a.Expr, what) {
		return v, false
	}
	return language.Scope{Session: d.Session, Context: ctx}.Typed(a.Expr, want, wrong)
}

// description checks a text that is for people alone.
func (d *declarer) description(b *hclsyntax.Block) {
	d.constantOf(b.Body.Attributes["description"], d.constContext(b.TypeRange.Filename), cty.String, "A description", "A description is a string.")
}
