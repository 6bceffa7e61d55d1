// Package reference writes what a pipeline file may contain: the step kinds with their attributes and outputs, and the
// functions of expressions, for `redsi kinds` and docs/kinds. All of it comes from the registry and the function library,
// so that it says what the loader accepts.
package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Kind is what is written about one kind; it is also its JSON form.
type Kind struct {
	Name     string   `json:"name"`
	Block    string   `json:"block"` // step, table or figure
	Family   string   `json:"family"`
	Version  int      `json:"version"`
	Summary  string   `json:"summary"`
	Doc      string   `json:"doc"`
	Queue    string   `json:"queue"`
	Needs    string   `json:"needs,omitempty"`
	Parts    []string `json:"parts,omitempty"`
	Attrs    []Attr   `json:"attributes"`
	Outputs  []Output `json:"outputs"`
	Example  string   `json:"example,omitempty"`
	longName string
}

// Attr is one attribute, or block, of a kind.
type Attr struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Required bool     `json:"required"`
	Default  any      `json:"default,omitempty"`
	Block    bool     `json:"block,omitempty"`
	Label    bool     `json:"label,omitempty"`
	NoKey    bool     `json:"not_in_key,omitempty"`
	Accepts  string   `json:"accepts,omitempty"`
	Enum     []string `json:"enum,omitempty"`
	Range    string   `json:"range,omitempty"` // of numbers, such as "1 or more"
	Help     string   `json:"help"`
	Attrs    []Attr   `json:"attributes,omitempty"` // of an object
}

type Output struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
	Tree bool   `json:"tree,omitempty"`
	Help string `json:"help,omitempty"`

	// How two results are compared where their bytes differ, and why so.
	Compared string `json:"compared_by"`
	Why      string `json:"compared_why,omitempty"`

	Fields []Field `json:"fields,omitempty"` // of JSON that is declared
}

// Field is a number, text or bool of an output's JSON. In its path, [] is an element's number and * any name.
type Field struct {
	Path string `json:"path"`
	Type string `json:"type"`
	Unit string `json:"unit,omitempty"`
}

// Kinds describes every kind that can be written in a pipeline: families in the registry's order, their kinds by name.
func Kinds(reg *step.Registry) []Kind {
	var out []Kind
	order := map[string]int{}
	for _, s := range reg.Kinds() {
		if s.Hidden {
			continue
		}
		k := describe(s)
		if _, met := order[k.Family]; !met {
			order[k.Family] = len(order)
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Kind) int {
		return cmp.Or(order[a.Family]-order[b.Family], strings.Compare(a.longName, b.longName))
	})
	return out
}

// Find describes one kind by its name or, for a table or figure, by its block.
func Find(reg *step.Registry, name string) (Kind, error) {
	all := Kinds(reg)
	if i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name || k.Block == name && k.Block != "step" }); i >= 0 {
		return all[i], nil
	}
	if n := syntax.Nearest(name, lists.Map(all, func(k Kind) string { return k.Name })); n != "" {
		return Kind{}, fmt.Errorf("there is no kind %q; did you mean %q?", name, n)
	}
	return Kind{}, fmt.Errorf("there is no kind %q: redsi kinds lists them", name)
}

func describe(s step.Spec) Kind {
	k := Kind{Name: s.Name, Block: "step", Family: cmp.Or(s.Family, "Kinds of this build"), Version: s.Version, Doc: strings.TrimSpace(s.Doc), Queue: string(s.Queue), Needs: s.SecondFor(),
		Parts: lists.Map(s.Parts, func(p step.Spec) string { return p.Name }), Attrs: attributes(s.Attrs, nil),
		Example: strings.Trim(s.Example, "\n"), longName: s.Name}
	k.Summary, _, _ = strings.Cut(k.Doc, "\n")
	if t := declare.OfKind(s.Name); s.Block && t != nil {
		k.Block = t.Name
		k.longName = k.Block + " block"
	}
	for _, o := range s.Outputs {
		out := Output{Name: o.Name, Type: o.Type, Tree: o.Tree, Help: Sentence(o.Help), Compared: o.Rule().String(), Why: o.Why}
		if o.Fields != nil {
			for path, f := range o.Fields.All() {
				out.Fields = append(out.Fields, Field{path, string(f.Type), f.Unit})
			}
		}
		k.Outputs = append(k.Outputs, out)
	}
	return k
}

func (o Output) compared() string {
	if o.Why == "" {
		return o.Compared
	}
	return o.Compared + " (" + o.Why + ")"
}

// fieldList names an output's fields in a paragraph, each with its unit, or its type if that is not integer.
func (o Output) fieldList(quote string) string {
	var list []string
	for _, f := range o.Fields {
		word := quote + f.Path + quote
		switch {
		case f.Unit != "":
			word += " (" + f.Unit + ")"
		case f.Type != string(step.Int):
			word += " (" + f.Type + ")"
		}
		list = append(list, word)
	}
	return "Fields of " + quote + o.Name + quote + ": " + strings.Join(list, ", ") + "."
}

func attributes(attrs []step.Attr, defaults map[string]any) []Attr {
	out := make([]Attr, len(attrs))
	for i, a := range attrs {
		def := a.Default
		if def == nil {
			def = defaults[a.Name]
		}
		out[i] = Attr{Name: a.Name, Type: a.Type.String(), Required: !a.Optional, Default: def, Block: a.Block,
			Label: a.Label, NoKey: a.NoKey, Accepts: a.Accepts, Enum: a.Enum, Range: a.Range.String(), Help: Sentence(a.Help)}
		t := a.Type
		for t.Elem != nil {
			t = *t.Elem
		}
		if t.Kind == step.Object {
			within, _ := def.(map[string]any)
			if within != nil {
				out[i].Default = nil
			}
			out[i].Attrs = attributes(t.Attrs, within)
		}
	}
	return out
}

// Sentence is a help text that ends with a full stop.
func Sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// row is one line about an attribute, with the path of what it is within.
type row struct {
	path string
	attr Attr
}

// rows lists attributes, each followed by the attributes of its objects.
func rows(attrs []Attr, within string) (list []row) {
	for _, a := range attrs {
		list = append(list, row{within + a.Name, a})
		list = append(list, rows(a.Attrs, within+a.Name+".")...)
	}
	return list
}

func (a Attr) form() string {
	t := a.Type
	switch {
	case a.Label:
		t = "label"
	case a.Block:
		t = "blocks"
	case len(a.Enum) > 0:
		quoted := lists.Map(a.Enum, strconv.Quote)
		switch list := strings.Join(quoted, ", "); {
		case t == "list of string":
			t = "list of " + list
		case len(a.Enum) > 3:
			t = "one of " + list
		default:
			t = strings.Join(quoted, " or ")
		}
	case a.Range != "":
		t += ", " + a.Range
	case a.Accepts != "":
		t += " of type " + strings.ReplaceAll(a.Accepts, ",", " or ")
	}
	return t
}
