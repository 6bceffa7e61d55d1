package language

import (
	"encoding/json/jsontext"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// guard refuses a call that could give far more than its arguments, or take far longer. These are known, typed and measured.
type guard func(name string, args []cty.Value) *syntax.Limit

var expansions = map[string]guard{
	"indent": func(name string, a []cty.Value) *syntax.Limit {
		spaces, _ := a[0].AsBigFloat().Float64()
		return bytesOf(name, float64(length64(a[1]))+spaces*float64(1+strings.Count(a[1].AsString(), "\n")))
	},
	"format": formatted,
	"formatlist": func(name string, a []cty.Value) *syntax.Limit {
		n := 1
		for _, v := range a[1:] {
			if v.CanIterateElements() {
				n = max(n, v.LengthInt())
			}
		}
		if err := formatted(name, a); err != nil {
			return err
		}
		return bytesOf(name, float64(n)*float64(length64(a[0])))
	},
	"join": func(name string, a []cty.Value) *syntax.Limit {
		n, bytes := 0, int64(0)
		for _, v := range a[1:] {
			s, err := measure(v)
			if err != nil {
				return err
			}
			n, bytes = n+v.LengthInt(), bytes+s.bytes
		}
		return bytesOf(name, float64(bytes)+float64(n)*float64(length64(a[0])))
	},
	"replace": func(name string, a []cty.Value) *syntax.Limit {
		text, part, by := a[0].AsString(), a[1].AsString(), a[2].AsString()
		return bytesOf(name, float64(len(text))+float64(strings.Count(text, part))*float64(len(by)))
	},
	"regex": func(name string, a []cty.Value) *syntax.Limit { return searched(name, a[0], a[1]) },
	"regexall": func(name string, a []cty.Value) *syntax.Limit {
		if err := searched(name, a[0], a[1]); err != nil {
			return err
		}
		return elementsOf(name, float64(matches(a[0], a[1])))
	},
	"regexreplace": func(name string, a []cty.Value) *syntax.Limit {
		if err := searched(name, a[1], a[0]); err != nil {
			return err
		}
		by, n := a[2].AsString(), matches(a[1], a[0])
		return bytesOf(name, float64(length64(a[0]))*float64(1+strings.Count(by, "$"))+float64(n)*float64(len(by)))
	},
	"setproduct": func(name string, a []cty.Value) *syntax.Limit {
		n := float64(len(a))
		for _, v := range a {
			if v.CanIterateElements() {
				n *= float64(v.LengthInt())
			}
		}
		return elementsOf(name, n)
	},
	"split": func(name string, a []cty.Value) *syntax.Limit {
		return elementsOf(name, float64(strings.Count(a[1].AsString(), a[0].AsString())))
	},
	"csvdecode":  structured(",", "\n"),
	"yamldecode": structured("\n", ",", "[", "{", "- ", ": "),
	"dvcdecode":  structured("\n", ",", "[", "{", "- ", ": "),
	"pick":       structured("\n", ",", "[", "{", "- ", ": "),
	"tomldecode": structured("\n", ",", "[", "{"),
	"jsondecode": func(name string, a []cty.Value) *syntax.Limit {
		if err := deep(a[0].AsString()); err != nil {
			return err
		}
		return structured(",", "[", "{")(name, a)
	},
	"parseint": numeral,
	"tonumber": numeral,
	"pow": func(_ string, a []cty.Value) *syntax.Limit {
		x, _ := a[0].AsBigFloat().Float64()
		y, _ := a[1].AsBigFloat().Float64()
		if math.IsInf(math.Pow(x, y), 0) {
			return syntax.Over("Number out of range", "pow() would make a number that is too large.")
		}
		return nil
	},
}

// structured guards a decoder: it counts the marks that begin elements.
func structured(marks ...string) guard {
	return func(name string, a []cty.Value) *syntax.Limit {
		n := 0
		for _, c := range marks {
			n += strings.Count(a[0].AsString(), c)
		}
		return elementsOf(name, float64(n))
	}
}

func numeral(_ string, a []cty.Value) *syntax.Limit {
	if a[0].Type() != cty.String {
		return nil
	}
	return syntax.LongNumber(a[0].AsString())
}

func length64(v cty.Value) int64 {
	if v.Type() != cty.String {
		return 0
	}
	return int64(len(v.AsString()))
}

func bytesOf(name string, n float64) *syntax.Limit {
	if n > maxText {
		return syntax.Over("Text too long", "%s() would make a text of about %.0f bytes; at most %d are allowed.", name, n, maxText)
	}
	return nil
}

func elementsOf(name string, n float64) *syntax.Limit {
	if n > maxElements {
		return syntax.Over("Value too large", "%s() would make about %.0f elements; at most %d are allowed.", name, n, maxElements)
	}
	return nil
}

// searched bounds the time of a regular expression: at worst the product of the lengths of pattern and text.
func searched(name string, pattern, text cty.Value) *syntax.Limit {
	const most = 1 << 31
	if n := float64(length64(pattern)) * float64(length64(text)); n > most || length64(pattern) > 1<<16 {
		return syntax.Over("Too much to evaluate", "%s() would search %d bytes for a pattern of %d. Let a command step do this work.", name, length64(text), length64(pattern))
	}
	return nil
}

func matches(pattern, text cty.Value) int {
	re, err := regexp.Compile(pattern.AsString())
	if err != nil {
		return 0 // the function says so
	}
	return len(re.FindAllStringIndex(text.AsString(), maxElements+1))
}

// verb is a directive of a format with its width and precision.
var verb = regexp.MustCompile(`%[-+# 0]*(?:\[\d*\])?(\d*)(?:\.(\d*))?`)

// formatted bounds what a format makes: each directive no more than its width, precision and the largest argument.
func formatted(name string, a []cty.Value) *syntax.Limit {
	var largest int64
	for _, v := range a[1:] {
		s, err := measure(v)
		if err != nil {
			return err
		}
		largest = max(largest, s.bytes+32*s.elements)
	}
	n := float64(length64(a[0]))
	found := verb.FindAllStringSubmatch(a[0].AsString(), maxElements)
	for _, m := range found {
		for _, digits := range m[1:] {
			if width, err := strconv.ParseFloat(digits, 64); err == nil {
				n += width
			}
		}
	}
	if err := bytesOf(name, n); err != nil {
		return err
	}
	if total := n + float64(len(found))*float64(largest); total > maxMade {
		return syntax.Over("Text too long", "%s() could make a text of %.0f bytes; at most %d are allowed.", name, total, maxText)
	}
	return nil
}

// deep refuses JSON that is nested too deep for the recursive decoder, and numbers that take it long.
func deep(s string) *syntax.Limit {
	d := jsontext.NewDecoder(strings.NewReader(s), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		switch {
		case err != nil: // the end, or a mistake that ends the other decoder, too
			return nil
		case d.StackDepth() > maxNested:
			return syntax.Over("Value too deep", "In this JSON, lists or objects are nested more than %d deep.", maxNested)
		case t.Kind() == '0':
			if err := syntax.LongNumber(t.String()); err != nil {
				return err
			}
		}
	}
}

const maxProduct = 100_000

// product combines several axes, for for_each: keys join the axes' keys by "/", values have an attribute per axis. An axis is
// a list or set of strings, numbers or bools, each its own key, or a map or object. The second argument is the order of axes
// (Rewrite passes the written order), else it is by name.
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
		var ok bool
		if order, ok = axisOrder(args[1], order); !ok || len(args) > 2 {
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

// axisOrder reads the order of axes; false: it is not a list of their names.
func axisOrder(v cty.Value, names []string) (order []string, ok bool) {
	if !v.IsWhollyKnown() || v.IsNull() || !v.CanIterateElements() {
		return nil, false
	}
	for _, e := range v.Elements() {
		s, err := convert.Convert(e, cty.String)
		if err != nil || s.IsNull() {
			return nil, false
		}
		if !slices.Contains(order, s.AsString()) {
			order = append(order, s.AsString())
		}
	}
	return order, slices.Equal(slices.Sorted(slices.Values(order)), names)
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
	if slices.Contains(a.keys, "") {
		return a, fmt.Errorf("axis %q has the empty text as a key", name)
	}
	return a, nil
}
