package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

func (l *loader) declareVariable(b *hclsyntax.Block) {
	if !l.labels(b, "NAME") {
		return
	}
	v := &variable{name: b.Labels[0], rng: syntax.Header(b), typ: cty.NilType, value: cty.DynamicVal, fallback: cty.DynamicVal}
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
			v.fallback = l.value(a.Expr, ctx, nil)
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

func (l *loader) setVariables() {
	given := l.givenValues()
	for name, v := range l.variables {
		g, ok := given[name]
		switch {
		case ok:
			v.value, v.local, v.given = g.value(l, v), g.local, true
		case v.optional:
			v.value = v.fallback
		case v.sensitive:
			l.Lacks.Secrets = true
			l.Diags.Error(v.rng, "Variable without a value",
				fmt.Sprintf("var.%s is sensitive, so neither the pipeline nor a saved plan has its value. Set %s%s in the environment, or give it with --var-file or --var.", name, EnvPrefix, name))
		default:
			l.Diags.Error(v.rng, "Variable without a value",
				fmt.Sprintf("var.%s has no default. Give it a value with --var %s=…, in a --var-file, or in the environment as %s%s.", name, name, EnvPrefix, name))
		}
	}
	whole := map[string]cty.Value{}
	for name, v := range l.variables {
		if v.sensitive {
			whole[name] = v.value
			v.value = v.value.Mark(language.Sensitive(name))
		}
	}
	l.Keep(whole)
	l.validateAll()
	for name := range whole { // those that are refused are unknown now
		whole[name], _ = l.variables[name].value.Unmark()
	}
}

// validateAll runs the validation blocks of all variables.
func (l *loader) validateAll() {
	var refused []*variable
	for _, v := range l.variables {
		if !l.validate(v) {
			refused = append(refused, v)
		}
	}
	// What follows from a refused value is not news.
	for _, v := range refused {
		v.value = cty.DynamicVal
	}
}

// validate runs a variable's validation blocks, which may refer to variables; it
// returns false if one refuses the value.
func (l *loader) validate(v *variable) bool {
	allowed := true
	for _, c := range v.checks {
		if !l.onlyVariables(c.condition) || !l.onlyVariables(c.message) || !v.value.IsWhollyKnown() {
			continue
		}
		ctx := l.varContext(v.rng.Filename)
		ok, _ := l.value(c.condition, ctx, nil).Unmark()
		if !ok.IsKnown() {
			continue
		}
		ok, err := convert.Convert(ok, cty.Bool)
		if err != nil || ok.IsNull() {
			l.Diags.Error(c.condition.Range(), "Wrong type", "A condition is true or false.")
			continue
		}
		if ok.True() {
			continue
		}
		detail := fmt.Sprintf("The value of var.%s is not shown, as it is sensitive.", v.name)
		switch {
		case v.sensitive || language.SensitiveIn(v.value) != "":
		case language.HoldsArtifact(v.value.Type()):
			detail = fmt.Sprintf("The value of var.%s contains an artifact.", v.name)
		default:
			value := v.argument()
			if n := len(value); n > syntax.Long {
				value = fmt.Sprintf("%s… (%d bytes)", value[:syntax.Runes(value, syntax.Shown)], n)
			}
			detail = fmt.Sprintf("The value of var.%s is %s.", v.name, value)
		}
		if m := l.open(l.value(c.message, ctx, nil), c.message.Range(), nil); m.IsKnown() && !m.IsNull() && m.Type() == cty.String {
			detail = m.AsString() + "\n" + detail
		}
		l.Diags.Error(v.rng, "Value not allowed", detail, syntax.Place{Range: c.condition.Range(), Text: "this condition is false"})
		allowed = false
	}
	return allowed
}

func (l *loader) onlyVariables(e hclsyntax.Expression) bool {
	ok := syntax.RefersOnly(l.Diags, e, "var", "Not known yet", "A validation can refer to variables only.")
	return l.check(e, false) && ok
}

// variableObject is what var refers to.
func (l *loader) variableObject() cty.Value {
	m := make(map[string]cty.Value, len(l.variables))
	for name, v := range l.variables {
		m[name] = v.value
	}
	return cty.ObjectVal(m)
}

// argument writes the value as --var takes it.
func (v *variable) argument() string {
	if v.typ == cty.String && v.value.Type() == cty.String {
		return v.value.AsString()
	}
	return strings.TrimSpace(string(hclwrite.TokensForValue(v.value).Bytes()))
}

func (v *variable) json() json.RawMessage {
	b, err := ctyjson.Marshal(v.value, v.value.Type())
	if err != nil {
		panic(fmt.Sprintf("var.%s: %v", v.name, err)) // values of variables are constants
	}
	return b
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

func (l *loader) anySensitive() bool {
	for _, v := range l.variables {
		if v.sensitive {
			return true
		}
	}
	return false
}
