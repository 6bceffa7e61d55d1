package language

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v3"

	"github.com/redsi/redsi/step"
)

// pick is pick(text, names): the parameters of a YAML or JSON text with these names, each as the text writes it, since a
// program may tell 1.0 from 1 and read `no` in its own way, but without comments.
var pick = valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) {
	text := []byte(args[0].AsString())
	root, encode := any(json.RawMessage(text)), json.Marshal
	if !json.Valid(text) {
		var doc yaml.Node
		_, err := DecodeYAML(text)
		if err = cmp.Or(err, yaml.Unmarshal(text, &doc)); err != nil {
			return cty.NilVal, err
		}
		root, encode = &doc, yaml.Marshal
	}
	tree := map[string]any{}
	for _, a := range args[1].AsValueSlice() {
		in, at, w := tree, root, step.WalkPath(a.AsString())
		for more := w.Next(); more; {
			name := w.Name
			if at = named(at, name); at == nil {
				return cty.NilVal, fmt.Errorf("it has no %s: names are keys with dots between them", a.AsString())
			}
			inner, partly := in[name].(map[string]any)
			if more = w.Next() && !isList(at) && (partly || in[name] == nil); !more { // all of it
				in[name] = at
			} else if !partly {
				inner = map[string]any{}
				in[name] = inner
			}
			in = inner
		}
	}
	b, err := encode(tree)
	return cty.StringVal(string(b)), err
}, textParam("text"), function.Parameter{Name: "names", Type: cty.List(cty.String)})

func isList(v any) bool {
	n, _ := v.(*yaml.Node)
	text, _ := v.(json.RawMessage)
	return n != nil && n.Kind == yaml.SequenceNode || strings.HasPrefix(string(text), "[")
}

// named is what a mapping has for a key; nil without it, and of what is no mapping.
func named(in any, key string) any {
	var text map[string]json.RawMessage
	var nodes map[string]yaml.Node
	switch in := in.(type) {
	case json.RawMessage:
		_ = json.Unmarshal(in, &text)
	case *yaml.Node:
		_ = in.Decode(&nodes)
	}
	if v, ok := nodes[key]; ok {
		return asWritten(&v)
	} else if v, ok := text[key]; ok {
		return v
	}
	return nil
}

// asWritten is a node without comments, and with what its aliases stand for.
func asWritten(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return asWritten(n.Alias)
	}
	out := &yaml.Node{Kind: n.Kind, Value: n.Value, Style: n.Style}
	for _, c := range n.Content {
		out.Content = append(out.Content, asWritten(c))
	}
	return out
}
