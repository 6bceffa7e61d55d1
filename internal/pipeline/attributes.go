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
func (l *loader) constantOf(a *hclsyntax.Attribute, ctx *hcl.EvalContext, want cty.Type, what, wrong string) (v cty.Value, ok bool) {
	if a == nil || !l.constant(a.Expr, what) {
		return v, false
	}
	return language.Scope{Session: l.Session, Context: ctx}.Typed(a.Expr, want, wrong)
}

// description checks a text that is for people alone.
func (l *loader) description(b *hclsyntax.Block) {
	l.constantOf(b.Body.Attributes["description"], l.constContext(b.TypeRange.Filename), cty.String, "A description", "A description is a string.")
}
