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

// Lacks returns an error that names the first field that a JSON text lacks although writers of v's type always write
// it, without omitempty and omitzero: it would read as zero, a value, too. Types that decode themselves are left out.
func Lacks(text []byte, v any) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	name, err := lacks(d, shapeOf(reflect.TypeOf(v)))
	if name != "" {
		return fmt.Errorf("there is no field %s: the text was cut, edited, or written by another program", strings.TrimPrefix(name, "."))
	}
	return err
}

type shape struct {
	fields []field // empty unless it is a struct that does not decode itself
	of     *shape  // of the elements of a list or map
	deep   bool    // it is a struct with fields, or a list or map with such structs in it
}

type field struct {
	name         string
	of           func() *shape // called late, since a type may contain itself
	always, null bool          // whether it has to be there, and may be null
}

var shapes sync.Map // *shape by reflect.Type

func shapeOf(t reflect.Type) *shape {
	if have, ok := shapes.Load(t); ok {
		return have.(*shape)
	}
	s := &shape{}
	p, nullable := reflect.PointerTo(t), []reflect.Kind{reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice}
	switch t.Kind() {
	case reflect.Pointer:
		s = shapeOf(t.Elem())
	case reflect.Slice, reflect.Map:
		s.of = shapeOf(t.Elem())
		s.deep = s.of.deep
	case reflect.Struct:
		if p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			break
		}
		for _, f := range reflect.VisibleFields(t) {
			tag := f.Tag.Get("json")
			if name, _, _ := strings.Cut(tag, ","); name != "" && name != "-" {
				of := sync.OnceValue(func() *shape { return shapeOf(f.Type) })
				s.fields, s.deep = append(s.fields, field{name, of, !strings.Contains(tag, ",omit"), slices.Contains(nullable, f.Type.Kind())}), true
			}
		}
	}
	shapes.Store(t, s)
	return s
}

// lacks reads a value with a shape, which may be nil, and returns the path of the first field that it lacks; "" if none.
func lacks(d *jsontext.Decoder, s *shape) (path string, err error) {
	begins := d.PeekKind()
	if begins != '{' && begins != '[' || s == nil || !s.deep {
		return "", d.SkipValue()
	}
	_, err = d.ReadToken()
	seen := make([]bool, len(s.fields))
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
		of, i := s.of, slices.IndexFunc(s.fields, func(f field) bool { return f.name == string(name) })
		if i >= 0 {
			of, seen[i] = s.fields[i].of(), s.fields[i].null || d.PeekKind() != 'n'
		}
		if path, err = lacks(d, of); path != "" {
			if begins == '[' {
				name = strconv.AppendInt(nil, int64(n), 10)
			}
			return "." + string(name) + path, nil
		}
	}
	for i, f := range s.fields {
		if err == nil && f.always && !seen[i] {
			return "." + f.name, nil
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return "", err
}
