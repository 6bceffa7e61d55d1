package step

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Any is the shape of JSON of which nothing is declared.
const Any TypeKind = "any"

// Fields declares the shape of a JSON document, or of a part of it, so that the fields of an output are
// known before it exists. It is in no key.
type Fields struct {
	Type   TypeKind // Object, List, Map, Int, Float, String, Bool or Any
	Unit   string   // of a number, such as "percent"; "" for counts and plain numbers
	Object []Field  // the fields of an Object, in order
	Elem   *Fields  // of a List or Map
}

// Field is a named member of an object.
type Field struct {
	Name string
	Fields
}

// JSONFields is for types that write their JSON themselves, to declare it.
type JSONFields interface{ JSONFields() *Fields }

// FieldsOf declares the JSON that encoding/json writes of a T. Struct fields may have a tag `unit:"percent"`, which
// holds for all numbers below them that have no tag. Interfaces, and types with a MarshalJSON of their own, are Any.
func FieldsOf[T any]() *Fields {
	return new(fieldsOf(reflect.TypeFor[T](), "", nil))
}

var (
	jsonFields    = reflect.TypeFor[JSONFields]()
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func fieldsOf(t reflect.Type, unit string, within []reflect.Type) Fields {
	switch {
	case t.Kind() == reflect.Pointer:
		return fieldsOf(t.Elem(), unit, within)
	case t.Implements(jsonFields):
		return *reflect.Zero(t).Interface().(JSONFields).JSONFields()
	case t.Implements(jsonMarshaler), slices.Contains(within, t):
		return Fields{Type: Any}
	case t.Implements(textMarshaler):
		return Fields{Type: String}
	}
	within = append(slices.Clip(within), t)
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return Fields{Type: Bool}
	case k == reflect.String, k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return Fields{Type: String}
	case reflect.Int <= k && k <= reflect.Uint64:
		return Fields{Type: Int, Unit: unit}
	case k == reflect.Float32, k == reflect.Float64:
		return Fields{Type: Float, Unit: unit}
	case k == reflect.Slice, k == reflect.Array:
		return Fields{Type: List, Elem: new(fieldsOf(t.Elem(), unit, within))}
	case k == reflect.Map:
		return Fields{Type: Map, Elem: new(fieldsOf(t.Elem(), unit, within))}
	case k == reflect.Struct:
		return Fields{Type: Object, Object: members(t, unit, within)}
	}
	return Fields{Type: Any}
}

// members returns the fields of a struct, and of the structs that are embedded in it.
func members(t reflect.Type, unit string, within []reflect.Type) (list []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		u := unit
		if own, ok := f.Tag.Lookup("unit"); ok {
			u = own
		}
		of := fieldsOf(f.Type, u, within)
		if f.Anonymous && name == "" && of.Type == Object {
			list = append(list, of.Object...)
			continue
		}
		list = append(list, Field{cmp.Or(name, f.Name), of})
	}
	return list
}

// NoFieldError says that JSON does not have, or cannot have, the field of a path.
type NoFieldError struct {
	Path   string   // as it was asked for
	Name   string   // the part of it that leads nowhere
	Within string   // the path of the value that lacks the part; "" for the document
	Is     TypeKind // of that value, if it is not an object
	Names  []string // the fields of that value, if it is an object, as parts of a path
}

func (e *NoFieldError) Error() string {
	where := "it"
	if e.Within != "" {
		where = strconv.Quote(e.Within)
	}
	switch e.Is {
	case "", Object:
		names := cmp.Or(strings.Join(e.Names, ", "), "nothing")
		return fmt.Sprintf("there is no field %q: beside %q there is %s", e.Path, e.Name, names)
	case List:
		return fmt.Sprintf("there is no field %q: %s is a list, and %q is not the number of an element", e.Path, where, e.Name)
	}
	return fmt.Sprintf("there is no field %q: %s is of type %s and has no %q", e.Path, where, e.Is, e.Name)
}

// At returns the declaration at a path of names and numbers of elements, with dots between them. A path
// that cannot lead anywhere is a *NoFieldError.
func (f *Fields) At(path string) (*Fields, error) {
	at := f
	for w := WalkPath(path); w.Next(); {
		switch at.Type {
		case Any:
			return at, nil
		case Map:
			at = at.Elem
			continue
		case List:
			if _, ok := w.Index(); ok {
				at = at.Elem
				continue
			}
		}
		i := slices.IndexFunc(at.Object, func(m Field) bool { return m.Name == w.Name })
		if i < 0 {
			return nil, w.Lost(at.Type, lists.Map(at.Object, func(m Field) string { return m.Name }))
		}
		at = &at.Object[i].Fields
	}
	return at, nil
}

