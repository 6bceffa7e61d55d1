package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// LocalVariables is a LocalFile that gives variables the values that they have in JSON.
func LocalVariables(values map[string]json.RawMessage) ([]byte, error) {
	var b strings.Builder
	b.WriteString("variables {\n")
	for _, name := range sortedKeys(values) {
		if !hclsyntax.ValidIdentifier(name) {
			return nil, fmt.Errorf("%.100q is not a variable name", name)
		}
		typ, err := ctyjson.ImpliedType(values[name])
		if err != nil {
			return nil, fmt.Errorf("the value of %s: %w", name, err)
		}
		v, err := ctyjson.Unmarshal(values[name], typ)
		if err != nil {
			return nil, fmt.Errorf("the value of %s: %w", name, err)
		}
		fmt.Fprintf(&b, "  %s = %s\n", name, strings.ReplaceAll(Text(v, nil), "\n", "\n  "))
	}
	b.WriteString("}\n")
	return []byte(b.String()), nil
}
