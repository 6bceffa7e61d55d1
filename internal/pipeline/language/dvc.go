package language

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"go.yaml.in/yaml/v3"

	"github.com/redsi/redsi/internal/system/values"
)

// dvcDecode is dvcdecode(text, format): numbers are as DVC writes them in texts, by Python's str; 1.0, which HCL writes
// otherwise, is a text.
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
	dvcFloat = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	dvcWhole = regexp.MustCompile(`^[-+]?(?:0b[01_]+|0o?[0-7_]+|[0-9][0-9_]*|0x[0-9a-fA-F_]+)$`)
)

// numberOfDVC is a number as DVC writes it: a json.Number, or a text where HCL would write another; nil: it is none.
func numberOfDVC(text string) any {
	digits := strings.NewReplacer("_", "", ".inf", "inf", ".nan", "nan").Replace(strings.ToLower(text))
	switch {
	case dvcWhole.MatchString(text):
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

// inDVC is a value of JSON or TOML, of which a number is as DVC writes it.
func inDVC(v any) any {
	switch x := v.(type) {
	case json.Number:
		return cmp.Or(numberOfDVC(x.String()), v)
	case float64:
		return floatOfDVC(x)
	}
	return v
}
