package language

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// bounded is a function that counts what it makes, and is not called for too large a result.
func (m *meter) bounded(name string, f function.Function) function.Function {
	guard := expansions[name]
	params := f.Params()
	for i := range params {
		params[i] = anything(params[i])
	}
	variadic := f.VarParam()
	if variadic != nil {
		v := anything(*variadic)
		variadic = &v
	}
	return function.New(&function.Spec{
		Params:   params,
		VarParam: variadic,
		Type:     func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if err := refuse(name, args); err != nil {
				return cty.DynamicVal, err
			}
			if guard != nil {
				if known, ok := knownOf(args); ok {
					if err := guard(name, known); err != nil {
						return cty.DynamicVal, err
					}
				}
			}
			v, err := f.Call(args)
			if err != nil {
				for _, a := range args {
					if SensitiveIn(a) != "" {
						return cty.DynamicVal, errors.New("the reason is not shown, since an argument is sensitive")
					}
				}
				return v, failed(name, args, err)
			}
			made := v
			if name == "toset" { // a set is sorted each time that somebody goes through it
				if _, ok := elementType(args[0], false); ok {
					made = args[0]
				}
			}
			s, tooLarge := measure(made)
			if tooLarge == nil {
				tooLarge = m.spend(s.elements+lengths(args)/64, s.bytes)
			}
			if tooLarge != nil {
				return cty.DynamicVal, tooLarge
			}
			if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() && !v.IsMarked() { // of pow() and log() with 53 bits: digits beyond would be made up
				if f := v.AsBigFloat(); f.IsInt() && f.Prec() < wholeBits {
					v = cty.NumberVal(f.SetPrec(wholeBits))
				}
			}
			return v, nil
		},
	})
}

// knownOf returns arguments without marks; false if one is null or not known.
func knownOf(args []cty.Value) ([]cty.Value, bool) {
	known := make([]cty.Value, len(args))
	for i, a := range args {
		known[i], _ = a.UnmarkDeep()
		if !known[i].IsWhollyKnown() || known[i].IsNull() {
			return nil, false
		}
	}
	return known, true
}

// lengths is how many elements the arguments have, not counting those within.
func lengths(args []cty.Value) (n int64) {
	for _, a := range args {
		if a, _ = a.Unmark(); a.IsKnown() && !a.IsNull() && a.CanIterateElements() {
			n += int64(a.LengthInt())
		}
	}
	return n
}

// attempt is try or can that fails where one of its expressions does so for an artifact.
func (s *Session) attempt(f function.Function) function.Function {
	closure := function.Parameter{Name: "expressions", Type: customdecode.ExpressionClosureType}
	spec := &function.Spec{
		Params: f.Params(),
		Type:   func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			w := &watched{s: s}
			watching := make([]cty.Value, len(args))
			for i, a := range args {
				c := *customdecode.ExpressionClosureFromVal(a)
				c.Expression = &watchedExpr{Expression: c.Expression, watched: w}
				watching[i] = customdecode.ExpressionClosureVal(&c)
			}
			v, err := f.Call(watching)
			if w.found != nil {
				return cty.DynamicVal, w.found
			}
			return v, err
		},
	}
	if f.VarParam() != nil {
		spec.VarParam = &closure
	}
	return function.New(spec)
}

// watched keeps the first error about an artifact of several expressions.
type watched struct {
	s     *Session
	found error
}

// watchedExpr is evaluated once, though the library asks it twice: for its type, too.
type watchedExpr struct {
	hcl.Expression
	*watched
	value cty.Value // NilVal before
	ds    hcl.Diagnostics
}

func (e *watchedExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if e.value != cty.NilVal {
		return e.value, e.ds
	}
	e.value, e.ds = e.Expression.Value(ctx)
	for _, d := range e.ds {
		x := limits(d)
		if x == nil {
			x = e.s.explainOpaque(d)
		}
		if x != nil && x.Summary == opaqueTitle && e.found == nil {
			e.found = &told{x}
		}
	}
	return e.value, e.ds
}
