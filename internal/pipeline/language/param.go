package language

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// valueFunc is a function whose errors are about its first argument, if they do not say more.
func valueFunc(result cty.Type, f func(args []cty.Value) (cty.Value, error), params ...function.Parameter) function.Function {
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(result),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f(args)
			switch err.(type) {
			case nil:
				return v, nil
			case *syntax.Limit, *told, function.ArgError:
				return cty.UnknownVal(result), err
			}
			return cty.UnknownVal(result), function.NewArgError(0, err)
		},
	})
}

func textParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.String}
}

func anyParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType, AllowDynamicType: true}
}

func textFunc(name string, f func(string) string) function.Function {
	return valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) { return cty.StringVal(f(args[0].AsString())), nil }, textParam(name))
}

func affix(name string, has func(s, affix string) bool) function.Function {
	return valueFunc(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		return cty.BoolVal(has(args[0].AsString(), args[1].AsString())), nil
	}, textParam("str"), textParam(name))
}

func anything(p function.Parameter) function.Parameter {
	p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
	return p
}
