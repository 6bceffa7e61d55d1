package step

import (
	"bytes"
	"fmt"
	"reflect"
)

// encodeObject turns a filled-in struct back into a tree: defaults included,
// unset optional values left out, so that decodeObject over def gives the same
// struct again. def is the struct of defaults; if it is not known (the zero
// Value), nothing is left out that could have one.
//
// With forKey, attributes marked "nokey" are left out, those marked "added" while
// they equal their default, and of maps marked "names" all but the names; renamed ones
// have the names that they had.
func encodeObject(v, def reflect.Value, attrs []Attr, forKey bool) map[string]any {
	m := map[string]any{} // of few that are set
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
			e = namesOf(values)
		}
		if forKey && a.Was != "" {
			m[a.Was] = e
		} else {
			m[a.Name] = e
		}
	}
	return m
}

func namesOf(m map[string]any) []any {
	var names []any
	for _, k := range sortedKeys(m) {
		names = append(names, k)
	}
	return names
}

func noElements(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// encodeValue returns nil for an unset pointer or input, and only for these: an
// empty list within a list is a list.
func encodeValue(v, def reflect.Value, t Type, forKey bool) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v, def = v.Elem(), reflect.Zero(v.Type().Elem()) // what decodeValue starts from
	}
	switch t.Kind {
	case InputOne:
		if in := v.Interface().(Input); in.Set() {
			return in
		}
		return nil
	case InputMany:
		ins := v.Interface().(Inputs)
		list := make([]any, len(ins))
		for i, in := range ins {
			list[i] = in
		}
		return list
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

// MapInputs returns a copy of the tree with f applied to every input, depth
// first, lists in order and objects by sorted key; path is that of the input.
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
