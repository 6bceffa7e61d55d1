package pipeline

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// exprScope is what an expression sees.
type exprScope struct {
	*lang
	ctx *hcl.EvalContext
	of  *syntax.Of                                                         // which instance diagnostics are about; nil: none in particular
	bad map[hcl.Expression]bool                                            // refers to what does not exist; reported
	why func(of string, v cty.Value, name string) (summary, detail string) // what a value lacks, as its name says; nil: only itself
}

// value evaluates an expression. Where that fails, or would only repeat what is
// reported already, the result is unknown.
func (sc exprScope) value(e hclsyntax.Expression) cty.Value {
	if sc.bad[e] || sc.meter.ended != nil {
		return cty.DynamicVal
	}
	v, ds := e.Value(sc.ctx)
	for _, d := range ds {
		sc.diags.AddHCL(sc.explain(d), e.Range(), sc.of)
	}
	if ds.HasErrors() {
		return cty.DynamicVal
	}
	if v, ok := sc.measured(e, v); !ok {
		return v
	}
	return sc.answered(e, v)
}

// answered refuses a value that is not known though nothing that it is made of is, or will be,
// the reason: what depends on it would be left out without a word.
func (sc exprScope) answered(e hclsyntax.Expression, v cty.Value) cty.Value {
	if _, refers := e.(*hclsyntax.ScopeTraversalExpr); refers || sc.now.any() || v.IsWhollyKnown() {
		return v
	}
	for _, tr := range e.Variables() {
		if of, ds := tr.TraverseAbs(sc.ctx); !ds.HasErrors() && !of.IsWhollyKnown() {
			return v
		}
	}
	rng, detail := e.Range(), "This has no value, though all that it refers to has one: an operator or function here does not answer for what it is given, such as a null. Leave nulls out: X != null && f(X)."
	sc.diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No value", Detail: detail, Subject: &rng}, sc.of, detail)
	return v
}

// measured refuses a value that is too large. What an expression merely refers
// to, and what a function made, has been measured.
func (sc exprScope) measured(e hclsyntax.Expression, v cty.Value) (cty.Value, bool) {
	var err *syntax.Limit
	switch e.(type) {
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.FunctionCallExpr:
	default:
		var s size
		if s, err = measure(v); err == nil {
			err = sc.meter.spend(s.elements, 0)
		}
	}
	if err == nil {
		err = sc.meter.ended // within try()
	}
	if err == nil {
		return v, true
	}
	rng := e.Range()
	sc.diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: err.Summary, Detail: err.Detail, Subject: &rng}, sc.of, err.Detail)
	return cty.DynamicVal, false
}

// typed is the value of an expression as a primitive type; false if it is not known, or null or
// of another type, which is reported.
func (sc exprScope) typed(e hclsyntax.Expression, want cty.Type, wrong string) (cty.Value, bool) {
	v := sc.open(sc.value(e), e.Range())
	if !v.IsWhollyKnown() {
		return v, false
	}
	if typed, err := convert.Convert(v, want); err == nil && !typed.IsNull() {
		return typed, true
	}
	rng := e.Range()
	sc.diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong type", Detail: wrong, Subject: &rng}, sc.of, wrong)
	return v, false
}
