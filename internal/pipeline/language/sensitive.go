package language

import "github.com/zclconf/go-cty/cty"

// Sensitive marks the value of a sensitive variable, by its name, and all that expressions make of it. Such a value may
// decide about others, in a validation or through nonsensitive(), and is in no configuration, key or name. An attribute for
// secrets takes the whole variable, by its name.
type Sensitive string

// SensitiveIn names a sensitive variable that a value was made of; "": there is none.
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
