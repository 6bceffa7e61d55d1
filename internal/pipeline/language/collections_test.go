package language

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// TestCollections: the short way leads where the library's leads.
func TestCollections(t *testing.T) {
	s, n := cty.StringVal, cty.NumberIntVal
	marked := s("m").Mark("secret")
	values := []cty.Value{
		cty.TupleVal([]cty.Value{s("b"), s("a"), s("b")}), cty.TupleVal([]cty.Value{n(2), n(1)}), cty.TupleVal([]cty.Value{s("a"), n(1)}),
		cty.EmptyTupleVal, cty.TupleVal([]cty.Value{s("a"), cty.NullVal(cty.String)}), cty.TupleVal([]cty.Value{s("a"), cty.NullVal(cty.DynamicPseudoType)}),
		cty.TupleVal([]cty.Value{s("a"), marked}), cty.TupleVal([]cty.Value{s("a")}).Mark("secret"), cty.TupleVal([]cty.Value{s("a"), cty.UnknownVal(cty.String)}),
		cty.TupleVal([]cty.Value{cty.TupleVal([]cty.Value{s("a")}), cty.TupleVal([]cty.Value{s("b")})}),
		cty.TupleVal([]cty.Value{cty.TupleVal([]cty.Value{s("a")}), cty.EmptyTupleVal}),
		cty.TupleVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"k": s("a")}), cty.ObjectVal(map[string]cty.Value{"k": s("a")})}),
		cty.ListVal([]cty.Value{s("b"), s("a")}), cty.SetVal([]cty.Value{s("b"), s("a")}), cty.MapVal(map[string]cty.Value{"k": s("a")}),
		cty.ObjectVal(map[string]cty.Value{"k": s("a"), "l": s("b")}), cty.ObjectVal(map[string]cty.Value{"k": s("a"), "l": n(1)}), cty.EmptyObjectVal,
		s("text"), cty.NullVal(cty.EmptyTuple), cty.UnknownVal(cty.EmptyTuple), cty.DynamicVal,
	}
	for name, c := range map[string]struct {
		ours function.Function
		to   cty.Type
	}{
		"tolist": {toList, cty.List(cty.DynamicPseudoType)},
		"toset":  {toSet, cty.Set(cty.DynamicPseudoType)},
		"tomap":  {toMap, cty.Map(cty.DynamicPseudoType)},
	} {
		for _, v := range values {
			want, werr := stdlib.MakeToFunc(c.to).Call([]cty.Value{v})
			got, err := c.ours.Call([]cty.Value{v})
			if (err == nil) != (werr == nil) || err == nil && !got.RawEquals(want) {
				t.Errorf("%s(%#v) = %#v, %v; want %#v, %v", name, v, got, err, want, werr)
			}
		}
	}
}

// TestQuantifiers: no condition, and conditions that are null or unknown.
func TestQuantifiers(t *testing.T) {
	yes, no, null, unknown := cty.True, cty.False, cty.NullVal(cty.Bool), cty.UnknownVal(cty.Bool)
	for _, c := range []struct {
		list     []cty.Value
		all, any cty.Value
	}{
		{nil, yes, no},
		{[]cty.Value{yes, yes}, yes, yes},
		{[]cty.Value{no, yes}, no, yes},
		{[]cty.Value{null, yes}, no, yes},
		{[]cty.Value{null, no}, no, no},
		{[]cty.Value{unknown, no}, no, unknown},
		{[]cty.Value{unknown, yes}, unknown, yes},
	} {
		list := cty.ListValEmpty(cty.Bool)
		if c.list != nil {
			list = cty.ListVal(c.list)
		}
		for f, want := range map[*function.Function]cty.Value{&allTrue: c.all, &anyTrue: c.any} {
			got, err := f.Call([]cty.Value{list})
			if err != nil || got.IsKnown() != want.IsKnown() || want.IsKnown() && !got.RawEquals(want) {
				t.Errorf("%#v: %#v, %v; want %#v", list, got, err, want)
			}
		}
	}
}
