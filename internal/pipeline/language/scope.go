package language

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Scope is what an expression sees.
type Scope struct {
	*Session
	Context  *hcl.EvalContext
	Instance *syntax.Instance        // which instance diagnostics are about; nil: none in particular
	Bad      map[hcl.Expression]bool // refers to what does not exist; reported
	Why      Why                     // nil: a value alone says what it lacks
}

// Value evaluates an expression. It is unknown after an error, and where an error would repeat another.
func (sc Scope) Value(e hclsyntax.Expression) cty.Value {
	if sc.Bad[e] || sc.meter.ended != nil {
		return cty.DynamicVal
	}
	v, ds := e.Value(sc.Context)
	for _, d := range ds {
		sc.Diags.AddHCL(sc.explain(d, sc.Why), e.Range(), sc.Instance)
	}
	if ds.HasErrors() {
		return cty.DynamicVal
	}
	if v, ok := sc.measured(e, v); !ok {
		return v
	}
	return sc.answered(e, v)
}

// answered refuses an unknown value that nothing unknown explains: what depends on it would be left out without a word.
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
	sc.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No value", Detail: detail, Subject: &rng}, sc.Instance, detail)
	return v
}

// measured refuses a value that is too large. Referred values and results of functions have been measured.
func (sc Scope) measured(e hclsyntax.Expression, v cty.Value) (cty.Value, bool) {
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
	sc.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: err.Summary, Detail: err.Detail, Subject: &rng}, sc.Instance, err.Detail)
	return cty.DynamicVal, false
}

// Typed is a value as a primitive type; false: it is unknown, or null or of another type, which is reported.
func (sc Scope) Typed(e hclsyntax.Expression, want cty.Type, wrong string) (cty.Value, bool) {
	v := sc.Open(sc.Value(e), e.Range())
	if !v.IsWhollyKnown() {
		return v, false
	}
	if typed, err := convert.Convert(v, want); err == nil && !typed.IsNull() {
		return typed, true
	}
	rng := e.Range()
	sc.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong type", Detail: wrong, Subject: &rng}, sc.Instance, wrong)
	return v, false
}

// Open returns a value that steps may have; one that is sensitive is reported.
func (sc Scope) Open(v cty.Value, rng hcl.Range) cty.Value {
	if !sc.HasSecrets() {
		return v
	}
	name := SensitiveIn(v)
	if name == "" {
		return v
	}
	sc.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Sensitive value", Subject: &rng,
		Detail: fmt.Sprintf("This value comes from var.%s, which is sensitive. Here it would become part of keys, results and histories. "+
			"A command gets it by secret_env = { NAME = var.%s }, or without a variable by secret_env = { NAME = \"env:NAME\" } or { NAME = \"file:/PATH\" }; "+
			"a condition on it is nonsensitive(CONDITION).", name, name)}, sc.Instance, name)
	return cty.DynamicVal
}

// WholeVariable reports whether a value is that of a sensitive variable, unchanged.
func (s *Session) WholeVariable(v cty.Value) (string, bool) {
	plain, marks := v.Unmark()
	if len(marks) != 1 {
		return "", false
	}
	for m := range marks {
		name, ok := m.(Sensitive)
		if value, known := s.whole[string(name)]; ok && known {
			return string(name), plain.RawEquals(value)
		}
	}
	return "", false
}
