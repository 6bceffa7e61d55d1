package evaluate

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// decided evaluates an instance's when and otherwise; out is the instance, for a when that is false; not ok: it is wrong or unknown.
func (f *frame) decided(inst *instance, when, otherwise hclsyntax.Expression) (v cty.Value, out Skipped, ok bool) {
	if when == nil {
		return cty.True, out, true
	}
	sees := f.sees(inst.ctx, inst)
	if v, ok = sees.Typed(when, cty.Bool, "when is true or false: what has a when that is false is left out."); !ok {
		return v, out, false
	}
	out = Skipped{Address: inst.address, Pos: syntax.PosOf(when.Range())}
	if otherwise != nil {
		if why, ok := sees.Typed(otherwise, cty.String, "otherwise is a sentence: why the block is left out where its when is false."); ok {
			out.Why = why.AsString()
		}
	}
	return v, out, true
}

// runs reports whether an instance is a step. An instance whose when is not known yet is one, and is marked undecided.
func (m *maker) runs(inst *instance) bool {
	v, out, ok := m.f.decided(inst, m.n.Block.When, m.n.Block.Otherwise)
	switch {
	case !ok:
		inst.undecided = !v.IsKnown() && m.f.Awaits.Any() // else it is wrong
		m.st.undecided = m.st.undecided || inst.undecided
	case v.False():
		if address.Of(m.n.Name).IsRendered() {
			out.Paper, out.Caption = m.said("paper", inst), m.said("caption", inst)
		}
		m.st.skipped = append(m.st.skipped, out)
	}
	return !ok || v.True()
}

// said is the text of an attribute of a block that is left out; "": there is none, or it needs what is left out.
func (m *maker) said(attr string, inst *instance) string {
	a := m.n.Block.Body.Attributes[attr]
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
func (f *frame) leftOut(n *declare.Node) (out []Skipped) {
	for _, e := range f.links.Edges[n.Index] {
		if to := f.of(e.To); n.Block.Type == "claim" && len(to.steps) == 0 {
			out = append(out, to.skipped...)
		}
	}
	return out
}

// whySkipped explains a reference to a step that is skipped; "": the step is not.
func (f *frame) whySkipped(of, name string) (summary, detail string) {
	n := f.decl.ByName[of]
	if n == nil {
		return "", ""
	}
	for _, s := range f.of(n).skipped {
		if s.Address == n.Name || s.Address == fmt.Sprintf("%s[%q]", n.Name, name) {
			return "Skipped step", fmt.Sprintf("%s does not run: %s. Take what may be skipped by try(%s.…, …).", s.Address, strings.TrimSuffix(s.Reason(), "."), s.Address)
		}
	}
	return "", ""
}

// why explains what a value of a skipped step, a module, a table or a figure lacks; "": the value itself says it.
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
