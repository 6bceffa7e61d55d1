package values

import (
	"bytes"
	"encoding"
	"encoding/json"
	"encoding/json/jsontext"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Written decodes JSON that redsi wrote, as encoding/json does, and then asks Lacks.
func Written(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	return Lacks(text, v)
}

// Lacks is an error that names the first field that writers of v's type always write, since it
// has neither omitempty nor omitzero, and a JSON text does not have: it would read as zero, which
// is a value too. Types that decode themselves are not looked into.
func Lacks(text []byte, v any) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	name, err := lacks(d, reflect.TypeOf(v))
	if name != "" {
		return fmt.Errorf("there is no field %s: the text was cut, edited, or written by another program", strings.TrimPrefix(name, "."))
	}
	return err
}

// field is one of a struct as JSON has it.
type field struct {
	name         string
	of           reflect.Type
	always, null bool // whether it has to be there, and may be null
}

var fieldCache sync.Map // []field by reflect.Type

// fieldsOf are none of what is no struct, or decodes itself.
func fieldsOf(t reflect.Type) (all []field) {
	if have, ok := fieldCache.Load(t); ok {
		return have.([]field)
	}
	p, nullable := reflect.PointerTo(t), []reflect.Kind{reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice}
	if t.Kind() == reflect.Struct && !p.Implements(reflect.TypeFor[json.Unmarshaler]()) && !p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		for _, f := range reflect.VisibleFields(t) {
			tag := f.Tag.Get("json")
			if name, _, _ := strings.Cut(tag, ","); name != "" && name != "-" {
				all = append(all, field{name, f.Type, !strings.Contains(tag, ",omit"), slices.Contains(nullable, f.Type.Kind())})
			}
		}
	}
	fieldCache.Store(t, all)
	return all
}

// hasFields reports whether a type is a struct with fields, or a list or map with such structs in it.
func hasFields(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return hasFields(t.Elem())
	}
	return fieldsOf(t) != nil
}

// lacks reads a value, and gives the path of the field that it lacks, "" if there is none.
func lacks(d *jsontext.Decoder, t reflect.Type) (path string, err error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	fields, of, begins := fieldsOf(t), reflect.TypeFor[any](), d.PeekKind()
	if begins != '{' && begins != '[' || !hasFields(t) {
		return "", d.SkipValue()
	}
	if fields == nil {
		of = t.Elem()
	}
	_, err = d.ReadToken()
	seen := make([]bool, len(fields))
	var room [64]byte // of most names
	for n := 0; err == nil && d.PeekKind() != '}' && d.PeekKind() != ']'; n++ {
		var name []byte
		if begins == '{' {
			if name, err = d.ReadValue(); err != nil {
				return "", err
			}
			if name, err = jsontext.AppendUnquote(room[:0], name); err != nil {
				return "", err
			}
		}
		of, i := of, slices.IndexFunc(fields, func(f field) bool { return f.name == string(name) })
		if i >= 0 {
			of, seen[i] = fields[i].of, fields[i].null || d.PeekKind() != 'n'
		}
		if path, err = lacks(d, of); path != "" {
			if begins == '[' {
				name = strconv.AppendInt(nil, int64(n), 10)
			}
			return "." + string(name) + path, nil
		}
	}
	for i, f := range fields {
		if err == nil && f.always && !seen[i] {
			return "." + f.name, nil
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return "", err
}
