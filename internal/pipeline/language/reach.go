package language

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A reference such as step.command.split.out["a.fa"] looks like the element of a
// collection. The evaluator follows parts of references by their own methods, and takes
// the element of a value by its type; so a part is replaced by one that knows artifacts,
// and the value by an object with the one element that is asked for.

// picked is the index of a reference that may follow an artifact.
type picked struct{ hcl.TraverseIndex }

func (t picked) TraversalStep(v cty.Value) (cty.Value, hcl.Diagnostics) {
	a := treeOf(v)
	if a == nil {
		return t.TraverseIndex.TraversalStep(v)
	}
	x, err := a.pickBy(t.Key)
	if err != nil {
		return cty.DynamicVal, hcl.Diagnostics{noFile(err, &t.SrcRange, nil, nil)}
	}
	return x, nil
}

// pickable is a collection that may be an artifact, of which key is taken. Walkers see a pair of parentheses.
type pickable struct {
	*hclsyntax.ParenthesesExpr
	key hclsyntax.Expression
}

func (e pickable) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, ds := e.Expression.Value(ctx)
	a := treeOf(v)
	if ds.HasErrors() || a == nil {
		return v, ds
	}
	k, more := e.key.Value(ctx)
	if k, _ = k.Unmark(); more.HasErrors() || !k.IsKnown() {
		return cty.DynamicVal, ds // the index says it, too
	}
	x, err := a.pickBy(k)
	if err != nil {
		rng := e.key.Range()
		return cty.DynamicVal, append(ds, noFile(err, &rng, e, ctx))
	}
	return cty.ObjectVal(map[string]cty.Value{k.AsString(): x}), ds
}

// pickFrom lets references reach into artifacts.
func pickFrom(n hclsyntax.Node) {
	switch e := n.(type) {
	case *hclsyntax.IndexExpr:
		e.Collection = pickable{&hclsyntax.ParenthesesExpr{Expression: e.Collection, SrcRange: e.Collection.Range()}, e.Key}
	case *hclsyntax.ScopeTraversalExpr:
		first := 2
		if e.Traversal.RootName() == "step" {
			first = 4 // step.KIND.NAME[KEY] is an instance
		}
		pickParts(e.Traversal, first)
	case *hclsyntax.RelativeTraversalExpr:
		pickParts(e.Traversal, 0)
	}
}

func pickParts(tr hcl.Traversal, first int) {
	for i := first; i < len(tr); i++ {
		if t, ok := tr[i].(hcl.TraverseIndex); ok {
			tr[i] = picked{t}
		}
	}
}

// written is a part of a reference as the library has it.
func written(t hcl.Traverser) hcl.Traverser {
	if p, ok := t.(picked); ok {
		return p.TraverseIndex
	}
	return t
}

// Names are the leading names of a reference: step.train.dsi and step["train"].dsi are the same.
func Names(tr hcl.Traversal) []string {
	var out []string
	for _, t := range tr {
		switch t := written(t).(type) {
		case hcl.TraverseRoot:
			out = append(out, t.Name)
		case hcl.TraverseAttr:
			out = append(out, t.Name)
		case hcl.TraverseIndex:
			if t.Key.Type() != cty.String || t.Key.IsNull() || !t.Key.IsKnown() {
				return out
			}
			out = append(out, t.Key.AsString())
		default:
			return out
		}
	}
	return out
}

// source writes a reference as in a pipeline.
func source(tr hcl.Traversal) string {
	var b strings.Builder
	for _, t := range tr {
		switch t := written(t).(type) {
		case hcl.TraverseRoot:
			b.WriteString(t.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + t.Name)
		case hcl.TraverseIndex:
			switch {
			case t.Key.Type() == cty.String && t.Key.IsKnown() && !t.Key.IsNull():
				fmt.Fprintf(&b, "[%q]", t.Key.AsString())
			case t.Key.Type() == cty.Number && t.Key.IsKnown() && !t.Key.IsNull():
				fmt.Fprintf(&b, "[%s]", t.Key.AsBigFloat().Text('g', -1))
			default:
				b.WriteString("[…]")
			}
		}
	}
	return b.String()
}

// steps follows a reference to the first part that is not there.
func steps(of string, v cty.Value, rest hcl.Traversal) (string, cty.Value, cty.Value) {
	for _, t := range rest {
		next, ds := t.TraversalStep(v)
		if ds.HasErrors() {
			switch t := written(t).(type) {
			case hcl.TraverseAttr:
				return of, v, cty.StringVal(t.Name)
			case hcl.TraverseIndex:
				return of, v, t.Key
			}
			break
		}
		of += source(hcl.Traversal{t})
		v = next
	}
	return of, cty.NilVal, cty.NilVal
}
