package pipeline

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/zclconf/go-cty/cty"
)

// decodeTOML is the value of a text. Dates and times are texts.
func decodeTOML(text []byte) (cty.Value, error) {
	depth := 0
	for _, c := range text { // the library recurses; brackets in texts and comments count, too
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxDepth {
			return cty.NilVal, over("Value too deep", "In this TOML, brackets are nested more than %d deep.", maxDepth)
		}
	}
	var doc map[string]any
	if _, err := toml.Decode(string(text), &doc); err != nil {
		if at := (toml.ParseError{}); errors.As(err, &at) {
			return cty.NilVal, fmt.Errorf("line %d: %s", at.Position.Line, at.Message)
		}
		return cty.NilVal, err
	}
	return tomlValue(doc, "", 0)
}

func tomlValue(v any, at string, nested int) (cty.Value, error) {
	if nested > maxNested {
		return cty.NilVal, over("Value too deep", "In this TOML, arrays or tables are nested more than %d deep.", maxNested)
	}
	switch v := v.(type) {
	case string:
		return cty.StringVal(v), nil
	case bool:
		return cty.BoolVal(v), nil
	case int64:
		return cty.NumberIntVal(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return cty.NilVal, fmt.Errorf("%s: %v is not a number that a configuration can have: write it in quotes, as a text that a program reads", at, v)
		}
		return cty.ParseNumberVal(strconv.FormatFloat(v, 'g', -1, 64)) // as it was typed
	case time.Time:
		layout := map[string]string{"datetime-local": "2006-01-02T15:04:05.999999999", "date-local": time.DateOnly, "time-local": "15:04:05.999999999"}[v.Location().String()]
		if layout == "" {
			layout = time.RFC3339Nano
		}
		return cty.StringVal(v.Format(layout)), nil
	case map[string]any:
		m := map[string]cty.Value{}
		for _, k := range sortedKeys(v) {
			var err error
			if m[k], err = tomlValue(v[k], strings.TrimPrefix(at+"."+k, "."), nested+1); err != nil {
				return cty.NilVal, err
			}
		}
		return cty.ObjectVal(m), nil
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return tomlValue(list, at, nested)
	case []any:
		list := make([]cty.Value, len(v))
		for i := range v {
			var err error
			if list[i], err = tomlValue(v[i], fmt.Sprintf("%s[%d]", at, i), nested+1); err != nil {
				return cty.NilVal, err
			}
		}
		return cty.TupleVal(list), nil
	}
	return cty.NilVal, fmt.Errorf("%s: %T is not read", at, v)
}
