package step

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
)

// Canonical writes a configuration tree in the one form that is hashed: objects with sorted keys, no white space,
// strings in UTF-8 with only the escapes that JSON requires, numbers in shortest form (integers without exponent or
// point), inputs as {"$input": digest}. Equal trees give equal bytes on any machine and Go version.
//
// The tree consists of map[string]any, []any, string, bool, nil, Input and the number types json.Number,
// int64 and float64. Anything else, a non-finite number or invalid UTF-8 is an error: a key must cover the
// configuration completely.
func Canonical(tree any) ([]byte, error) {
	var b bytes.Buffer
	if err := writeTree(&b, tree, canonicalLeaf); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeTree writes lists, and objects with sorted keys; leaf writes the other values.
func writeTree(b *bytes.Buffer, v any, leaf func(*bytes.Buffer, any) error) error {
	switch v := v.(type) {
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeTree(b, e, leaf); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, k := range sortedKeys(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := canonicalString(b, k); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeTree(b, v[k], leaf); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
		b.WriteByte('}')
	default:
		return leaf(b, v)
	}
	return nil
}

func canonicalLeaf(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		return canonicalString(b, v)
	case int64, float64, json.Number:
		return canonicalNumber(b, v)
	case Input:
		return canonicalInput(b, v)
	default:
		return fmt.Errorf("a value of type %T has no canonical form", v)
	}
	return nil
}

func canonicalInput(b *bytes.Buffer, in Input) error {
	switch {
	case in.Artifact != nil:
		fmt.Fprintf(b, `{"%s":"%s"}`, digestField, strings.TrimSpace(in.Artifact.Digest.String()+" "+string(in.Artifact.Mode)))
		return nil
	case in.Ref != nil:
		return fmt.Errorf("%s is not known yet", in.Ref)
	}
	b.WriteString("null")
	return nil
}

func canonicalString(b *bytes.Buffer, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not valid UTF-8", s)
	}
	b.WriteByte('"')
	from := 0 // of the bytes that are written as they are
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\\' {
			b.WriteString(s[from:i])
			b.WriteByte('\\')
			from = i
		} else if c < 0x20 {
			b.WriteString(s[from:i])
			fmt.Fprintf(b, `\u%04x`, c)
			from = i + 1
		}
	}
	b.WriteString(s[from:])
	b.WriteByte('"')
	return nil
}

func canonicalNumber(b *bytes.Buffer, v any) error {
	if n, ok := toInt(v); ok {
		b.WriteString(strconv.FormatInt(n, 10))
		return nil
	}
	f, ok := toFloat(v)
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v is not a finite number", v)
	}
	b.WriteString(strconv.FormatFloat(f, 'g', -1, 64))
	return nil
}

// encodeObject turns a filled-in struct into a tree, with defaults and without unset optional values, so
// that decodeObject over def gives the same struct. def is the struct of defaults; without it (the zero
// Value), no attribute is left out that could have a default.
//
// With forKey, the tree lacks attributes marked "nokey", and attributes marked "added" while they have their default;
// of maps marked "names" it has the names only, and renamed attributes have their former names.
func encodeObject(v, def reflect.Value, attrs []Attr, forKey bool) map[string]any {
	m := map[string]any{} // few attributes are set
	for i := range attrs {
		a := &attrs[i]
		if forKey && a.NoKey {
			continue
		}
		f, d := v.FieldByIndex(a.index), reflect.Value{}
		if def.IsValid() {
			d = def.FieldByIndex(a.index)
		}
		if a.Optional && d.IsValid() && noElements(f) && noElements(d) {
			continue // an empty list is the same as none
		}
		e := encodeValue(f, d, a.Type, forKey)
		if e == nil || forKey && a.Added && d.IsValid() && sameTree(e, encodeValue(d, d, a.Type, forKey)) {
			continue
		}
		if values, ok := e.(map[string]any); ok && forKey && a.Names {
			e = lists.Map(sortedKeys(values), func(name string) any { return name })
		}
		if forKey && a.Was != "" {
			m[a.Was] = e
		} else {
			m[a.Name] = e
		}
	}
	return m
}

func noElements(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// encodeValue returns nil for an unset pointer or input, and only for these: an empty list within a list is a list.
func encodeValue(v, def reflect.Value, t Type, forKey bool) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v, def = v.Elem(), reflect.Zero(v.Type().Elem()) // from which decodeValue starts
	}
	switch t.Kind {
	case InputOne:
		if in := v.Interface().(Input); in.Set() {
			return in
		}
		return nil
	case InputMany:
		return lists.Map(v.Interface().(Inputs), func(in Input) any { return in })
	case String:
		return v.String()
	case Bool:
		return v.Bool()
	case Int:
		return v.Int()
	case Float:
		return v.Float()
	case List:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = encodeValue(v.Index(i), reflect.Zero(v.Type().Elem()), *t.Elem, forKey)
		}
		return list
	case Map:
		m := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			m[it.Key().String()] = encodeValue(it.Value(), reflect.Zero(v.Type().Elem()), *t.Elem, forKey)
		}
		return m
	}
	return encodeObject(v, def, t.Attrs, forKey)
}

func sameTree(a, b any) bool {
	x, err1 := Canonical(a)
	y, err2 := Canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// MapInputs returns a copy of the tree with f applied to every input, given with its path, depth first,
// lists in order and objects by sorted key.
func MapInputs(tree any, f func(path string, in Input) (Input, error)) (any, error) {
	return mapInputs(tree, "", f)
}

func mapInputs(v any, path string, f func(string, Input) (Input, error)) (any, error) {
	switch v := v.(type) {
	case Input:
		return f(path, v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			m, err := mapInputs(e, fmt.Sprintf("%s[%d]", path, i), f)
			if err != nil {
				return nil, err
			}
			out[i] = m
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range sortedKeys(v) {
			m, err := mapInputs(v[k], join(path, k), f)
			if err != nil {
				return nil, err
			}
			out[k] = m
		}
		return out, nil
	}
	return v, nil
}
