package evaluate

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/link"
)

// scope is what a node's expressions can see: only what they refer to, so that a scope costs no more than its node.
func (f *frame) scope(n *declare.Node, edges []link.Edge) *hcl.EvalContext {
	values, kinds := map[string]map[string]cty.Value{}, map[string]map[string]cty.Value{}
	for _, root := range declare.Roots() {
		if root != "var" && root != "each" {
			values[root] = map[string]cty.Value{}
		}
	}
	for _, e := range edges {
		root, name, _ := strings.Cut(e.To.Name, ".")
		switch {
		case root == "claim": // nothing names one
		case root == "step":
			kind, name, _ := strings.Cut(name, ".")
			if kinds[kind] == nil {
				kinds[kind] = map[string]cty.Value{}
			}
			kinds[kind][name] = f.of(e.To).value
		case e.To.Block != nil && n.Block != nil && n.Block.Type == "claim":
			values[root][name] = f.cellsOf(e.To)
		default:
			values[root][name] = f.of(e.To).value
		}
	}
	for kind, steps := range kinds {
		values["step"][kind] = cty.ObjectVal(steps)
	}
	ctx := f.context(n.Dir)
	for root, of := range values {
		ctx.Variables[root] = cty.ObjectVal(of)
	}
	return ctx
}

// context is what expressions of a file are evaluated in that refer to variables alone.
func (f *frame) context(dir string) *hcl.EvalContext {
	vars := make(map[string]cty.Value, len(f.variables.of))
	for name, v := range f.variables.of {
		vars[name] = v.value
	}
	return &hcl.EvalContext{Functions: f.Functions(dir, f.decl.AnySensitive), Variables: map[string]cty.Value{"var": cty.ObjectVal(vars)}}
}
