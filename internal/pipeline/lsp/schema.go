package lsp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/reference"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// attrsOf lists what may be in the innermost of some blocks of a document.
func (s *server) attrsOf(d *document, blocks []header) []step.Attr {
	if len(blocks) == 0 {
		return nil
	}
	t := declare.Of(blocks[0].typ)
	attrs := t.Attrs(s.Load.Registry, t.KindOf(blocks[0].labels))
	if t != nil && t.Makes == declare.MakesCall {
		if x := s.work.module(d, strings.Join(blocks[0].labels, ".")); x != nil { // its block sets its variables
			attrs = append(attrs, lists.Map(s.work.inside(x, "variable"), func(v decl) step.Attr { return v.attr })...)
		}
	}
	for _, b := range blocks[1:] {
		a := schema.AttrOf(attrs, b.typ)
		if a == nil || !a.Block {
			return nil
		}
		attrs = element(a.Type).Attrs
	}
	return attrs
}

// element is a list's or map's type of elements, or the type itself.
func element(t step.Type) step.Type {
	for t.Elem != nil {
		t = *t.Elem
	}
	return t
}

// attrAt follows a path into a value, and returns what is expected there; nil: anything.
func attrAt(attrs []step.Attr, path []string) *step.Attr {
	if len(path) == 0 {
		return nil
	}
	a := schema.AttrOf(attrs, path[0])
	if a == nil {
		return nil
	}
	at := *a
	for _, p := range path[1:] {
		switch t := at.Type; {
		case p == "[]" && t.Kind == step.List || p != "[]" && t.Kind == step.Map:
			at.Type = *t.Elem
		case p == "[]" && t.Kind == step.InputMany:
		case p == "{}" && t.Kind == step.Object:
		case t.Kind == step.Object:
			inner := schema.AttrOf(t.Attrs, p)
			if inner == nil {
				return nil
			}
			at = *inner
		default:
			return nil
		}
	}
	return &at
}

// takesArtifact reports whether a value that is one artifact may be there.
func takesArtifact(a *step.Attr) bool {
	return a != nil && (a.Type.Kind == step.InputOne || a.Type.Kind == step.InputMany)
}

// describeAttr writes what an attribute is as Markdown.
func describeAttr(a *step.Attr) string {
	need := "required"
	if a.Optional {
		need = "optional"
	}
	form := a.Type.String()
	if a.Block {
		form = "block"
	}
	text := fmt.Sprintf("`%s` (%s, %s)\n\n%s", a.Name, form, need, reference.Sentence(a.Help))
	if len(a.Enum) > 0 {
		text += "\n\nOne of `\"" + strings.Join(a.Enum, "\"`, `\"") + "\"`."
	}
	if a.Accepts != "" {
		text += "\n\nTakes artifacts of type `" + strings.ReplaceAll(a.Accepts, ",", "` or `") + "`."
	}
	if a.Default != nil {
		if b, err := json.Marshal(a.Default); err == nil && len(b) < 500 {
			text += fmt.Sprintf("\n\nDefault: `%s`.", b)
		}
	}
	if a.NoKey {
		text += "\n\nNot part of the key."
	}
	return text
}
