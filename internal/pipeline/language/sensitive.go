package language

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

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

// Open returns a value that steps may have; one that is sensitive is reported.
func (sc Scope) Open(v cty.Value, rng hcl.Range) cty.Value {
	if !sc.HasSecrets() {
		return v
	}
	name := SensitiveIn(v)
	if name == "" {
		return v
	}
	sc.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Sensitive value", Subject: &rng,
		Detail: fmt.Sprintf("This value comes from var.%s, which is sensitive. Here it would become part of keys, results and histories. "+
			"A command gets it by secret_env = { NAME = var.%s }, or without a variable by secret_env = { NAME = \"env:NAME\" } or { NAME = \"file:/PATH\" }; "+
			"a condition on it is nonsensitive(CONDITION).", name, name)}, sc.Of, name)
	return cty.DynamicVal
}

// WholeVariable reports whether a value is that of a sensitive variable, unchanged.
func (s *Session) WholeVariable(v cty.Value) (string, bool) {
	plain, marks := v.Unmark()
	if len(marks) != 1 {
		return "", false
	}
	for m := range marks {
		name, ok := m.(Sensitive)
		if value, known := s.whole[string(name)]; ok && known {
			return string(name), plain.RawEquals(value)
		}
	}
	return "", false
}
