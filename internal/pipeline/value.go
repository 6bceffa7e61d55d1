package pipeline

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// value evaluates an expression. Where that fails, or would only repeat what is
// reported already, the result is unknown.
func (l *loader) value(e hclsyntax.Expression, ctx *hcl.EvalContext, inst *instance) cty.Value {
	if l.bad[e] || l.meter.ended != nil {
		return cty.DynamicVal
	}
	v, ds := e.Value(ctx)
	for _, d := range ds {
		l.diags.AddHCL(l.explain(d), e.Range(), inst.of())
	}
	if ds.HasErrors() {
		return cty.DynamicVal
	}
	if v, ok := l.measured(e, v, inst); !ok {
		return v
	}
	return l.answered(e, ctx, v, inst)
}

// answered refuses a value that is not known though nothing that it is made of is, or will be,
// the reason: what depends on it would be left out without a word.
func (l *loader) answered(e hclsyntax.Expression, ctx *hcl.EvalContext, v cty.Value, inst *instance) cty.Value {
	if _, refers := e.(*hclsyntax.ScopeTraversalExpr); refers || l.now.any() || v.IsWhollyKnown() {
		return v
	}
	for _, tr := range e.Variables() {
		if of, ds := tr.TraverseAbs(ctx); !ds.HasErrors() && !of.IsWhollyKnown() {
			return v
		}
	}
	rng, detail := e.Range(), "This has no value, though all that it refers to has one: an operator or function here does not answer for what it is given, such as a null. Leave nulls out: X != null && f(X)."
	l.diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No value", Detail: detail, Subject: &rng}, inst.of(), detail)
	return v
}

// measured refuses a value that is too large. What an expression merely refers
// to, and what a function made, has been measured.
func (l *loader) measured(e hclsyntax.Expression, v cty.Value, inst *instance) (cty.Value, bool) {
	var err *syntax.Limit
	switch e.(type) {
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.FunctionCallExpr:
	default:
		var s size
		if s, err = measure(v); err == nil {
			err = l.meter.spend(s.elements, 0)
		}
	}
	if err == nil {
		err = l.meter.ended // within try()
	}
	if err == nil {
		return v, true
	}
	rng := e.Range()
	l.diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: err.Summary, Detail: err.Detail, Subject: &rng}, inst.of(), err.Detail)
	return cty.DynamicVal, false
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
	l.diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong type", Detail: wrong, Subject: &rng}, inst.of(), wrong)
	return v, false
}
