package language

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

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
