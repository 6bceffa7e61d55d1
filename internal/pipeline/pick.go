package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v3"

	"github.com/redsi/redsi/step"
)

// pick is pick(text, names...): of a text in YAML or JSON the parameters with these names, lists whole, each
// written as in the text, since a program may tell 1.0 from 1, and reads `no` in its own way. There
// are no comments.
var pick = function.New(&function.Spec{
	Params:   []function.Parameter{textParam("text")},
	VarParam: &function.Parameter{Name: "names", Type: cty.String},
	Type:     function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		text := []byte(args[0].AsString())
		root, encode := any(json.RawMessage(text)), json.Marshal
		if !json.Valid(text) {
			var n yaml.Node
			if _, err := decodeYAML(text); err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if err := yaml.Unmarshal(text, &n); err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if root, encode = nil, yaml.Marshal; len(n.Content) > 0 {
				root = n.Content[0]
			}
		}
		tree := map[string]any{}
		for _, a := range args[1:] {
			in, at := tree, root
			for w := step.WalkPath(a.AsString()); w.Next(); {
				if at = named(at, w.Name); at == nil {
					return cty.NilVal, fmt.Errorf("the text has no %s: names are keys with dots between them", a.AsString())
				}
				inner, more := in[w.Name].(map[string]any)
				if w.Last() || isList(at) || in[w.Name] != nil && !more { // or all of it is there
					in[w.Name] = at
					break
				}
				if !more {
					inner = map[string]any{}
					in[w.Name] = inner
				}
				in = inner
			}
		}
		b, err := encode(tree)
		return cty.StringVal(string(b)), err
	},
})

func isList(v any) bool {
	n, _ := v.(*yaml.Node)
	text, _ := v.(json.RawMessage)
	return n != nil && n.Kind == yaml.SequenceNode || strings.HasPrefix(string(text), "[")
}

// named is what a mapping has for a key; nil without it.
func named(in any, key string) any {
	switch in := in.(type) {
	case json.RawMessage:
		var m map[string]json.RawMessage
		_ = json.Unmarshal(in, &m) // what is no mapping has no names
		if v, ok := m[key]; ok {
			return v
		}
	case *yaml.Node:
		var m map[string]yaml.Node
		_ = in.Decode(&m) // what is no mapping has no names
		if v, ok := m[key]; ok {
			return asWritten(&v)
		}
	}
	return nil
}

// asWritten is a node without comments, and with what its aliases stand for.
func asWritten(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return asWritten(n.Alias)
	}
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style}
	for _, c := range n.Content {
		out.Content = append(out.Content, asWritten(c))
	}
	return out
}
