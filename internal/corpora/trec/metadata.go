package trec

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Components lists the components of a run in ir_metadata 0.1, in its order.
var Components = []string{"platform", "research goal", "implementation", "method", "actor", "data"}

type Metadata map[string]*yaml.Node

// ParseMetadata reads components from YAML or JSON.
func ParseMetadata(text string) (Metadata, error) {
	var m map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	out := Metadata{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		n := m[name]
		if !slices.Contains(Components, name) {
			return nil, fmt.Errorf("metadata: %q is not a component of ir_metadata; there are %q", name, Components)
		}
		if n.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("metadata: component %q has no fields", name)
		}
		plain(&n)
		out[name] = &n
	}
	return out, nil
}

// plain removes comments, and styles such as JSON's braces and quotes.
func plain(n *yaml.Node) {
	n.Style = 0
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, c := range n.Content {
		plain(c)
	}
}

// Header returns the comment above a run's first line (https://www.ir-metadata.org). It has all six components, null if
// absent, since readers expect them.
func (m Metadata) Header(tag string) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, value *yaml.Node) {
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	add("schema-version", &yaml.Node{Kind: yaml.ScalarNode, Value: "0.1"})
	add("run-version", &yaml.Node{Kind: yaml.ScalarNode, Value: "1.0"})
	add("tag", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: tag})
	for _, name := range Components {
		value := m[name]
		if value == nil {
			value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
		}
		add(name, value)
	}
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	var out bytes.Buffer
	out.WriteString("# ir_metadata.start\n")
	for line := range strings.Lines(text.String()) {
		out.WriteString("# " + line)
	}
	out.WriteString("# ir_metadata.end\n")
	return out.Bytes(), nil
}
