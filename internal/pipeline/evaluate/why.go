package evaluate

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// why explains what a value lacks by a reference to a step that is left out, a module, a table or figure; "": it says so.
func (f *frame) why(of string, v cty.Value, name string) (summary, detail string) {
	if summary, detail = f.whySkipped(of, name); summary != "" || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() {
		return summary, detail
	}
	_, isStep := language.StepOf(v)
	noun := ""
	switch a := address.Of(of + "."); {
	case a.Modules != "" && a.Local() == "":
		noun = "output"
		if n := f.decl.ByName[of]; n != nil && n.Call.ForEach != nil {
			noun = "instance"
		}
	case !isStep && address.Of(of).IsRendered():
		noun = "cell"
	default:
		return "", ""
	}
	return "Unknown " + noun, fmt.Sprintf("%s has no %s %q. %s", of, noun, name, syntax.Suggest(name, syntax.Keys(v.Type().AttributeTypes()), noun))
}
