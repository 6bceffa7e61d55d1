package pipeline

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/host/secret"
)

// sensitive marks the value of a sensitive variable, by its name, and everything
// that an expression makes of it. Such a value may decide about other values, as
// the condition of a validation or through nonsensitive(); no configuration, key
// or name of a step has it. An attribute for secrets takes the whole variable, of
// which the configuration then has the name.
type sensitive string

// settleSensitive checks what the declaration of a sensitive variable says.
func (l *loader) settleSensitive(v *variable, b *hclsyntax.Block) {
	if !v.sensitive {
		return
	}
	if v.optional && !(v.fallback.IsKnown() && v.fallback.IsNull()) {
		l.diags.error(b.Body.Attributes["default"].NameRange, "Default of a sensitive variable",
			fmt.Sprintf("Every reader of the pipeline could see the default of var.%s. Leave it out, or write default = null.", v.name))
	}
	if !v.typ.IsPrimitiveType() && v.typ != cty.DynamicPseudoType {
		l.diags.error(v.rng, "Type of a sensitive variable", fmt.Sprintf("var.%s is sensitive, so it must be a string, number or bool.", v.name))
	}
}

func (l *loader) anySensitive() bool {
	for _, v := range l.variables {
		if v.sensitive {
			return true
		}
	}
	return false
}

// sensitiveIn names a sensitive variable that a value was made of; "" if there
// is none.
func sensitiveIn(v cty.Value) string {
	_, marks := v.UnmarkDeep()
	first := ""
	for m := range marks {
		if s, ok := m.(sensitive); ok && (first == "" || string(s) < first) {
			first = string(s)
		}
	}
	return first
}

// open returns a value that steps may have; one that is sensitive is reported.
func (l *loader) open(v cty.Value, rng hcl.Range, inst *instance) cty.Value {
	if !l.hasSecrets {
		return v
	}
	name := sensitiveIn(v)
	if name == "" {
		return v
	}
	l.diags.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Sensitive value", Subject: &rng,
		Detail: fmt.Sprintf("This value comes from var.%s, which is sensitive. Here it would become part of keys, results and histories. "+
			"A command gets it by secret_env = { NAME = var.%s }, or without a variable by secret_env = { NAME = \"env:NAME\" } or { NAME = \"file:/PATH\" }; "+
			"a condition on it is nonsensitive(CONDITION).", name, name)}, inst, name)
	return cty.DynamicVal
}

// secrets is the value of an attribute for secrets, with sources instead of
// sensitive variables.
func (c *config) secrets(v cty.Value, rng hcl.Range) cty.Value {
	if !c.l.hasSecrets || v.IsMarked() || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return c.l.open(v, rng, c.inst)
	}
	m := v.AsValueMap()
	for k, e := range m {
		if name, ok := c.l.wholeVariable(e); ok {
			m[k] = cty.StringVal(secret.Variable(name))
		} else if name := sensitiveIn(e); name != "" {
			c.l.diags.error(rng, "Sensitive value", fmt.Sprintf("%s is made of var.%s. A secret must be a whole variable, since its value is found only when the program starts.", k, name))
			return cty.DynamicVal
		}
	}
	if len(m) == 0 {
		return v
	}
	return cty.ObjectVal(m)
}

// wholeVariable reports whether a value is that of a sensitive variable, unchanged.
func (l *loader) wholeVariable(v cty.Value) (string, bool) {
	plain, marks := v.Unmark()
	if len(marks) != 1 {
		return "", false
	}
	for m := range marks {
		if s, ok := m.(sensitive); ok && l.root.variables[string(s)] != nil {
			value, _ := l.root.variables[string(s)].value.Unmark()
			return string(s), plain.RawEquals(value)
		}
	}
	return "", false
}

// nonsensitive lets a yes or no about a sensitive value out.
var nonsensitive = valueFunc(cty.Bool, func(args []cty.Value) (cty.Value, error) {
	v, _ := args[0].Unmark()
	return v, nil
}, function.Parameter{Name: "condition", Type: cty.Bool, AllowMarked: true})

// hideText is a text from outside as diagnostics quote it: not the value of a variable that is
// sensitive, or that may be meant for one that is.
func (l *loader) hideText(name, value string) string {
	if v := l.variables[name]; v != nil && v.sensitive || v == nil && l.anySensitive() {
		return "…"
	}
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(value)
}
