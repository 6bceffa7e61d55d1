package language

import (
	"bytes"
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

// dvcDecode is dvcdecode(text, format): a value whose numbers stand in texts as DVC writes them,
// which is by Python's str. Those that HCL writes otherwise, such as 1.0, are texts.
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
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if deepest := deep(string(text)); deepest != nil {
			return cty.NilVal, deepest
		}
		err = d.Decode(&doc)
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

// numberOfDVC is how DVC writes a number in a text, and whether HCL does not; "": it is none.
func numberOfDVC(text string) (written string, otherwise bool) {
	digits := strings.NewReplacer("_", "", ".inf", "inf", ".nan", "nan").Replace(strings.ToLower(text))
	switch {
	case dvcWhole.MatchString(text):
		base := 10
		if strings.ContainsAny(digits, "box") {
			base = 0
		}
		if n, ok := new(big.Int).SetString(digits, base); ok {
			return n.String(), false
		}
	case dvcFloat.MatchString(text):
		f, _ := strconv.ParseFloat(digits, 64) // beyond its range is infinite to Python, too
		return floatOfDVC(f)
	}
	return "", false
}

// floatOfDVC is Python's str.
func floatOfDVC(f float64) (written string, otherwise bool) {
	form := byte('f')
	if size := math.Abs(f); f != 0 && size < 1e-4 || size >= 1e16 {
		form = 'e'
	}
	s := strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, form, -1, 64)), "+") // of +Inf
	if !strings.ContainsAny(s, ".en") {
		s += ".0"
	}
	return s, strings.ContainsAny(s, "en") || strings.HasSuffix(s, ".0")
}

// asDVC puts what DVC writes for numbers in their place.
func asDVC(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		written, otherwise := numberOfDVC(n.Value)
		switch {
		case otherwise:
			n.Value, n.Tag, n.Style = written, "!!str", yaml.DoubleQuotedStyle
		case written != "":
			n.Value, n.Tag = written, ""
		case n.Tag == "!!int" || n.Tag == "!!float": // to others: .5e3
			n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
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
	written, otherwise := "", false
	switch x := v.(type) {
	case json.Number:
		written, otherwise = numberOfDVC(x.String())
	case float64:
		written, otherwise = floatOfDVC(x)
	}
	switch {
	case otherwise:
		return written
	case written != "":
		return json.Number(written)
	}
	return v
}
