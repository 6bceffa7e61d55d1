package step

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// TypeKind is the shape of an attribute.
type TypeKind string

// The shapes that a kind's configuration may have.
const (
	String    TypeKind = "string"
	Bool      TypeKind = "bool"
	Int       TypeKind = "integer"
	Float     TypeKind = "number"
	List      TypeKind = "list"
	Map       TypeKind = "map"
	Object    TypeKind = "object"
	InputOne  TypeKind = "artifact"
	InputMany TypeKind = "artifacts" // one artifact or a list of them
)

// Type is an attribute's type; Elem for list and map, Attrs for object.
type Type struct {
	Kind  TypeKind
	Elem  *Type
	Attrs []Attr
}

// String names the type as documentation and diagnostics print it.
func (t Type) String() string {
	switch t.Kind {
	case List, Map:
		return string(t.Kind) + " of " + t.Elem.String()
	}
	return string(t.Kind)
}

// HasInput reports whether a value of the type can hold an artifact.
func (t Type) HasInput() bool {
	switch t.Kind {
	case InputOne, InputMany:
		return true
	case List, Map:
		return t.Elem.HasInput()
	case Object:
		return slices.ContainsFunc(t.Attrs, func(a Attr) bool { return a.Type.HasInput() })
	}
	return false
}

// Attr is one attribute of a kind, read from its struct tags:
//
//	hcl:"name[,optional][,block][,label][,added][,nokey][,names][,secret][,was=name]"  help:"…"  [accepts:"type"]  [enum:"a,b"]
//	[min:"1" or above:"0"]  [max:"1" or below:"1"]
//
// An embedded struct stands for its attributes, so that kinds share them. A field with hcl:"-" is none.
//
// optional attributes have their default from Kind.Defaults. block marks a list of objects that HCL writes
// as repeated blocks; label is the attribute of such an object that the block's label fills. added marks an
// option that came after the kind was first published: it is left out of the key while it has its default,
// so that no key moved. The key has only the sorted names of a map marked names. A map marked secret says by
// name where values are found that are nowhere else, and takes sensitive variables. was is the name under
// which the attribute was published: keys still have it, so that none moved, and configurations may.
type Attr struct {
	Name     string
	Help     string
	Type     Type
	Optional bool
	Block    bool
	Label    bool
	Added    bool
	NoKey    bool
	Names    bool
	Secret   bool
	Was      string   // former name, which keys have; ""
	Accepts  string   // artifact types that an input takes, with commas between them; "" for any
	Enum     []string // allowed strings
	Range    Range    // allowed numbers
	Default  any      // configuration tree; nil where required or unset
	index    []int    // of the field, through structs that are embedded
}

var (
	inputType  = reflect.TypeOf(Input{})
	inputsType = reflect.TypeOf(Inputs(nil))
)

// schemaOf reads the attributes of a struct type. A mistake in the tags is a programming error and panics.
func schemaOf(t reflect.Type) []Attr {
	var attrs []Attr
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("hcl")
		if !ok && f.Anonymous {
			for _, a := range schemaOf(f.Type) {
				a.index = append([]int{i}, a.index...)
				attrs = append(attrs, a)
			}
			continue
		}
		if tag == "-" || !ok && !f.IsExported() {
			continue // the kind's own
		}
		if !ok {
			panic(fmt.Sprintf("%s.%s has no hcl tag", t, f.Name))
		}
		parts := strings.Split(tag, ",")
		a := Attr{Name: parts[0], Help: f.Tag.Get("help"), Accepts: f.Tag.Get("accepts"), index: []int{i}}
		if a.Name == "" || strings.HasPrefix(a.Name, "$") || a.Help == "" {
			panic(fmt.Sprintf("%s.%s needs a name and a help text", t, f.Name))
		}
		flags := map[string]*bool{"optional": &a.Optional, "block": &a.Block, "label": &a.Label, "added": &a.Added, "nokey": &a.NoKey, "names": &a.Names, "secret": &a.Secret}
		for _, p := range parts[1:] {
			flag := flags[p]
			was, isName := strings.CutPrefix(p, "was=")
			switch {
			case flag != nil:
				*flag = true
			case isName && was != "":
				a.Was = was
			default:
				panic(fmt.Sprintf("%s.%s: unknown tag option %q", t, f.Name, p))
			}
		}
		a.Optional = a.Optional || a.Block || a.Added
		if e := f.Tag.Get("enum"); e != "" {
			a.Enum = strings.Split(e, ",")
		}
		var err error
		if a.Range, err = rangeOf(f.Tag); err != nil {
			panic(fmt.Sprintf("%s.%s: %v", t, f.Name, err))
		}
		a.Type = typeOf(f.Type)
		attrs = append(attrs, a)
	}
	return attrs
}

func typeOf(t reflect.Type) Type {
	switch t {
	case inputType:
		return Type{Kind: InputOne}
	case inputsType:
		return Type{Kind: InputMany}
	}
	switch t.Kind() {
	case reflect.String:
		return Type{Kind: String}
	case reflect.Bool:
		return Type{Kind: Bool}
	case reflect.Int, reflect.Int64:
		return Type{Kind: Int}
	case reflect.Float64:
		return Type{Kind: Float}
	case reflect.Pointer:
		return typeOf(t.Elem())
	case reflect.Slice:
		return Type{Kind: List, Elem: new(typeOf(t.Elem()))}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return Type{Kind: Map, Elem: new(typeOf(t.Elem()))}
		}
	case reflect.Struct:
		return Type{Kind: Object, Attrs: schemaOf(t)}
	}
	panic(fmt.Sprintf("%s cannot be an attribute of a kind", t))
}

// Range bounds a number, or every number of a list or map; the zero value bounds nothing.
type Range struct {
	Min, Max     *float64 `json:",omitempty"`
	Above, Below bool     `json:",omitempty"` // Min and Max themselves are out of it
}

func rangeOf(f reflect.StructTag) (r Range, err error) {
	for _, tag := range []struct {
		name  string
		bound **float64
		open  *bool
	}{{"min", &r.Min, nil}, {"above", &r.Min, &r.Above}, {"max", &r.Max, nil}, {"below", &r.Max, &r.Below}} {
		text, ok := f.Lookup(tag.name)
		if !ok {
			continue
		}
		if *tag.bound != nil {
			return r, fmt.Errorf("two bounds on one side, with %s", tag.name)
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return r, fmt.Errorf("%s: %w", tag.name, err)
		}
		*tag.bound = &v
		if tag.open != nil {
			*tag.open = true
		}
	}
	return r, nil
}

// String says what is in the range, such as "1 to 10"; "" for all numbers.
func (r Range) String() string {
	if r.Min != nil && r.Max != nil && !r.Above && !r.Below {
		return decimal(*r.Min) + " to " + decimal(*r.Max)
	}
	var parts []string
	switch {
	case r.Min != nil && r.Above:
		parts = append(parts, "above "+decimal(*r.Min))
	case r.Min != nil:
		parts = append(parts, decimal(*r.Min)+" or more")
	}
	switch {
	case r.Max != nil && r.Below:
		parts = append(parts, "below "+decimal(*r.Max))
	case r.Max != nil:
		parts = append(parts, "at most "+decimal(*r.Max))
	}
	return strings.Join(parts, " and ")
}

func (r Range) has(v float64) bool {
	return (r.Min == nil || v > *r.Min || v == *r.Min && !r.Above) && (r.Max == nil || v < *r.Max || v == *r.Max && !r.Below)
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
