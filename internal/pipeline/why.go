package pipeline

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// lacksOutput says that a module has no output, or no instance, of the given name.
func (l *loader) lacksOutput(of string, v cty.Value, name string) (summary, detail string) {
	if a := address.Of(of + "."); a.Modules == "" || a.Local() != "" || !v.IsKnown() || !v.Type().IsObjectType() {
		return "", ""
	}
	noun := "output"
	if n := l.byName[of]; n != nil && n.module.forEach != nil {
		noun = "instance"
	}
	return "Unknown " + noun, fmt.Sprintf("%s has no %s %q. %s", of, noun, name, syntax.Suggest(name, syntax.Keys(v.Type().AttributeTypes()), noun))
}
