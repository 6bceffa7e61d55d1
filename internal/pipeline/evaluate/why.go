package evaluate

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// why explains what a value lacks by what a reference to it names: a step that is left out, a module,
// a table or figure; "" if the value itself says it.
func (f *frame) why(of string, v cty.Value, name string) (summary, detail string) {
	if summary, detail = f.whySkipped(of, name); summary == "" {
		summary, detail = lacksOutput(f.decl, of, v, name)
	}
	if summary == "" {
		summary, detail = lacksCell(of, v, name)
	}
	return summary, detail
}

// lacksCell says that a table or figure has no cell of the given name.
func lacksCell(of string, v cty.Value, name string) (summary, detail string) {
	if _, isStep := language.StepOf(v); isStep || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() || !address.Of(of).IsRendered() {
		return "", ""
	}
	return "Unknown cell", fmt.Sprintf("%s has no cell %q. %s", of, name, syntax.Suggest(name, syntax.Keys(v.Type().AttributeTypes()), "cell"))
}

// lacksOutput says that a module has no output, or no instance, of the given name.
func lacksOutput(m *declare.Module, of string, v cty.Value, name string) (summary, detail string) {
	if a := address.Of(of + "."); a.Modules == "" || a.Local() != "" || !v.IsKnown() || !v.Type().IsObjectType() {
		return "", ""
	}
	noun := "output"
	if n := m.ByName[of]; n != nil && n.Call.ForEach != nil {
		noun = "instance"
	}
	return "Unknown " + noun, fmt.Sprintf("%s has no %s %q. %s", of, noun, name, syntax.Suggest(name, syntax.Keys(v.Type().AttributeTypes()), noun))
}
