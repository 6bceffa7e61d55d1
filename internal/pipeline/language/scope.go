package language

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Scope is what an expression sees.
type Scope struct {
	*Session
	Context *hcl.EvalContext
	Of      *syntax.Of                                                         // which instance diagnostics are about; nil: none in particular
	Bad     map[hcl.Expression]bool                                            // refers to what does not exist; reported
	Why     func(of string, v cty.Value, name string) (summary, detail string) // what a value lacks, as its name says; nil: only itself
}

// Value evaluates an expression. Where that fails, or would only repeat what is
// reported already, the result is unknown.
func (sc Scope) Value(e hclsyntax.Expression) cty.Value {
	if sc.Bad[e] || sc.meter.ended != nil {
		return cty.DynamicVal
	}
	v, ds := e.Value(sc.Context)
	for _, d := range ds {
		sc.Diags.AddHCL(sc.explain(d), e.Range(), sc.Of)
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
func (sc Scope) answered(e hclsyntax.Expression, v cty.Value) cty.Value {
	if _, refers := e.(*hclsyntax.ScopeTraversalExpr); refers || sc.now.Any() || v.IsWhollyKnown() {
		return v
	}
	for _, tr := range e.Variables() {
		if of, ds := tr.TraverseAbs(sc.Context); !ds.HasErrors() && !of.IsWhollyKnown() {
			return v
		}
	}
	rng, detail := e.Range(), "This has no value, though all that it refers to has one: an operator or function here does not answer for what it is given, such as a null. Leave nulls out: X != null && f(X)."
	sc.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No value", Detail: detail, Subject: &rng}, sc.Of, detail)
	return v
}

// measured refuses a value that is too large. What an expression merely refers
// to, and what a function made, has been measured.
func (sc Scope) measured(e hclsyntax.Expression, v cty.Value) (cty.Value, bool) {
	var err *syntax.Limit
	switch e.(type) {
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.FunctionCallExpr:
	default:
		var s size
		if s, err = Measure(v); err == nil {
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
	sc.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: err.Summary, Detail: err.Detail, Subject: &rng}, sc.Of, err.Detail)
	return cty.DynamicVal, false
}

// Typed is the value of an expression as a primitive type; false if it is not known, or null or
// of another type, which is reported.
func (sc Scope) Typed(e hclsyntax.Expression, want cty.Type, wrong string) (cty.Value, bool) {
	v := sc.Open(sc.Value(e), e.Range())
	if !v.IsWhollyKnown() {
		return v, false
	}
	if typed, err := convert.Convert(v, want); err == nil && !typed.IsNull() {
		return typed, true
	}
	rng := e.Range()
	sc.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong type", Detail: wrong, Subject: &rng}, sc.Of, wrong)
	return v, false
}
