package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"go.yaml.in/yaml/v3"
)

// YAML is read by the core schema of version 1.2, with merge keys (<<): true and false are
// the only truth values, so that no and on are texts; 1e-4 is a number; dates are texts.

// yamlNumber are the numbers of the core schema: decimal ones, and whole ones by base.
var yamlNumber = regexp.MustCompile(`^(?:([-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)|(0o[0-7]+|0x[0-9a-fA-F]+))$`)

var (
	yamlNotFinite = regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	yamlControl   = regexp.MustCompile(`[\x{7f}-\x{9f}\x{fffe}\x{ffff}]`) // not in YAML as they are
	tabIndent     = regexp.MustCompile(`(?m)^ *\t`)
)

// parseYAML returns the only document of a text; nil if it has none.
func parseYAML(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil {
		switch err = d.Decode(&next); {
		case err == nil:
			return nil, fmt.Errorf("line %d: a second document begins here; one is read: split the file", next.Line)
		case errors.Is(err, io.EOF):
			return doc.Content[0], nil
		}
	}
	err = errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	if at := tabIndent.FindIndex(text); at != nil {
		err = fmt.Errorf("%w; line %d is indented with a tab, where YAML takes only spaces", err, 1+bytes.Count(text[:at[0]], []byte("\n")))
	}
	return nil, err
}

// decodeYAML is the value of a text.
func decodeYAML(text []byte) (cty.Value, error) {
	n, err := parseYAML(text)
	if err != nil || n == nil {
		return cty.NullVal(cty.DynamicPseudoType), err
	}
	r := yamlReader{left: maxElements}
	return r.value(n, 0)
}

// yamlReader counts what it makes: few anchors and aliases can stand for more than any
// machine has.
type yamlReader struct{ left int }

func (r *yamlReader) value(n *yaml.Node, nested int) (cty.Value, error) {
	r.left--
	switch {
	case r.left < 0:
		return cty.NilVal, over("Value too large", "This YAML has more than %d elements, those that aliases repeat among them.", maxElements)
	case nested > maxNested:
		return cty.NilVal, over("Value too deep", "In this YAML, lists or mappings are nested more than %d deep, or one contains itself.", maxNested)
	case n.Style&yaml.TaggedStyle != 0:
		return cty.NilVal, fmt.Errorf("line %d: tags such as %s are not read", n.Line, n.Tag)
	case n.Kind == yaml.AliasNode:
		return r.value(n.Alias, nested+1)
	case n.Kind == yaml.SequenceNode:
		list := make([]cty.Value, len(n.Content))
		for i, c := range n.Content {
			var err error
			if list[i], err = r.value(c, nested+1); err != nil {
				return cty.NilVal, err
			}
		}
		return cty.TupleVal(list), nil
	case n.Kind == yaml.MappingNode:
		return r.mapping(n, nested)
	}
	return yamlScalar(n)
}

func (r *yamlReader) mapping(n *yaml.Node, nested int) (cty.Value, error) {
	m, at := map[string]cty.Value{}, map[string]int{}
	var merged []*yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			return cty.NilVal, fmt.Errorf("line %d: a key is a text or a number; this one is not", n.Content[i].Line)
		}
		if first, ok := at[key.Value]; ok {
			return cty.NilVal, fmt.Errorf("line %d: the key %q is already in line %d", n.Content[i].Line, key.Value, first)
		}
		at[key.Value] = n.Content[i].Line
		var err error
		if m[key.Value], err = r.value(value, nested+1); err != nil {
			return cty.NilVal, err
		}
	}
	for _, from := range merged {
		parts := []*yaml.Node{from}
		if from.Kind == yaml.SequenceNode {
			parts = from.Content
		}
		for _, p := range parts {
			v, err := r.value(p, nested+1)
			if err != nil {
				return cty.NilVal, err
			}
			if !v.Type().IsObjectType() {
				return cty.NilVal, fmt.Errorf("line %d: << takes a mapping or a list of mappings", p.Line)
			}
			for k, e := range v.AsValueMap() {
				if _, ok := m[k]; !ok {
					m[k] = e
				}
			}
		}
	}
	return cty.ObjectVal(m), nil
}

func yamlScalar(n *yaml.Node) (cty.Value, error) {
	text := n.Value
	number := yamlNumber.FindStringSubmatch(text)
	switch {
	case n.Style != 0: // in quotes or a block
	case number != nil:
		if err := longNumber(text); err != nil {
			return cty.NilVal, err
		}
		if number[2] == "" {
			return cty.ParseNumberVal(text)
		}
		i, _ := new(big.Int).SetString(text, 0)
		return cty.NumberVal(new(big.Float).SetPrec(wholeBits).SetInt(i)), nil
	case yamlNotFinite.MatchString(text):
		return cty.NilVal, fmt.Errorf("line %d: %s is not a number that a configuration can have: write it in quotes, as a text that a program reads", n.Line, text)
	case text == "true" || text == "True" || text == "TRUE":
		return cty.True, nil
	case text == "false" || text == "False" || text == "FALSE":
		return cty.False, nil
	case text == "" || text == "~" || text == "null" || text == "Null" || text == "NULL":
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	return cty.StringVal(text), nil
}

// yamlEncode writes the library's JSON, which is YAML, in blocks: keys in order, all texts in
// quotes.
var yamlEncode = valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) {
	text, err := stdlib.JSONEncode(args[0])
	if err != nil {
		return cty.NilVal, err
	}
	var n yaml.Node
	escaped := yamlControl.ReplaceAllStringFunc(text.AsString(), func(c string) string { return fmt.Sprintf("\\u%04x", []rune(c)[0]) })
	if err := yaml.Unmarshal([]byte(escaped), &n); err != nil {
		return cty.NilVal, err
	}
	inBlocks(&n)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err = errors.Join(e.Encode(&n), e.Close())
	return cty.StringVal(b.String()), err
}, function.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true})

func inBlocks(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle
	for _, c := range n.Content {
		inBlocks(c)
	}
}
