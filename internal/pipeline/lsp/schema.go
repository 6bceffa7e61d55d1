package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/reference"
	"github.com/redsi/redsi/step"
)

var anything = step.Type{Kind: "any"}

// commonAttrs are those of all blocks that stand for steps, beside those of their kinds.
var commonAttrs = []step.Attr{
	{Name: "for_each", Type: anything, Optional: true, Help: "A map, or a set or list of texts: the block stands for one step or module of each key, in which each.key and each.value are that element. product({ … }) makes all combinations of several lists; files(ARTIFACT, PATTERN) is the files that a step leaves, each of which is each.file"},
	{Name: "when", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "The step is skipped where this is false. json(ARTIFACT, \"FILE:FIELD\") asks what another step found"},
	{Name: "otherwise", Type: step.Type{Kind: step.String}, Optional: true, Help: "Why the block is left out where its when is false, in a sentence: the plan, the end of a run and the report say so"},
	{Name: "allow_empty", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "There may be no piece of a for_each over what a step leaves"},
	{Name: "keep", Type: step.Type{Kind: step.Bool}, Optional: true, Default: "true", Help: "false: the bytes of the step's outputs leave the store when all that read them are done, and come back by running it again. It is not part of the key"},
	{Name: "resources", Optional: true, Block: true, Help: "What the step needs to run. It is not part of the key", Type: formOf("resources")},
	{Name: "retry", Optional: true, Block: true, Help: "How a failed program is tried again. It is not part of the key", Type: formOf("retry")},
	{Name: "check", Optional: true, Block: true, Help: "What must be so of a number that the step leaves. It is not part of the key", Type: formOf("check")},
}

func formOf(block string) step.Type {
	return step.Type{Kind: step.Object, Attrs: pipeline.BlockAttrs(block)}
}

// attrsOf lists what may be in the innermost of some blocks of a document.
func (s *server) attrsOf(d *document, blocks []header) []step.Attr {
	if len(blocks) == 0 {
		return nil
	}
	attrs := pipeline.BlockAttrs(blocks[0].typ)
	if blocks[0].typ == "module" {
		attrs = s.moduleAttrsOf(d, blocks[0])
	} else if spec := s.Load.Registry.Lookup(blocks[0].kind()); spec != nil {
		attrs = slices.Concat(spec.Attrs, commonAttrs)
	}
	for _, b := range blocks[1:] {
		a := pipeline.AttrOf(attrs, b.typ)
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

// attrAt follows a path into a value: what is expected there; nil if that is not known.
func attrAt(attrs []step.Attr, path []string) *step.Attr {
	if len(path) == 0 {
		return nil
	}
	a := pipeline.AttrOf(attrs, path[0])
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
			inner := pipeline.AttrOf(t.Attrs, p)
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

// accepts reports whether an attribute takes an artifact of a type.
func accepts(a *step.Attr, typ string) bool {
	return a == nil || a.Accepts == "" || slices.Contains(strings.Split(a.Accepts, ","), typ)
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
