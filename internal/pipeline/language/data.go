package language

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"go.yaml.in/yaml/v3"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

var (
	yamlControl = regexp.MustCompile(`[\x{7f}-\x{9f}\x{fffe}\x{ffff}]`) // not in YAML as they are
	zeros       = regexp.MustCompile(`^[-+]?0[0-9]+$`)
)

func DecodeYAML(text []byte) (cty.Value, error) {
	left := maxElements
	doc, err := values.YAML(text, func(n *yaml.Node) error { return checkYAML(n, 0, &left) })
	if err != nil {
		return cty.NilVal, err
	}
	return jsonValue(doc)
}

// jsonValue is the value of what a decoder read, as of the same JSON.
func jsonValue(doc any) (cty.Value, error) {
	b, err := json.Marshal(doc)
	if bad := (*json.UnsupportedValueError)(nil); errors.As(err, &bad) {
		return cty.NilVal, fmt.Errorf("%s is not a number that a configuration can have: write it in quotes, as a text that a program reads", bad.Str)
	}
	if err != nil {
		return cty.NilVal, err
	}
	if err := deep(string(b)); err != nil {
		return cty.NilVal, err
	}
	return stdlib.JSONDecode(cty.StringVal(string(b)))
}

// checkYAML refuses what is not read, and counts what aliases stand for, which may be beyond any machine.
func checkYAML(n *yaml.Node, nested int, left *int) error {
	*left -= 1 + len(n.Value)/16
	switch {
	case *left < 0:
		return syntax.Over("Value too large", "This YAML has more than %d elements, counting what aliases repeat.", maxElements)
	case nested > maxNested:
		return syntax.Over("Value too deep", "In this YAML, lists or mappings are nested more than %d deep, or one contains itself.", maxNested)
	case n.Style&yaml.TaggedStyle != 0:
		return fmt.Errorf("line %d: tags such as %s are not read", n.Line, n.Tag)
	case n.Kind == yaml.AliasNode:
		return checkYAML(n.Alias, nested+1, left)
	case n.Kind == yaml.ScalarNode && n.Style == 0 && zeros.MatchString(n.Value):
		return fmt.Errorf("line %d: %s is a text to people, and one number or another to programs: write it in quotes, or without zeros at its beginning", n.Line, n.Value)
	case n.Tag == "!!float" && strings.ContainsAny(n.Value, "nN"), n.Tag == "!!str" && n.Style == 0 && beyond(n.Value): // .nan, .inf, 1e400
		return fmt.Errorf("line %d: %s is not a number that a configuration can have: write it in quotes, as a text that a program reads", n.Line, n.Value)
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Kind == yaml.ScalarNode && c.Style&yaml.TaggedStyle == 0 { // a key is a text
			*left -= 1 + len(c.Value)/16
			continue
		}
		if err := checkYAML(c, nested+1, left); err != nil {
			return err
		}
	}
	return nil
}

func beyond(number string) bool {
	_, err := values.Float(number)
	return errors.Is(err, strconv.ErrRange)
}

// yamlEncode writes the library's JSON as YAML in blocks: keys in order, all texts in quotes.
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

// DecodeTOML is the value of a TOML text. Dates and times are texts.
func DecodeTOML(text []byte) (cty.Value, error) {
	doc, err := readTOML(text)
	if err != nil {
		return cty.NilVal, err
	}
	return jsonValue(doc)
}

func readTOML(text []byte) (map[string]any, error) {
	// The library recurses. Brackets in texts and comments count, too.
	if strings.Count(string(text), "[")+strings.Count(string(text), "{") > syntax.MaxDepth {
		depth := 0
		for _, c := range text {
			depth += strings.Count("[{", string(c)) - strings.Count("]}", string(c))
			if depth > syntax.MaxDepth {
				return nil, syntax.Over("Value too deep", "In this TOML, brackets are nested more than %d deep.", syntax.MaxDepth)
			}
		}
	}
	var doc map[string]any
	if err := toml.Unmarshal(text, &doc); err != nil {
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			row, _ := at.Position()
			err = fmt.Errorf("line %d: %s", row, strings.TrimPrefix(err.Error(), "toml: "))
		}
		return nil, err
	}
	return doc, nil
}

// CheckedText is the text of a file that expressions can have.
func CheckedText(name string, b []byte) (string, error) {
	if at := values.InvalidUTF8(b); at >= 0 {
		return "", fmt.Errorf("%s is not UTF-8 text (byte %d): filebase64() gives its bytes in base64, and as an artifact of a download step it reaches a program as it is", name, at)
	}
	if line := syntax.NotNFC(b); line > 0 {
		return "", fmt.Errorf("line %d of %s is not in Unicode's form NFC, such as a letter with an accent that is a character of its own: save it as NFC, or read it as a step's input, or use filebase64()", line, name)
	}
	return string(b), nil
}

