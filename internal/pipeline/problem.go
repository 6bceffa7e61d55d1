package pipeline

import (
	"errors"
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
	"github.com/redsi/redsi/step"
)

// A path within a configuration is a list of string (attribute), int (element of
// a list) and key (of a map).
type key string

// show writes a path as step.Problem does: rows[2].cells, weights["a"].
func show(path []any) string {
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
		case key:
			fmt.Fprintf(&b, "[%q]", string(p))
		}
	}
	return b.String()
}

// pattern is a path without what differs between the elements of one list or map.
func pattern(path []any) string {
	general := make([]any, len(path))
	for i, p := range path {
		switch p.(type) {
		case int:
			general[i] = 0
		case key:
			general[i] = key("")
		default:
			general[i] = p
		}
	}
	return show(general)
}

var pathPart = regexp.MustCompile(`^(?:\.?([^.\[]+)|\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\])`)

// parsePath reads what show writes. Of a path in another form it takes as much
// as it understands: the place is then less exact, but right.
func parsePath(s string) (path []any) {
	for {
		m := pathPart.FindStringSubmatch(s)
		if m == nil {
			return path
		}
		s = s[len(m[0]):]
		if k, err := strconv.Unquote(m[3]); err == nil {
			path = append(path, key(k))
		} else if i, err := strconv.Atoi(m[2]); err == nil {
			path = append(path, i)
		} else if m[1] != "" {
			path = append(path, m[1])
		} else {
			return path
		}
	}
}

// problems reports what a kind found wrong with a configuration, except where
// something wrong has been reported already.
func (c *config) problems(err error) {
	all := flatten(err)
	for _, p := range all {
		path := parsePath(p.Path)
		if _, names := c.attr(path); names != nil && !c.covered(path) {
			last := fmt.Sprint(path[len(path)-1])
			within := path[:len(path)-1]
			rng, _ := c.find(path, true)
			c.fail(path, rng, "Unknown attribute", fmt.Sprintf("%s has no attribute %q. %s", show(within), last, syntax.Suggest(last, names, "attribute")))
			c.l.typos[typo(c.locate(within), syntax.Nearest(last, names))] = true
		}
	}
	for _, p := range all {
		path := parsePath(p.Path)
		if c.covered(path) {
			continue
		}
		rng, given := c.find(path, false)
		if a, _ := c.attr(path); a != nil && !a.Optional && !given {
			if !c.l.typos[typo(rng, a.Name)] {
				c.fail(path, rng, "Missing attribute", c.missing(path, a))
			}
			continue
		}
		detail := strings.TrimRight(p.Error(), ".")
		if !strings.HasSuffix(detail, "?") {
			detail += "."
		}
		c.fail(path, rng, "Value not allowed", detail+c.hint(path, rng, p.Detail))
	}
}

// flatten lists the problems in an error, of whatever make it is.
func flatten(err error) step.Problems {
	var many step.Problems
	var one step.Problem
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			many = append(many, flatten(e)...)
		}
		return many
	}
	switch {
	case errors.As(err, &many):
		return many
	case errors.As(err, &one):
		return step.Problems{one}
	}
	return step.Problems{{Detail: err.Error()}}
}

func (c *config) covered(path []any) bool {
	return slices.ContainsFunc(c.broken, func(b []any) bool {
		n := min(len(b), len(path))
		return n > 0 && slices.Equal(b[:n], path[:n])
	})
}

// attr finds the attribute that a path ends in, if no part of the path lacks one; else it is
// nil, and names are what is there in its place, if that is an object.
func (c *config) attr(path []any) (found *step.Attr, names []string) {
	t := step.Type{Kind: step.Object, Attrs: c.b.spec.Attrs}
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
			for _, a := range t.Attrs {
				names = append(names, a.Name)
			}
			return nil, names
		}
		t = found.Type
	}
	return found, nil
}

func (c *config) missing(path []any, a *step.Attr) string {
	owner := c.b.owner()
	if len(path) > 1 {
		owner = show(path[:len(path)-1])
	}
	return fmt.Sprintf("%s needs %s = … (%s): %s", owner, a.Name, a.Type, strings.TrimRight(a.Help, ".")+".")
}

// locate finds the place of a path: the value, or what should have held it.
func (c *config) locate(path []any) hcl.Range {
	rng, _ := c.find(path, false)
	return rng
}

// find returns the narrowest place of a path that the source shows; of the name
// instead of the value if name is set. ok is false if an attribute on the path
// was not written.
func (c *config) find(path []any, byName bool) (rng hcl.Range, ok bool) {
	body, attrs := c.b.Body, c.b.spec.Attrs
	rng = syntax.Header(c.b.Block)
	for len(path) > 0 {
		name, isName := path[0].(string)
		if !isName {
			return rng, true
		}
		if a := body.Attributes[name]; a != nil {
			return c.within(a.Expr, path[1:], byName)
		}
		attr := AttrOf(attrs, name)
		if attr == nil || !attr.Block {
			return rng, false
		}
		blocks := syntax.Blocks(body, name)
		n, rest := 0, path[1:]
		if attr.Type.Kind == step.List {
			if len(rest) == 0 {
				if len(blocks) == 0 {
					return rng, false
				}
				return blocks[0].TypeRange, true
			}
			if n, isName = rest[0].(int); !isName {
				return rng, true
			}
			rest = rest[1:]
		}
		if n >= len(blocks) {
			return rng, false
		}
		object := blockObject(attr)
		rng, body, attrs, path = syntax.Header(blocks[n]), blocks[n].Body, object.Attrs, rest
		if len(rest) == 1 && rest[0] == labelOf(object) && len(blocks[n].LabelRanges) == 1 {
			return blocks[n].LabelRanges[0], true
		}
	}
	return rng, true
}

// AttrOf is the attribute of that name; nil if there is none.
func AttrOf(attrs []step.Attr, name string) *step.Attr {
	if i := slices.IndexFunc(attrs, func(a step.Attr) bool { return a.Name == name }); i >= 0 {
		return &attrs[i]
	}
	return nil
}

// within follows a path into an expression as far as it is written out.
func (c *config) within(e hclsyntax.Expression, path []any, byName bool) (hcl.Range, bool) {
	for len(path) > 0 {
		e = language.Unwrap(e)
		switch x := e.(type) {
		case *hclsyntax.TupleConsExpr:
			i, isIndex := path[0].(int)
			if !isIndex || i >= len(x.Exprs) {
				return e.Range(), true
			}
			e, path = x.Exprs[i], path[1:]
			continue
		case *hclsyntax.ObjectConsExpr:
			it, found := itemOf(x, c.inst.ctx, fmt.Sprint(path[0]))
			switch {
			case !found:
				return x.Range(), false
			case byName && len(path) == 1:
				return it.KeyExpr.Range(), true
			}
			e, path = it.ValueExpr, path[1:]
			continue
		}
		return e.Range(), true
	}
	return e.Range(), true
}

// itemOf is the item of a key.
func itemOf(x *hclsyntax.ObjectConsExpr, ctx *hcl.EvalContext, key string) (hclsyntax.ObjectConsItem, bool) {
	for _, it := range x.Items {
		k, ds := it.KeyExpr.Value(ctx)
		if !ds.HasErrors() && !k.IsMarked() && k.IsKnown() && !k.IsNull() && k.Type() == cty.String && k.AsString() == key {
			return it, true
		}
	}
	return hclsyntax.ObjectConsItem{}, false
}
