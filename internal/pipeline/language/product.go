package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// maxProduct bounds what product makes.
const maxProduct = 100_000

// product makes every combination of several axes, for for_each: an object
// whose keys join the axes' keys by "/" and whose values have one attribute per
// axis. An axis is a list or set of strings, numbers or bools, each its own key,
// or a map or object, of which the keys are taken. The axes are joined in the
// order of the second argument (rewriting passes the order in which they are
// written), else by name.
var product = function.New(&function.Spec{
	Params:   []function.Parameter{{Name: "axes", Type: cty.DynamicPseudoType}},
	VarParam: &function.Parameter{Name: "order", Type: cty.DynamicPseudoType},
	Type:     function.StaticReturnType(cty.DynamicPseudoType),
	Impl:     func(args []cty.Value, _ cty.Type) (cty.Value, error) { return combine(args) },
})

type axis struct {
	name string
	keys []string
	vals []cty.Value
}

func combine(args []cty.Value) (cty.Value, error) {
	none := cty.DynamicVal
	v := args[0]
	if !v.IsWhollyKnown() {
		return none, nil
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return none, function.NewArgErrorf(0, "the axes must be an object of lists, such as { size = [\"tiny\", \"base\"], seed = [1, 2] }")
	}
	lists := v.AsValueMap()
	order := syntax.Keys(lists)
	if len(args) > 1 {
		var err error
		if order, err = axisOrder(args[1], order); err != nil || len(args) > 2 {
			return none, function.NewArgErrorf(1, "the order is a list of all axes' names: %s", strings.Join(syntax.Keys(lists), ", "))
		}
	}
	total := 1
	axes := make([]axis, len(order))
	for i, name := range order {
		a, err := readAxis(name, lists[name])
		if err != nil {
			return none, function.NewArgError(0, err)
		}
		axes[i] = a
		if total *= len(a.keys); total > maxProduct || total*len(axes) > maxElements {
			return none, function.NewArgErrorf(0, "more than %d combinations, or %d values in them", maxProduct, maxElements)
		}
	}
	if len(axes) == 0 {
		return cty.EmptyObjectVal, nil
	}
	out := make(map[string]cty.Value, total)
	at := make([]int, len(axes))
	for range total {
		parts := make([]string, len(axes))
		vals := make(map[string]cty.Value, len(axes))
		for i, a := range axes {
			parts[i], vals[a.name] = a.keys[at[i]], a.vals[at[i]]
		}
		k := strings.Join(parts, "/")
		if _, twice := out[k]; twice {
			return none, function.NewArgErrorf(0, "two combinations have the key %q", k)
		}
		out[k] = cty.ObjectVal(vals)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < len(axes[i].keys) {
				break
			}
			at[i] = 0
		}
	}
	return cty.ObjectVal(out), nil
}

func axisOrder(v cty.Value, names []string) ([]string, error) {
	bad := fmt.Errorf("not the axes' names")
	if !v.IsWhollyKnown() || v.IsNull() || !v.CanIterateElements() {
		return nil, bad
	}
	var order []string
	for _, e := range v.Elements() {
		s, err := convert.Convert(e, cty.String)
		if err != nil || s.IsNull() {
			return nil, bad
		}
		if !slices.Contains(order, s.AsString()) {
			order = append(order, s.AsString())
		}
	}
	sorted := slices.Sorted(slices.Values(order))
	if !slices.Equal(sorted, names) {
		return nil, bad
	}
	return order, nil
}

func readAxis(name string, v cty.Value) (axis, error) {
	a := axis{name: name}
	t := v.Type()
	switch {
	case v.IsNull() || !v.CanIterateElements():
		return a, fmt.Errorf("axis %q is not a list, set, map or object", name)
	case t.IsObjectType() || t.IsMapType():
		m := v.AsValueMap()
		for _, k := range syntax.Keys(m) {
			a.keys, a.vals = append(a.keys, k), append(a.vals, m[k])
		}
	default:
		for _, e := range v.Elements() {
			s, err := convert.Convert(e, cty.String)
			if err != nil || s.IsNull() {
				return a, fmt.Errorf("axis %q has an element that is not a string, number or bool, so it has no key: write the axis as a map, { NAME = … }", name)
			}
			if slices.Contains(a.keys, s.AsString()) {
				return a, fmt.Errorf("axis %q has %q twice", name, s.AsString())
			}
			a.keys, a.vals = append(a.keys, s.AsString()), append(a.vals, e)
		}
	}
	for _, k := range a.keys {
		if k == "" {
			return a, fmt.Errorf("axis %q has the empty text as a key", name)
		}
	}
	return a, nil
}
