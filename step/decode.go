package step

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
)

// Problem is one mistake in a configuration, at an attribute path such as "rows[2].cells".
type Problem struct {
	Path   string
	Detail string
}

func (p Problem) Error() string {
	if p.Path == "" {
		return p.Detail
	}
	return p.Path + ": " + p.Detail
}

// Problems is every mistake found in one configuration.
type Problems []Problem

func (ps Problems) Error() string {
	return strings.Join(lists.Map(ps, Problem.Error), "; ")
}

// Err returns the problems as an error; nil if there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// decodeObject fills a struct from a tree. Absent optional attributes keep the struct's values, the defaults.
func decodeObject(tree map[string]any, v reflect.Value, attrs []Attr, path string) (ps Problems) {
	found := 0
	for i := range attrs {
		a := &attrs[i]
		val, ok := tree[a.Name]
		if !ok && a.Was != "" {
			val, ok = tree[a.Was]
		}
		if ok {
			found++
		}
		if !ok || val == nil {
			if !a.Optional {
				ps = append(ps, Problem{join(path, a.Name), "required"})
			}
			continue
		}
		p := join(path, a.Name)
		f := v.FieldByIndex(a.index)
		wrong := decodeValue(val, f, a.Type, p)
		if len(wrong) == 0 {
			wrong = a.checkValue(val, p)
		}
		ps = append(ps, wrong...)
	}
	if found == len(tree) {
		return ps
	}
	for _, n := range sortedKeys(tree) {
		i := slices.IndexFunc(attrs, func(a Attr) bool { return a.Name == n || a.Was == n })
		if i < 0 {
			ps = append(ps, Problem{join(path, n), "no such attribute"})
		} else if a := attrs[i]; a.Was == n && tree[a.Name] != nil {
			ps = append(ps, Problem{join(path, n), "is " + a.Name + " under its former name; give one of them"})
		}
	}
	return ps
}

// checkValue checks a string or number of the right type, or each in a list or map, by Enum and Range.
func (a *Attr) checkValue(val any, path string) (ps Problems) {
	if len(a.Enum) == 0 && a.Range == (Range{}) {
		return nil
	}
	switch val := val.(type) {
	case []any:
		for i, e := range val {
			ps = append(ps, a.checkValue(e, fmt.Sprintf("%s[%d]", path, i))...)
		}
		return ps
	case map[string]any:
		for _, k := range sortedKeys(val) {
			ps = append(ps, a.checkValue(val[k], fmt.Sprintf("%s[%q]", path, k))...)
		}
		return ps
	}
	if s, ok := toString(val); ok && len(a.Enum) > 0 && !slices.Contains(a.Enum, s) {
		return Problems{{path, fmt.Sprintf("%q is not one of %s", s, quotedList(a.Enum))}}
	}
	if n, ok := toFloat(val); ok && !a.Range.has(n) {
		return Problems{{path, fmt.Sprintf("want %s, got %s", a.Range, describe(val))}}
	}
	return nil
}

func decodeValue(val any, v reflect.Value, t Type, path string) Problems {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(val, v.Elem(), t, path)
	}
	switch t.Kind {
	case InputOne:
		if in, ok := val.(Input); ok {
			v.Set(reflect.ValueOf(in))
			return nil
		}
	case InputMany:
		if in, ok := val.(Input); ok {
			val = []any{in}
		}
		if list, ok := val.([]any); ok {
			ins := make(Inputs, len(list))
			for i, e := range list {
				if ins[i], ok = e.(Input); !ok {
					return Problems{{fmt.Sprintf("%s[%d]", path, i), "want artifact, got " + describe(e)}}
				}
			}
			v.Set(reflect.ValueOf(ins))
			return nil
		}
	case String:
		if s, ok := toString(val); ok {
			v.SetString(s)
			return nil
		}
	case Bool:
		if b, ok := val.(bool); ok {
			v.SetBool(b)
			return nil
		}
	case Int:
		if n, ok := toInt(val); ok {
			v.SetInt(n)
			return nil
		}
	case Float:
		f, ok := toFloat(val)
		if ok && values.Inexact(fmt.Sprint(val)) {
			return Problems{{path, describe(val) + " has more digits than are calculated with, 53 bits: compare it as a text"}}
		}
		if ok {
			v.SetFloat(f)
			return nil
		}
	case List:
		if list, ok := val.([]any); ok {
			return decodeList(list, v, t, path)
		}
	case Map:
		if m, ok := val.(map[string]any); ok {
			return decodeMap(m, v, t, path)
		}
	case Object:
		if m, ok := val.(map[string]any); ok {
			return decodeObject(m, v, t.Attrs, path)
		}
	}
	return Problems{{path, fmt.Sprintf("want %s, got %s", t, describe(val))}}
}

func decodeList(list []any, v reflect.Value, t Type, path string) (ps Problems) {
	s := reflect.MakeSlice(v.Type(), len(list), len(list))
	for i, e := range list {
		if wrong := decodeValue(e, s.Index(i), *t.Elem, ""); len(wrong) > 0 { // then once more, to say where
			ps = append(ps, decodeValue(e, s.Index(i), *t.Elem, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	v.Set(s)
	return ps
}

func decodeMap(m map[string]any, v reflect.Value, t Type, path string) (ps Problems) {
	out := reflect.MakeMapWithSize(v.Type(), len(m))
	for _, k := range sortedKeys(m) {
		if strings.HasPrefix(k, "$") { // see refField
			ps = append(ps, Problem{fmt.Sprintf("%s[%q]", path, k), "a key cannot start with $"})
			continue
		}
		e := reflect.New(v.Type().Elem()).Elem()
		ps = append(ps, decodeValue(m[k], e, *t.Elem, fmt.Sprintf("%s[%q]", path, k))...)
		out.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), e)
	}
	v.Set(out)
	return ps
}

// toString takes a number for its shortest text and a bool for its name, as HCL does: since "${1}" is a
// number there, nobody could write the text "1".
func toString(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		if significant(string(v)) > floatDigits {
			return string(v), true // an int64 or a float64 may not keep all of them
		}
		return canonicalText(v)
	case bool, int64, float64:
		return canonicalText(v)
	}
	return "", false
}

func canonicalText(v any) (string, bool) {
	b, err := Canonical(v)
	return string(b), err == nil
}

// floatDigits is how many decimal digits every float64 keeps.
const floatDigits = 15

// significant counts the digits of a number in JSON, without leading zeros.
func significant(number string) int {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	digits := strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, mantissa)
	return len(strings.TrimLeft(digits, "0"))
}

func toInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, true
		}
		f, err := v.Float64()
		return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
	}
	return 0, false
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case Input:
		return "an artifact"
	case string:
		return fmt.Sprintf("the string %q", v)
	case bool:
		return "a bool"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("the number %v", v)
}
