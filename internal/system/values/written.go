package values

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
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

// form is what JSON of a type consists of.
type form struct {
	fields []field      // of a struct
	of     reflect.Type // of the values of a list or map; nil of everything else
}

type field struct {
	name         string
	of           reflect.Type
	always, null bool // whether it has to be there, and may be null
}

var forms sync.Map // by reflect.Type

func formOf(t reflect.Type) (f form) {
	if have, ok := forms.Load(t); ok {
		return have.(form)
	}
	nullable := []reflect.Kind{reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice}
	p := reflect.PointerTo(t)
	switch own := p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()); {
	case own:
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		f.of = t.Elem()
	case t.Kind() == reflect.Struct:
		for _, x := range reflect.VisibleFields(t) {
			tag := x.Tag.Get("json")
			if name, _, _ := strings.Cut(tag, ","); name != "" && name != "-" {
				f.fields = append(f.fields, field{name, x.Type, !strings.Contains(tag, ",omit"), slices.Contains(nullable, x.Type.Kind())})
			}
		}
	}
	forms.Store(t, f)
	return f
}

// lacks reads a value, and gives the path of the field that it lacks, "" if there is none.
func lacks(d *jsontext.Decoder, t reflect.Type) (path string, err error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	f, begins := formOf(t), d.PeekKind()
	if f.fields == nil && f.of == nil || begins != '{' && begins != '[' {
		return "", d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return "", err
	}
	seen := uint64(0)
	for n := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; n++ {
		of, at := f.of, ""
		if begins == '{' {
			quoted, err := d.ReadValue()
			if err != nil {
				return "", err
			}
			name := quoted[1 : len(quoted)-1]
			i := slices.IndexFunc(f.fields, func(x field) bool { return x.name == string(name) })
			if i >= 0 {
				of, at = f.fields[i].of, f.fields[i].name
				if f.fields[i].null || d.PeekKind() != 'n' {
					seen |= 1 << i
				}
			} else if at = string(name); f.of == nil {
				if err := d.SkipValue(); err != nil {
					return "", err
				}
				continue
			}
		}
		path, err := lacks(d, of)
		if begins == '[' {
			at = fmt.Sprint(n)
		}
		if path != "" || err != nil {
			return "." + at + path, err
		}
	}
	for i, x := range f.fields {
		if x.always && seen&(1<<i) == 0 {
			return "." + x.name, nil
		}
	}
	_, err = d.ReadToken()
	return "", err
}