var dataFileName = regexp.MustCompile(`^[\w./-]+\.(ya?ml|toml)$`)

func decoder(name string, f func(text []byte) (cty.Value, error)) function.Function {
	return valueFunc(cty.DynamicPseudoType, func(args []cty.Value) (cty.Value, error) {
		text := args[0].AsString()
		if dataFileName.MatchString(text) {
			return cty.NilVal, fmt.Errorf("this is the name of a file; its text is decoded, by %s(file(%q))", name, text)
		}
		return f([]byte(text))
	}, textParam("text"))
}

var base64Decode = valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) {
	b, err := base64.StdEncoding.DecodeString(args[0].AsString())
	if err != nil {
		return cty.NilVal, err
	}
	s, err := CheckedText("what it stands for", b)
	return cty.StringVal(s), err
}, textParam("text"))

// pick is pick(text, names): the parameters of a YAML or JSON text with these names, each as the text writes it, without comments.
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

// named is what a mapping has for a key; nil: it has no such key, or in is no mapping.
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

// asWritten is a node without comments, its aliases replaced by what they stand for.
func asWritten(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return asWritten(n.Alias)
	}
	return &yaml.Node{Kind: n.Kind, Value: n.Value, Style: n.Style, Content: lists.Map(n.Content, asWritten)}
}

// dvcDecode is dvcdecode(text, format): numbers as Python's str writes them; 1.0, which HCL would write as 1, is a text.
var dvcDecode = valueFunc(cty.DynamicPseudoType, func(args []cty.Value) (cty.Value, error) {
	text, doc, err := []byte(args[0].AsString()), any(nil), error(nil)
	switch format := args[1].AsString(); format {
	case "yaml":
		left := maxElements
		doc, err = values.YAML(text, func(n *yaml.Node) error {
			asDVC(n)
			return checkYAML(n, 0, &left)
		})
	case "json":
		if deepest := deep(string(text)); deepest != nil {
			return cty.NilVal, deepest
		}
		if doc, err = exactJSON(text); err != nil {
			err = fmt.Errorf("the text %w", err)
		}
	case "toml":
		doc, err = readTOML(text)
	default:
		err = fmt.Errorf("the format %q is none of yaml, json and toml", format)
	}
	if err != nil {
		return cty.NilVal, err
	}
	return jsonValue(values.Each(doc, inDVC))
}, textParam("text"), textParam("format"))

// What ruamel.yaml 0.19.1 takes for numbers of YAML 1.2 (its implicit_resolvers).
var (
	dvcFloat   = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	dvcInteger = regexp.MustCompile(`^[-+]?(?:0b[01_]+|0o?[0-7_]+|[0-9][0-9_]*|0x[0-9a-fA-F_]+)$`)
)

// numberOfDVC is a number as DVC writes it: a json.Number, or a text where HCL would write another; nil: it is none.
func numberOfDVC(text string) any {
	digits := strings.NewReplacer("_", "", ".inf", "inf", ".nan", "nan").Replace(strings.ToLower(text))
	switch {
	case dvcInteger.MatchString(text):
		base := 10
		if strings.ContainsAny(digits, "box") {
			base = 0
		}
		if n, ok := new(big.Int).SetString(digits, base); ok {
			return json.Number(n.String())
		}
	case dvcFloat.MatchString(text):
		f, _ := strconv.ParseFloat(digits, 64) // beyond its range is infinite to Python, too
		return floatOfDVC(f)
	}
	return nil
}

// floatOfDVC is numberOfDVC of what Python's str writes.
func floatOfDVC(f float64) any {
	form := byte('f')
	if size := math.Abs(f); f != 0 && size < 1e-4 || size >= 1e16 {
		form = 'e'
	}
	s := strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, form, -1, 64)), "+") // of +Inf
	switch {
	case strings.ContainsAny(s, "en"):
		return s
	case !strings.Contains(s, "."):
		return s + ".0"
	}
	return json.Number(s)
}

// asDVC puts what DVC writes for numbers in their place.
func asDVC(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		switch number := numberOfDVC(n.Value).(type) {
		case string:
			n.Value, n.Tag, n.Style = number, "!!str", yaml.DoubleQuotedStyle
		case json.Number:
			n.Value, n.Tag = number.String(), ""
		default:
			if n.Tag == "!!int" || n.Tag == "!!float" { // to others: .5e3
				n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
			}
		}
	}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			asDVC(c)
		}
	}
}

// inDVC is a value of JSON or TOML, a number as DVC writes it.
func inDVC(v any) any {
	switch x := v.(type) {
	case json.Number:
		return cmp.Or(numberOfDVC(x.String()), v)
	case float64:
		return floatOfDVC(x)
	}
	return v
}
