package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/zclconf/go-cty/cty"
)

// decodeTOML is the value of a text. Dates and times are texts.
func decodeTOML(text []byte) (cty.Value, error) {
	// The library recurses. Brackets in texts and comments count, too.
	if strings.Count(string(text), "[")+strings.Count(string(text), "{") > maxDepth {
		depth := 0
		for _, c := range text {
			depth += strings.Count("[{", string(c)) - strings.Count("]}", string(c))
			if depth > maxDepth {
				return cty.NilVal, over("Value too deep", "In this TOML, brackets are nested more than %d deep.", maxDepth)
			}
		}
	}
	var doc map[string]any
	if err := toml.Unmarshal(text, &doc); err != nil {
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			row, _ := at.Position()
			err = fmt.Errorf("line %d: %s", row, strings.TrimPrefix(err.Error(), "toml: "))
		}
		return cty.NilVal, err
	}
	return jsonValue(doc)
}
