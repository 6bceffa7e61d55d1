package language

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

const shownWidth = 100 // of a list or object on one line

// Text writes a value as HCL, artifacts as references to outputs, with what note, if set, says of them as comments.
func Text(v cty.Value, note func(step.Ref) string) string {
	t, comment := writer{note}.text(v, "")
	if comment != "" {
		t += " # " + comment
	}
	return string(hclwrite.Format([]byte(t)))
}

type writer struct{ note func(step.Ref) string }

// text is a value's text, its further lines indented, and the comment behind it.
func (w writer) text(v cty.Value, indent string) (text, comment string) {
	t := v.Type()
	switch {
	case v.IsMarked():
		return "(sensitive)", ""
	case !v.IsKnown():
		return "(not known)", ""
	case v.IsNull():
		return "null", ""
	case t == ArtifactType:
		ref := v.EncapsulatedValue().(*Artifact).Ref
		if w.note != nil {
			comment = w.note(ref)
		}
		return ref.String(), comment
	case t.IsPrimitiveType():
		return string(hclwrite.TokensForValue(v).Bytes()), ""
	case !v.CanIterateElements():
		return "(" + t.FriendlyName() + ")", ""
	}
	open, end, equals := "[", "]", ""
	switch {
	case t.IsObjectType() || t.IsMapType():
		open, end, equals = "{", "}", " = "
	case t.IsSetType():
		open, end = "toset([", "])"
	}
	type item struct{ text, comment string }
	var items []item
	long := len(indent)
	for k, e := range v.Elements() {
		name := ""
		if equals != "" {
			if name = k.AsString(); !hclsyntax.ValidIdentifier(name) {
				name = string(hclwrite.TokensForValue(k).Bytes())
			}
		}
		s, c := w.text(e, indent+"  ")
		items = append(items, item{name + equals + s, c})
		long += len(name) + len(s) + 4
		if c != "" || strings.Contains(s, "\n") {
			long += shownWidth
		}
	}
	if len(items) == 0 {
		return open + end, ""
	}
	if long <= shownWidth {
		line := strings.Join(lists.Map(items, func(x item) string { return x.text }), ", ")
		if equals != "" {
			line = " " + line + " "
		}
		return open + line + end, ""
	}
	var b strings.Builder
	b.WriteString(open)
	for _, x := range items {
		b.WriteString("\n" + indent + "  " + x.text)
		if equals == "" {
			b.WriteString(",")
		}
		if x.comment != "" {
			b.WriteString(" # " + x.comment)
		}
	}
	return b.String() + "\n" + indent + end, ""
}

// JSON is a value for encoding/json, with ref's word for artifacts. Unknown and sensitive values are objects that say so.
func JSON(v cty.Value, ref func(step.Ref) any) any {
	t := v.Type()
	switch {
	case v.IsMarked():
		return map[string]bool{"sensitive": true}
	case !v.IsKnown():
		return map[string]bool{"unknown": true}
	case v.IsNull():
		return nil
	case t == ArtifactType:
		return ref(v.EncapsulatedValue().(*Artifact).Ref)
	case t == cty.String:
		return v.AsString()
	case t == cty.Bool:
		return v.True()
	case t == cty.Number:
		x := Number(v.AsBigFloat())
		if f, ok := x.(float64); ok && math.IsInf(f, 0) { // JSON has texts for such numbers, if any
			return v.AsBigFloat().Text('g', -1)
		}
		return x
	case t.IsObjectType() || t.IsMapType():
		m := map[string]any{}
		for k, e := range v.AsValueMap() {
			m[k] = JSON(e, ref)
		}
		return m
	case v.CanIterateElements():
		list := []any{}
		for _, e := range v.Elements() {
			list = append(list, JSON(e, ref))
		}
		return list
	}
	return t.FriendlyName()
}

// FromTree is the value of a configuration tree (step.Task.Tree) or of decoded JSON; inputs are their references as texts.
func FromTree(tree any) cty.Value {
	switch x := tree.(type) {
	case nil:
		return cty.NullVal(cty.DynamicPseudoType)
	case bool:
		return cty.BoolVal(x)
	case string:
		return cty.StringVal(x)
	case int64:
		return cty.NumberIntVal(x)
	case float64:
		return cty.NumberFloatVal(x)
	case json.Number:
		if n, err := cty.ParseNumberVal(x.String()); err == nil {
			return n
		}
	case step.Input:
		if x.Ref != nil {
			return cty.StringVal(x.Ref.String())
		}
		return cty.StringVal(x.Artifact.Digest.String())
	case []any:
		return cty.TupleVal(lists.Map(x, FromTree))
	case map[string]any:
		m := make(map[string]cty.Value, len(x))
		for k, e := range x {
			m[k] = FromTree(e)
		}
		return cty.ObjectVal(m)
	}
	panic(fmt.Sprintf("a configuration tree has a %T", tree))
}

// Numbers are evaluated with 512 bits, about 154 digits: rounded results have all of these, typed numbers fewer.
const (
	integerBits = 512 // of integers that are exact
	typedDigits = 100
	floatDigits = 15 // that every float64 keeps
)

// Number is what a configuration has for a number: an int64 or float64 that has its digits, else the digits (of 1/3 the nearest float64's).
func Number(f *big.Float) any {
	if f.IsInt() {
		if n, exact := f.Int64(); exact == big.Exact {
			return n
		}
		if f.MantExp(nil) <= integerBits {
			return json.Number(f.Text('f', 0))
		}
		x, _ := f.Float64()
		return x
	}
	x, exact := f.Float64()
	if exact == big.Exact || f.MantExp(nil) < -integerBits {
		return x
	}
	// Finding the digits of 512 bits is slow, so the float64's digits are tried first.
	if typed, _, err := big.ParseFloat(strconv.FormatFloat(x, 'e', -1, 64), 10, f.Prec(), f.Mode()); err == nil && typed.Cmp(f) == 0 {
		return x
	}
	scientific := f.Text('e', -1)
	digits, _, _ := strings.Cut(strings.Replace(strings.TrimPrefix(scientific, "-"), ".", "", 1), "e")
	if len(digits) <= floatDigits || len(digits) > typedDigits {
		return x
	}
	return json.Number(f.Text('f', -1))
}

// toString is tostring. It writes the digits of integers itself: of 512 bits, cty looks for the shortest digits.
var toString = func(general function.Function) function.Function {
	return function.New(&function.Spec{
		Params: general.Params(),
		Type:   general.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if v := args[0]; v.Type() == cty.Number && !v.IsNull() {
				f := v.AsBigFloat()
				if n, exact := f.Int64(); exact == big.Exact && n != 0 && f.MantExp(nil) <= int(f.Prec()) { // of fewer bits, not all digits count
					return cty.StringVal(strconv.FormatInt(n, 10)), nil
				}
			}
			return general.Call(args)
		},
	})
}(stdlib.MakeToFunc(cty.String))
