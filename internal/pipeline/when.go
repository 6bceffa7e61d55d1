package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// isFlag reports whether blocks may have an attribute beside those of their kind.
func isFlag(name string) bool { return name == whenAttr || name == allowEmptyAttr || name == keepAttr }

// shapeWhen notes when and allow_empty.
func (l *loader) shapeWhen(b *block) {
	own := func(name string) bool { return b.spec != nil && attrOf(b.spec.Attrs, name) != nil }
	if a := b.Body.Attributes[whenAttr]; a != nil && !own(whenAttr) {
		if b.typ == "claim" {
			l.diags.error(a.NameRange, "Not an attribute", "A claim does no work, so there is nothing to skip.")
			return
		}
		b.when = a.Expr
	}
	if a := b.Body.Attributes[allowEmptyAttr]; a != nil && !own(allowEmptyAttr) {
		v, ds := a.Expr.Value(nil)
		switch {
		case ds.HasErrors() || v.IsNull() || v.Type() != cty.Bool:
			l.diags.error(a.Expr.Range(), "Wrong type", "allow_empty is true or false, as it is written.")
		case b.forEach == nil:
			l.diags.error(a.NameRange, "Not an attribute", "allow_empty stands beside a for_each over what a step makes: there may be no piece.")
		default:
			b.allowEmpty = v.True()
		}
	}
}

// runs evaluates the when of an instance. One that is not known yet leaves it undecided.
func (l *loader) runs(n *node, inst *instance) bool {
	e := n.block.when
	if e == nil {
		return true
	}
	v, ok := l.typed(e, inst.ctx, inst, cty.Bool, "when is true or false: a step whose when is false is skipped.")
	if !ok {
		inst.undecided = !v.IsKnown() // else it is wrong
		n.undecided = n.undecided || inst.undecided
		return true
	}
	if v.False() {
		l.skipped[n] = append(l.skipped[n], Skipped{inst.address, posOf(e.Range())})
	}
	return v.True()
}

// takesOutput reports whether a reference to a block goes on into it.
func takesOutput(tr hcl.Traversal) bool { return len(tr) > depthOf(tr.RootName()) }

// withinTry reports whether a reference of an expression is an argument of try or can.
func (l *loader) withinTry(e hclsyntax.Expression, tr hcl.Traversal) (within bool) {
	at := tr.SourceRange()
	hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && (call.Name == "try" || call.Name == "can") {
			rng := call.Range()
			within = within || rng.Start.Byte <= at.Start.Byte && at.End.Byte <= rng.End.Byte
		}
		return nil
	})
	return within
}

// whySkipped explains a reference to a step that is skipped; "" if it is not.
func (l *loader) whySkipped(of, name string) (summary, detail string) {
	n := l.byName[of]
	if n == nil {
		return "", ""
	}
	for _, s := range l.skipped[n] {
		if s.Address == n.name || s.Address == fmt.Sprintf("%s[%q]", n.name, name) {
			return "Skipped step", fmt.Sprintf("%s does not run: its when is false (%s). Take what may be skipped by try(%s.…, …).", s.Address, s.Pos, s.Address)
		}
	}
	return "", ""
}
