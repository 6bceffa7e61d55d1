package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Key is a key of a map. Paths within a configuration are lists of string (attribute), int (element of a list) and Key.
type Key string

// Show writes a path as step.Problem does: rows[2].cells, weights["a"].
func Show(path []any) string {
	var b strings.Builder
	for _, p := range path {
		switch p := p.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p)
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		case Key:
			fmt.Fprintf(&b, "[%q]", string(p))
		}
	}
	return b.String()
}

// indexes match what differs between the paths of one list's or map's elements.
var indexes = regexp.MustCompile(`\[(?:[0-9]+|"(?:[^"\\]|\\.)*")\]`)

var pathPart = regexp.MustCompile(`^(?:\.?([^.\[]+)|\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\])`)

// ParsePath reads what Show writes, and of other forms as much as it understands: the place is then less exact.
func ParsePath(s string) (path []any) {
	for {
		m := pathPart.FindStringSubmatch(s)
		if m == nil {
			return path
		}
		s = s[len(m[0]):]
		if k, err := strconv.Unquote(m[3]); err == nil {
			path = append(path, Key(k))
		} else if i, err := strconv.Atoi(m[2]); err == nil {
			path = append(path, i)
		} else if m[1] != "" {
			path = append(path, m[1])
		} else {
			return path
		}
	}
}

// AttrOf is the attribute of that name; nil if there is none.
func AttrOf(attrs []step.Attr, name string) *step.Attr {
	if i := slices.IndexFunc(attrs, func(a step.Attr) bool { return a.Name == name }); i >= 0 {
		return &attrs[i]
	}
	return nil
}

// FilledIn reports an attribute that loading or planning sets, so that nobody writes it.
func FilledIn(a *step.Attr) bool { return strings.HasPrefix(a.Help, "filled in ") }

// held is what an attribute's blocks hold, which attribute a label fills ("": none), and whether several are allowed.
func held(a *step.Attr) (object step.Type, label string, several bool) {
	object, several = a.Type, a.Type.Kind == step.List
	if several {
		object = *a.Type.Elem
	}
	for _, within := range object.Attrs {
		if within.Label {
			label = within.Name
		}
	}
	return object, label, several
}

// Typos are attributes, by block, that a misspelled name most likely meant: that they are missing is no news.
type Typos map[string]bool

func (t Typos) add(block hcl.Range, attr string) { t[block.String()+" "+attr] = true }

func (t Typos) has(block hcl.Range, attr string) bool { return t[block.String()+" "+attr] }

// attr finds the attribute that a path ends in; nil: a part of the path names no attribute, and names lists what it could be.
func (r *Reader) attr(path []any) (found *step.Attr, names []string) {
	t := step.Type{Kind: step.Object, Attrs: r.Spec.Attrs}
	for _, p := range path {
		name, isName := p.(string)
		switch {
		case isName && t.Kind != step.Object, !isName && t.Elem == nil:
			return nil, nil
		case !isName:
			t = *t.Elem
			continue
		}
		if found = AttrOf(t.Attrs, name); found == nil {
			return nil, lists.Map(t.Attrs, func(a step.Attr) string { return a.Name })
		}
		t = found.Type
	}
	return found, nil
}

// Locate finds the place of a path: the value, or what should have held it.
func (r *Reader) Locate(path []any) hcl.Range {
	rng, _ := r.Find(path, false)
	return rng
}

// Find is the narrowest place of a path that the source shows, of its name by byName; ok is false if no attribute is written.
func (r *Reader) Find(path []any, byName bool) (rng hcl.Range, ok bool) {
	body, attrs := r.Block.Body, r.Spec.Attrs
	rng = r.Block.DefRange()
	for len(path) > 0 {
		name, isName := path[0].(string)
		if !isName {
			return rng, true
		}
		if a := body.Attributes[name]; a != nil {
			return r.within(a.Expr, path[1:], byName)
		}
		attr := AttrOf(attrs, name)
		if attr == nil || !attr.Block {
			return rng, false
		}
		list := syntax.Blocks(body, name)
		object, label, several := held(attr)
		n, rest := 0, path[1:]
		if several {
			if len(rest) == 0 {
				if len(list) == 0 {
					return rng, false
				}
				return list[0].TypeRange, true
			}
			if n, isName = rest[0].(int); !isName {
				return rng, true
			}
			rest = rest[1:]
		}
		if n >= len(list) {
			return rng, false
		}
		rng, body, attrs, path = list[n].DefRange(), list[n].Body, object.Attrs, rest
		if len(rest) == 1 && rest[0] == label && len(list[n].LabelRanges) == 1 {
			return list[n].LabelRanges[0], true
		}
	}
	return rng, true
}

// Narrow leads from a place down to where a text is in it: as it is, or at least a name of it.
func (r *Reader) Narrow(within hcl.Range, text, name string) hcl.Range {
	found, exact := within, false
	hclsyntax.VisitAll(r.Block.Body, func(n hclsyntax.Node) hcl.Diagnostics {
		t, ok := n.(*hclsyntax.TemplateExpr)
		if !ok || exact || t.Range().Start.Byte < within.Start.Byte || t.Range().End.Byte > within.End.Byte {
			return nil
		}
		for _, p := range t.Parts {
			lit, ok := p.(*hclsyntax.LiteralValueExpr)
			if !ok || lit.Val.Type() != cty.String {
				continue
			}
			if s := lit.Val.AsString(); len(t.Parts) == 1 && s == text {
				found, exact = t.Range(), true
			} else if found == within && strings.Contains("."+s+".", "."+name+".") {
				found = t.Range()
			}
		}
		return nil
	})
	return found
}

// within follows a path into an expression as far as it is written out.
func (r *Reader) within(e hclsyntax.Expression, path []any, byName bool) (hcl.Range, bool) {
	for len(path) > 0 {
		e = language.Unwrap(e)
		switch x := e.(type) {
		case *hclsyntax.TupleConsExpr:
			i, isIndex := path[0].(int)
			if !isIndex || i >= len(x.Exprs) {
				return e.Range(), true
			}
			e, path = x.Exprs[i], path[1:]
		case *hclsyntax.ObjectConsExpr:
			it, found := itemOf(x, r.Context, fmt.Sprint(path[0]))
			switch {
			case !found:
				return x.Range(), false
			case byName && len(path) == 1:
				return it.KeyExpr.Range(), true
			}
			e, path = it.ValueExpr, path[1:]
		default:
			return e.Range(), true
		}
	}
	return e.Range(), true
}

func itemOf(x *hclsyntax.ObjectConsExpr, ctx *hcl.EvalContext, key string) (hclsyntax.ObjectConsItem, bool) {
	for _, it := range x.Items {
		k, ds := it.KeyExpr.Value(ctx)
		if !ds.HasErrors() && !k.IsMarked() && k.IsKnown() && !k.IsNull() && k.Type() == cty.String && k.AsString() == key {
			return it, true
		}
	}
	return hclsyntax.ObjectConsItem{}, false
}
