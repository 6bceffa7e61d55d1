package declare

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
	if !labels(d.Diags, b) {
		return
	}
	v := &Variable{Name: b.Labels[0], Range: syntax.Header(b), Type: cty.NilType, Fallback: cty.DynamicVal}
	if old := d.m.Variables[v.Name]; old != nil {
		twice(d.Diags, "var."+v.Name, v.Range, old.Range)
		return
	}
	d.m.Variables[v.Name] = v
	d.shapeForm(b)
	attrs, ctx := b.Body.Attributes, d.constContext(b.TypeRange.Filename)
	if a := attrs["type"]; a != nil {
		t, ds := typeexpr.TypeConstraint(a.Expr)
		d.Diags.HCL(ds, a.Expr.Range())
		if v.Type = t; ds.HasErrors() {
			v.Type = cty.DynamicPseudoType
		}
	}
	if a := attrs["default"]; a != nil {
		v.Optional = true
		if constant(d.Diags, a.Expr, "The default of a variable") {
			v.Fallback = language.Scope{Session: d.Session, Context: ctx}.Value(a.Expr)
		}
	}
	d.description(b)
	if text, ok := d.constantOf(attrs["ask"], ctx, cty.String, "What a variable asks", "ask is a string: the question."); ok {
		v.Ask = text.AsString()
	}
	if s, ok := d.constantOf(attrs["sensitive"], nil, cty.Bool, "Whether a variable is sensitive", "sensitive is true or false."); ok {
		v.Sensitive = s.True()
	}
	for _, inner := range syntax.Blocks(b.Body, "validation") {
		v.declareCheck(d.Diags, inner)
	}
	if v.Sensitive && v.Ask != "" {
		d.Diags.Error(v.Range, "Value not allowed", "A sensitive variable cannot ask: answers are kept in a file.")
	}
	v.settle(d.Diags, b)
	v.settleSensitive(d.Diags, b)
}

func (v *Variable) declareCheck(d *syntax.Collector, b *hclsyntax.Block) {
	c := check{Range: syntax.Header(b)}
	if a := b.Body.Attributes["condition"]; a != nil {
		c.Condition = a.Expr
	}
	if a := b.Body.Attributes["error_message"]; a != nil {
		c.Message = a.Expr
	}
	if c.Condition == nil || c.Message == nil {
		d.Error(c.Range, "Missing attribute", "A validation needs condition = … and error_message = ….")
		return
	}
	v.Checks = append(v.Checks, c)
}

// settle decides a variable's type, and converts its default to it. Without a type, a default that is a string, number or
// bool has it; without either, a variable is a string, as a command line gives it.
func (v *Variable) settle(d *syntax.Collector, b *hclsyntax.Block) {
	known := v.Optional && v.Fallback.IsKnown()
	if v.Type == cty.NilType {
		switch {
		case !v.Optional:
			v.Type = cty.String
		case known && !v.Fallback.IsNull() && v.Fallback.Type().IsPrimitiveType():
			v.Type = v.Fallback.Type()
		default:
			v.Type = cty.DynamicPseudoType
		}
	}
	if known {
		fallback, err := convert.Convert(v.Fallback, v.Type)
		if err != nil {
			d.Error(b.Body.Attributes["default"].Expr.Range(), "Wrong type",
				fmt.Sprintf("The default of var.%s is not of its type, %s: %s.", v.Name, typeexpr.TypeString(v.Type), err))
			fallback = cty.DynamicVal
		}
		v.Fallback = fallback
	}
}

func (v *Variable) settleSensitive(d *syntax.Collector, b *hclsyntax.Block) {
	if !v.Sensitive {
		return
	}
	if v.Optional && !(v.Fallback.IsKnown() && v.Fallback.IsNull()) {
		d.Error(b.Body.Attributes["default"].NameRange, "Default of a sensitive variable",
			fmt.Sprintf("Every reader of the pipeline could see the default of var.%s. Leave it out, or write default = null.", v.Name))
	}
	if !v.Type.IsPrimitiveType() && v.Type != cty.DynamicPseudoType {
		d.Error(v.Range, "Type of a sensitive variable", fmt.Sprintf("var.%s is sensitive, so it must be a string, number or bool.", v.Name))
	}
}