// With puts members of these names, which a configuration decides, in the place of the map at a path of f.
// It changes f and returns it. A path of no map is a programming error.
func (f *Fields) With(path string, names ...string) *Fields {
	at, err := f.At(path)
	if err != nil || at.Type != Map {
		panic(fmt.Sprintf("step: no map at %q: %v", path, err))
	}
	of := *at.Elem
	*at = Fields{Type: Object, Object: lists.Map(names, func(name string) Field { return Field{name, of.clone()} })}
	return f
}

// clone returns a copy that shares nothing that With could change.
func (f Fields) clone() Fields {
	f.Object = slices.Clone(f.Object)
	for i := range f.Object {
		f.Object[i].Fields = f.Object[i].clone()
	}
	if f.Elem != nil {
		f.Elem = new(f.Elem.clone())
	}
	return f
}

// All yields the declarations that are neither object, list nor map, by patterns such as "points[].step" and
// "counts.*": [] stands for every element, * for every name.
func (f *Fields) All() iter.Seq2[string, *Fields] {
	return func(yield func(string, *Fields) bool) { f.each("", yield) }
}

func (f *Fields) each(at string, yield func(string, *Fields) bool) bool {
	switch f.Type {
	case List:
		return f.Elem.each(at+"[]", yield)
	case Map:
		return f.Elem.each(join(at, "*"), yield)
	case Object:
		for i := range f.Object {
			if m := &f.Object[i]; !m.each(join(at, m.Name), yield) {
				return false
			}
		}
		return true
	}
	return yield(at, f)
}

// PathWalk follows a path in JSON, or in its declaration, part by part. Parts are names and numbers of elements, with
// dots between them; a part that begins with ' ends at the next ' before a dot or the end of the path: 'map@0.5'.mean.
type PathWalk struct {
	Name string // the present part

	path, rest, within string
	end                bool
}

// WalkPath begins before the first part.
func WalkPath(path string) *PathWalk { return &PathWalk{path: path, rest: path} }

// Next goes to the next part; false after the last.
func (w *PathWalk) Next() bool {
	if w.end {
		return false
	}
	if w.rest != w.path {
		w.within = join(w.within, PathOf(w.Name))
	}
	var more bool
	quoted, isQuoted := strings.CutPrefix(w.rest, "'")
	if at := strings.Index(quoted+".", "'."); isQuoted && at >= 0 {
		w.Name = quoted[:at]
		w.rest, more = strings.CutPrefix(quoted[at+1:], ".")
	} else {
		w.Name, w.rest, more = strings.Cut(w.rest, ".")
	}
	w.end = !more
	return true
}

// PathOf returns the path through names, each in quotes if it has a dot.
func PathOf(names ...string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		if parts[i] = name; strings.Contains(name, ".") {
			parts[i] = "'" + name + "'"
		}
	}
	return strings.Join(parts, ".")
}

// Index returns the present part as the number of an element of a list, from zero.
func (w *PathWalk) Index() (int, bool) {
	i, err := strconv.Atoi(w.Name)
	return i, err == nil && i >= 0
}

// In returns the value to which the present part leads from decoded JSON.
func (w *PathWalk) In(at any) (any, error) {
	switch x := at.(type) {
	case map[string]any:
		if next, ok := x[w.Name]; ok {
			return next, nil
		}
		return nil, w.Lost(Object, sortedKeys(x))
	case []any:
		if i, ok := w.Index(); ok && i < len(x) {
			return x[i], nil
		}
		return nil, w.Lost(List, nil)
	}
	return nil, w.Lost(String, nil)
}

// Lost returns the error that the present part leads nowhere from a value of that shape and these fields.
func (w *PathWalk) Lost(is TypeKind, names []string) error {
	for i, name := range names {
		names[i] = cmp.Or(PathOf(name), "''")
	}
	return &NoFieldError{Path: w.path, Name: w.Name, Within: w.within, Is: is, Names: names}
}

// Read is a field of a JSON input that a step will read. If the input is an output with
// Fields, it is checked before anything runs.
type Read struct {
	Attr  string // of the configuration, where a mistake is shown: columns[2].field
	Input Input
	Under string              // path of what Path begins at, which another Read checks; "" for the document
	Path  string              // with dots
	Check func(*Fields) error // may refuse the field, such as a list; nil takes every field
	Of    []string            // the parts of the output that come from it, such as cells ROW.COLUMN of a table; may be nil
}

// Field returns the path from the document.
func (r Read) Field() string {
	if r.Under == "" || strings.HasSuffix(r.Under, ":") { // a file of a tree, not an object in it
		return r.Under + r.Path
	}
	return r.Under + "." + r.Path
}

// CellName is a cell that an attribute of a configuration names.
type CellName struct {
	Attr string // as in Problem
	Cell string // ADDRESS:CELL, such as table.dedup_counts:url.train
}
