package language

import "github.com/zclconf/go-cty/cty"

// Sensitive marks the value of a sensitive variable, by its name, and everything
// that an expression makes of it. Such a value may decide about other values, as
// the condition of a validation or through nonsensitive(); no configuration, key
// or name of a step has it. An attribute for secrets takes the whole variable, of
// which the configuration then has the name.
type Sensitive string

// SensitiveIn names a sensitive variable that a value was made of; "" if there
// is none.
func SensitiveIn(v cty.Value) string {
	_, marks := v.UnmarkDeep()
	first := ""
	for m := range marks {
		if s, ok := m.(Sensitive); ok && (first == "" || string(s) < first) {
			first = string(s)
		}
	}
	return first
}
