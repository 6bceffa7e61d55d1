package language

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// toCollection is the library's conversion to a list, set or map, which compares the types of all elements (minutes for
// 50,000), unless all are of one type.
func toCollection(to cty.Type, of func(cty.Type) cty.Type, make func(cty.Value) cty.Value) function.Function {
	general := stdlib.MakeToFunc(to)
	return function.New(&function.Spec{
		Params: general.Params(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if t, ok := elementType(args[0], to.IsMapType()); ok {
				return of(t), nil
			}
			return general.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if _, ok := elementType(args[0], to.IsMapType()); ok {
				return make(args[0]), nil
			}
			return general.Call(args)
		},
	})
}

// elementType is the type of all elements of a known tuple, or attributes of a known object; false: there is none.
func elementType(v cty.Value, attributes bool) (one cty.Type, ok bool) {
	var types []cty.Type
	switch t := v.Type(); {
	case v.IsMarked() || v.IsNull() || !v.IsKnown():
	case t.IsTupleType() && !attributes:
		types = t.TupleElementTypes()
	case t.IsObjectType() && attributes:
		types = slices.Collect(maps.Values(t.AttributeTypes()))
	}
	if len(types) == 0 || slices.ContainsFunc(types, func(t cty.Type) bool { return !t.Equals(types[0]) }) {
		return cty.NilType, false
	}
	return types[0], !types[0].HasDynamicTypes() && v.IsWhollyKnown() && !v.ContainsMarked()
}

var (
	toList = toCollection(cty.List(cty.DynamicPseudoType), cty.List, func(v cty.Value) cty.Value { return cty.ListVal(v.AsValueSlice()) })
	toSet  = toCollection(cty.Set(cty.DynamicPseudoType), cty.Set, func(v cty.Value) cty.Value { return cty.SetVal(v.AsValueSlice()) })
	toMap  = toCollection(cty.Map(cty.DynamicPseudoType), cty.Map, func(v cty.Value) cty.Value { return cty.MapVal(v.AsValueMap()) })
)

// elements are those of a list, set or tuple.
func elements(v cty.Value) ([]cty.Value, error) {
	if t := v.Type(); !t.IsListType() && !t.IsSetType() && !t.IsTupleType() {
		return nil, fmt.Errorf("want a list, got %s", t.FriendlyName())
	}
	return v.AsValueSlice(), nil
}

var only = valueFunc(cty.DynamicPseudoType, func(args []cty.Value) (cty.Value, error) {
	list, err := elements(args[0])
	if len(list) > 1 {
		err = fmt.Errorf("it has %d elements: want one or none", len(list))
	}
	return append(list, cty.NullVal(cty.DynamicPseudoType))[0], err
}, anyParam("list"))

// contains is the library's, which answers "unknown" for a null without a type.
var contains = valueFunc(cty.Bool, func(args []cty.Value) (cty.Value, error) {
	if args[1].IsNull() {
		args[1] = cty.NullVal(cty.String)
	}
	return stdlib.Contains(args[0], args[1])
}, anyParam("list"), function.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true})

var indexOf = valueFunc(cty.Number, func(args []cty.Value) (cty.Value, error) {
	list, err := elements(args[0])
	i := slices.IndexFunc(list, args[1].RawEquals)
	if err == nil && i < 0 {
		err = errors.New("it does not have that value")
	}
	return cty.NumberIntVal(int64(i)), err
}, anyParam("list"), anyParam("value"))

var (
	allTrue = quantifier(cty.True, cty.Value.And)
	anyTrue = quantifier(cty.False, cty.Value.Or)
)

// quantifier folds a list of conditions, as Terraform's functions do.
func quantifier(ofNone cty.Value, fold func(a, b cty.Value) cty.Value) function.Function {
	return valueFunc(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		out := ofNone
		for _, v := range args[0].AsValueSlice() {
			if v.IsNull() {
				v = cty.False
			}
			out = fold(out, v)
		}
		return out, nil
	}, function.Parameter{Name: "list", Type: cty.List(cty.Bool)})
}

var sum = valueFunc(cty.Number, func(args []cty.Value) (cty.Value, error) {
	total := cty.Zero
	for _, v := range args[0].AsValueSlice() {
		if v.IsNull() {
			return cty.NilVal, errors.New("the list has a null")
		}
		total = total.Add(v)
	}
	return total, nil
}, function.Parameter{Name: "list", Type: cty.List(cty.Number)})

// length is the library's, and counts the characters of a string too.
var length = valueFunc(cty.Number, func(args []cty.Value) (cty.Value, error) {
	v := args[0]
	switch {
	case v.Type() == cty.String:
		return stdlib.Strlen(v)
	case v.Type().IsObjectType():
		return cty.NumberIntVal(int64(v.LengthInt())), nil
	case !v.CanIterateElements():
		return cty.NilVal, fmt.Errorf("a %s has no length", v.Type().FriendlyName())
	}
	return stdlib.Length(v)
}, anyParam("value"))

// distinct is the library's for long lists, where that compares each element with all others.
var distinct = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.List(cty.DynamicPseudoType)}},
	Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(t), nil
		}
		seen := map[int][]cty.Value{}
		var kept []cty.Value
		for _, e := range args[0].AsValueSlice() {
			if h := e.Hash(); !slices.ContainsFunc(seen[h], e.RawEquals) {
				seen[h] = append(seen[h], e)
				kept = append(kept, e)
			}
		}
		if len(kept) == 0 {
			return cty.ListValEmpty(t.ElementType()), nil
		}
		return cty.ListVal(kept), nil
	},
})
