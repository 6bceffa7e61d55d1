// Package language evaluates expressions: what they can call, how much they may use, and values that are outputs of steps or
// secrets. It knows no type of block; a Scope says what an expression sees. A Session is the state of one load: what has been
// read, used and asked for. Everything is pure except Files, which asks World. Begin at Scope.Value, then functions.go.
package language

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

type Scope struct {
	*Session
	Context  *hcl.EvalContext
	Instance *syntax.Instance        // which instance diagnostics are about; nil: none in particular
	Bad      map[hcl.Expression]bool // refers to what does not exist; reported
	Why      Why                     // nil: the value itself says what it lacks
}

// Report files an error. Of instances with errors of the same about at a place, the first is shown and the others are counted.
func (sc Scope) Report(rng hcl.Range, summary, detail, about string) {
	sc.Diags.Add((&syntax.Limit{Summary: summary, Detail: detail}).At(rng), sc.Instance, about)
}

// Value evaluates an expression; the value is unknown after an error, and where an error would repeat another.
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

// answered reports an unknown value that nothing unknown explains: what depends on it would be left out without a word.
func (sc Scope) answered(e hclsyntax.Expression, v cty.Value) cty.Value {
	if _, refers := e.(*hclsyntax.ScopeTraversalExpr); refers || sc.Awaits.Any() || v.IsWhollyKnown() {
		return v
	}
	for _, tr := range e.Variables() {
		if of, ds := tr.TraverseAbs(sc.Context); !ds.HasErrors() && !of.IsWhollyKnown() {
			return v
		}
	}
	const detail = "This has no value, though all that it refers to has one: an operator or function here does not answer for what it is given, such as a null. Leave nulls out: X != null && f(X)."
	sc.Report(e.Range(), "No value", detail, detail)
	return v
}

// measured reports a value that is too large. Values of references and results of functions have been measured.
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
	if err = cmp.Or(err, sc.meter.ended); err == nil { // ended within try()
		return v, true
	}
	sc.Report(e.Range(), err.Summary, err.Detail, err.Detail)
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
	sc.Report(e.Range(), "Wrong type", wrong, wrong)
	return v, false
}

// Open returns a value that steps may have; a sensitive value is reported, and DynamicVal returned.
func (sc Scope) Open(v cty.Value, rng hcl.Range) cty.Value {
	if len(sc.Secrets) == 0 {
		return v
	}
	name := SensitiveIn(v)
	if name == "" {
		return v
	}
	sc.Report(rng, "Sensitive value", fmt.Sprintf("This value comes from var.%s, which is sensitive. Here it would become part of keys, results and histories. "+
		"A command gets it by secret_env = { NAME = var.%[1]s }, or without a variable by secret_env = { NAME = \"env:NAME\" } or { NAME = \"file:/PATH\" }; "+
		"a condition on it is nonsensitive(CONDITION).", name), name)
	return cty.DynamicVal
}

// WholeVariable names the sensitive variable whose value, unchanged, v is; false: v is another value.
func (s *Session) WholeVariable(v cty.Value) (string, bool) {
	plain, marks := v.Unmark()
	if len(marks) != 1 {
		return "", false
	}
	for m := range marks {
		name, ok := m.(Sensitive)
		if value, declared := s.Secrets[string(name)]; ok && declared {
			return string(name), plain.RawEquals(value)
		}
	}
	return "", false
}

// Session is the state of one load: what has been read, used and asked for.
type Session struct {
	*Files
	Diags   *syntax.Collector
	Awaits  *Awaited             // by what is being evaluated; nil outside of nodes; set by Await alone
	Secrets map[string]cty.Value // values of sensitive variables without their marks, by name; set before all nodes
	Dropped map[string]bool      // addresses of steps whose outputs do not stay; grows as they are evaluated

	meter     *meter
	funcs     map[string]map[string]function.Function            // by folder, for file()
	splats    map[*hclsyntax.AnonSymbolExpr]hclsyntax.Expression // what each splat is taken of
	rendering bool                                               // a template of templatefile()
}

// NewSession begins a load; stop, if set, is asked now and then, and its error ends the evaluation.
func NewSession(sources map[string][]byte, w World, d *syntax.Collector, stop func() error) *Session {
	m := &meter{stop: stop}
	return &Session{
		Files: &Files{
			world: w, given: sources, meter: m, Read: map[string][]byte{}, code: map[string]*codeFiles{},
			Found: Found{map[string]map[string][]string{}, map[string]string{}, map[string][]string{}, map[string]bool{}},
		},
		Diags: d, meter: m, Dropped: map[string]bool{},
		funcs: map[string]map[string]function.Function{}, splats: map[*hclsyntax.AnonSymbolExpr]hclsyntax.Expression{},
	}
}

// Ended reports whether a limit has ended the evaluation: nothing is evaluated any more.
func (s *Session) Ended() bool { return s.meter.ended != nil }

// ResetMeter lets the next expression use as much as a whole pipeline.
func (s *Session) ResetMeter() { *s.meter = meter{stop: s.meter.stop} }

// Await has a collect what is asked of outputs from now on, until back is called.
func (s *Session) Await(a *Awaited) (back func()) {
	outer := s.Awaits
	s.Awaits = a
	return func() { s.Awaits = outer }
}

// Awaited is what the evaluation of a node, or of an instance of it, asked of outputs.
type Awaited struct {
	Refs map[step.Ref]bool // outputs that are not there yet
	On   map[string]bool   // pending steps whose value is not known
	Made bool              // an output that is there was looked into
}

// Any reports whether what was evaluated may be unknown for a reason that will pass.
func (a *Awaited) Any() bool { return a != nil && len(a.Refs) > 0 }

// Add makes a await what b does.
func (a *Awaited) Add(b *Awaited) {
	if b != nil {
		a.Made = a.Made || b.Made
		maps.Copy(a.Refs, b.Refs)
		maps.Copy(a.On, b.On)
	}
}

// Awaiting returns an Awaited of its own that begins with all that b awaits.
func Awaiting(b *Awaited) *Awaited {
	a := &Awaited{Refs: map[step.Ref]bool{}, On: map[string]bool{}}
	a.Add(b)
	return a
}

// Sensitive marks the value of a sensitive variable and what is computed from it, except by nonsensitive(): it is in no
// configuration, key or name.
type Sensitive string

// SensitiveIn names a sensitive variable that a value was computed from, the first by name; "": there is none.
func SensitiveIn(v cty.Value) string {
	_, marks := v.UnmarkDeep()
	first := ""
	for m := range marks {
		if s, ok := m.(Sensitive); ok && (first == "" || string(s) < first) {
			first = string(s)
		}
	}
	return first
}
