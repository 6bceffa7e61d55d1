package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

func (l *loader) declareVariable(b *hclsyntax.Block) {
	if !l.labels(b, "NAME") {
		return
	}
	v := &variable{name: b.Labels[0], rng: syntax.Header(b), typ: cty.NilType, fallback: cty.DynamicVal}
	if old := l.variables[v.name]; old != nil {
		l.twice("var."+v.name, v.rng, old.rng)
		return
	}
	l.variables[v.name] = v
	l.shapeForm(b)
	attrs, ctx := b.Body.Attributes, l.constContext(b.TypeRange.Filename)
	if a := attrs["type"]; a != nil {
		t, ds := typeexpr.TypeConstraint(a.Expr)
		l.Diags.HCL(ds, a.Expr.Range())
		if v.typ = t; ds.HasErrors() {
			v.typ = cty.DynamicPseudoType
		}
	}
	if a := attrs["default"]; a != nil {
		v.optional = true
		if l.constant(a.Expr, "The default of a variable") {
			v.fallback = language.Scope{Session: l.Session, Context: ctx}.Value(a.Expr)
		}
	}
	l.description(b)
	if text, ok := l.constantOf(attrs["ask"], ctx, cty.String, "What a variable asks", "ask is a string: the question."); ok {
		v.ask = text.AsString()
	}
	if s, ok := l.constantOf(attrs["sensitive"], nil, cty.Bool, "Whether a variable is sensitive", "sensitive is true or false."); ok {
		v.sensitive = s.True()
	}
	for _, inner := range syntax.Blocks(b.Body, "validation") {
		l.declareCheck(v, inner)
	}
	if v.sensitive && v.ask != "" {
		l.Diags.Error(v.rng, "Value not allowed", "A sensitive variable cannot ask: answers are kept in a file.")
	}
	v.settle(l, b)
	l.settleSensitive(v, b)
}

func (l *loader) declareCheck(v *variable, b *hclsyntax.Block) {
	c := check{rng: syntax.Header(b)}
	if a := b.Body.Attributes["condition"]; a != nil {
		c.condition = a.Expr
	}
	if a := b.Body.Attributes["error_message"]; a != nil {
		c.message = a.Expr
	}
	if c.condition == nil || c.message == nil {
		l.Diags.Error(c.rng, "Missing attribute", "A validation needs condition = … and error_message = ….")
		return
	}
	v.checks = append(v.checks, c)
}

// settle decides a variable's type and converts its default to it. Without a
// type, a default that is a string, number or bool gives it; a variable with
// neither is a string, since that is what a command line gives.
func (v *variable) settle(l *loader, b *hclsyntax.Block) {
	known := v.optional && v.fallback.IsKnown()
	if v.typ == cty.NilType {
		switch {
		case !v.optional:
			v.typ = cty.String
		case known && !v.fallback.IsNull() && v.fallback.Type().IsPrimitiveType():
			v.typ = v.fallback.Type()
		default:
			v.typ = cty.DynamicPseudoType
		}
	}
	if known {
		d, err := convert.Convert(v.fallback, v.typ)
		if err != nil {
			l.Diags.Error(b.Body.Attributes["default"].Expr.Range(), "Wrong type",
				fmt.Sprintf("The default of var.%s is not of its type, %s: %s.", v.name, typeexpr.TypeString(v.typ), err))
			d = cty.DynamicVal
		}
		v.fallback = d
	}
}

// constant reports whether an expression refers to nothing.
func (l *loader) constant(e hclsyntax.Expression, what string) bool {
	return syntax.RefersOnly(l.Diags, e, "", "Not a constant", what+" cannot refer to other values.")
}

// settleSensitive checks what the declaration of a sensitive variable says.
func (l *loader) settleSensitive(v *variable, b *hclsyntax.Block) {
	if !v.sensitive {
		return
	}
	if v.optional && !(v.fallback.IsKnown() && v.fallback.IsNull()) {
		l.Diags.Error(b.Body.Attributes["default"].NameRange, "Default of a sensitive variable",
			fmt.Sprintf("Every reader of the pipeline could see the default of var.%s. Leave it out, or write default = null.", v.name))
	}
	if !v.typ.IsPrimitiveType() && v.typ != cty.DynamicPseudoType {
		l.Diags.Error(v.rng, "Type of a sensitive variable", fmt.Sprintf("var.%s is sensitive, so it must be a string, number or bool.", v.name))
	}
}
