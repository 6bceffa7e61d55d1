package pipeline

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// runs evaluates the when of an instance. One that is not known yet leaves it undecided.
func (l *loader) runs(n *node, inst *instance) bool {
	e := n.block.when
	if e == nil {
		return true
	}
	v, ok := l.typed(e, inst.ctx, inst, cty.Bool, "when is true or false: a step whose when is false is skipped.")
	if !ok {
		inst.undecided = !v.IsKnown() && l.Now.Any() // else it is wrong
		n.undecided = n.undecided || inst.undecided
		return true
	}
	why := cty.StringVal("")
	if n.block.otherwise != nil { // also of one that runs: a mistake in it is one at every scale
		why, ok = l.typed(n.block.otherwise, inst.ctx, inst, cty.String, "otherwise is a sentence: why the block is left out where its when is false.")
	}
	if v.False() {
		s := Skipped{Address: inst.address, Pos: syntax.PosOf(e.Range())}
		if ok {
			s.Why = why.AsString()
		}
		if address.Of(n.name).IsRendered() {
			s.Paper, s.Caption = l.said(n.block, "paper", inst), l.said(n.block, "caption", inst)
		}
		l.skipped[n] = append(l.skipped[n], s)
	}
	return v.True()
}

// said is an attribute of a block that is left out; "" if it has none, or not without what is
// left out.
func (l *loader) said(b *block, attr string, inst *instance) string {
	a := b.Body.Attributes[attr]
	if a == nil {
		return ""
	}
	v, ds := a.Expr.Value(inst.ctx)
	if v, _ = v.Unmark(); ds.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

// leftOut are the tables and figures that a claim is about and that are left out.
func (l *loader) leftOut(n *node) (out []Skipped) {
	for _, e := range n.deps {
		if n.block.typ == "claim" && len(l.steps[e.to]) == 0 {
			out = append(out, l.skipped[e.to]...)
		}
	}
	return out
}

// takesOutput reports whether a reference to a block goes on into it.
func takesOutput(tr hcl.Traversal) bool { return len(tr) > Depth(tr.RootName()) }

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
			return "Skipped step", fmt.Sprintf("%s does not run: %s. Take what may be skipped by try(%s.…, …).", s.Address, strings.TrimSuffix(s.Reason(), "."), s.Address)
		}
	}
	return "", ""
}

// temporary evaluates the keep of an instance; ok is false if it is wrong, or not known yet.
func (l *loader) temporary(b *block, inst *instance) (temporary, ok bool) {
	if b.keep == nil {
		return false, true
	}
	v, ok := l.typed(b.keep, inst.ctx, inst, cty.Bool, "keep is true or false: the bytes of a step with keep = false leave the store when all that read them are done.")
	if !ok {
		return false, false
	}
	if v.False() {
		l.Drop(inst.address)
	}
	return v.False(), true
}
