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

func (d *declarer) declareVariable(b *hclsyntax.Block) {
	if !labels(d.Diags, b, "NAME") {
		return
	}
	v := &variable{name: b.Labels[0], rng: syntax.Header(b), typ: cty.NilType, fallback: cty.DynamicVal}
	if old := d.variables[v.name]; old != nil {
		twice(d.Diags, "var."+v.name, v.rng, old.rng)
		return
	}
	d.variables[v.name] = v
	d.shapeForm(b)
	attrs, ctx := b.Body.Attributes, d.constContext(b.TypeRange.Filename)
	if a := attrs["type"]; a != nil {
		t, ds := typeexpr.TypeConstraint(a.Expr)
		d.Diags.HCL(ds, a.Expr.Range())
		if v.typ = t; ds.HasErrors() {
			v.typ = cty.DynamicPseudoType
		}
	}
	if a := attrs["default"]; a != nil {
		v.optional = true
		if constant(d.Diags, a.Expr, "The default of a variable") {
			v.fallback = language.Scope{Session: d.Session, Context: ctx}.Value(a.Expr)
		}
	}
	d.description(b)
	if text, ok := d.constantOf(attrs["ask"], ctx, cty.String, "What a variable asks", "ask is a string: the question."); ok {
		v.ask = text.AsString()
	}
	if s, ok := d.constantOf(attrs["sensitive"], nil, cty.Bool, "Whether a variable is sensitive", "sensitive is true or false."); ok {
		v.sensitive = s.True()
	}
	for _, inner := range syntax.Blocks(b.Body, "validation") {
		v.declareCheck(d.Diags, inner)
	}
	if v.sensitive && v.ask != "" {
		d.Diags.Error(v.rng, "Value not allowed", "A sensitive variable cannot ask: answers are kept in a file.")
	}
	v.settle(d.Diags, b)
	v.settleSensitive(d.Diags, b)
}

func (v *variable) declareCheck(d *syntax.Collector, b *hclsyntax.Block) {
	c := check{rng: syntax.Header(b)}
	if a := b.Body.Attributes["condition"]; a != nil {
		c.condition = a.Expr
	}
	if a := b.Body.Attributes["error_message"]; a != nil {
		c.message = a.Expr
	}
	if c.condition == nil || c.message == nil {
		d.Error(c.rng, "Missing attribute", "A validation needs condition = … and error_message = ….")
		return
	}
	v.checks = append(v.checks, c)
}

// settle decides a variable's type and converts its default to it. Without a
// type, a default that is a string, number or bool gives it; a variable with
// neither is a string, since that is what a command line gives.
func (v *variable) settle(d *syntax.Collector, b *hclsyntax.Block) {
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
		fallback, err := convert.Convert(v.fallback, v.typ)
		if err != nil {
			d.Error(b.Body.Attributes["default"].Expr.Range(), "Wrong type",
				fmt.Sprintf("The default of var.%s is not of its type, %s: %s.", v.name, typeexpr.TypeString(v.typ), err))
			fallback = cty.DynamicVal
		}
		v.fallback = fallback
	}
}

// settleSensitive checks what the declaration of a sensitive variable says.
func (v *variable) settleSensitive(d *syntax.Collector, b *hclsyntax.Block) {
	if !v.sensitive {
		return
	}
	if v.optional && !(v.fallback.IsKnown() && v.fallback.IsNull()) {
		d.Error(b.Body.Attributes["default"].NameRange, "Default of a sensitive variable",
			fmt.Sprintf("Every reader of the pipeline could see the default of var.%s. Leave it out, or write default = null.", v.name))
	}
	if !v.typ.IsPrimitiveType() && v.typ != cty.DynamicPseudoType {
		d.Error(v.rng, "Type of a sensitive variable", fmt.Sprintf("var.%s is sensitive, so it must be a string, number or bool.", v.name))
	}
}
