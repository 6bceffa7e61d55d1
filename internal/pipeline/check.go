package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/step"
)

// checkBlock is what a step may have any number of: something that must be true of its
// result before anything reads it.
const checkBlock = "check"

var attrsOfCheck = []string{"counts", "field", "min", "max", "severity"}

// shapeCheck checks the names in a check block.
func (l *loader) shapeCheck(b *block, inner *hclsyntax.Block) {
	if b.typ != "step" {
		l.diags.error(inner.TypeRange, "Unknown block", fmt.Sprintf("A check is of a step. What is expected of a %s stands in expect and claim blocks.", b.typ))
		return
	}
	if len(inner.Labels) != 1 || inner.Labels[0] == "" {
		l.diags.error(header(inner), "Wrong labels", `A check is written check "WHAT IT CHECKS" { … }.`)
		return
	}
	for _, a := range sortedAttributes(inner.Body) {
		if !slices.Contains(attrsOfCheck, a.Name) {
			l.diags.error(a.NameRange, "Unknown attribute", fmt.Sprintf("check has no attribute %q. %s", a.Name, suggest(a.Name, attrsOfCheck, "attribute")))
		}
	}
	for _, x := range inner.Body.Blocks {
		l.diags.error(x.TypeRange, "Unknown block", "check has attributes only.")
	}
	b.checks = append(b.checks, inner)
}

// checks reads the check blocks of one instance; false if something is wrong with them.
func (l *loader) checks(b *block, inst *instance) (list []step.Check, ok bool) {
	ok = true
	for _, inner := range b.checks {
		c := step.Check{Name: plain(inner.Labels[0]), At: fmt.Sprintf("%s:%d", inner.TypeRange.Filename, inner.TypeRange.Start.Line)}
		good := true
		fail := func(rng hcl.Range, format string, args ...any) {
			l.diags.error(rng, "Wrong check", fmt.Sprintf(format, args...))
			good = false
		}
		for _, a := range sortedAttributes(inner.Body) {
			v := l.open(l.value(a.Expr, inst.ctx, inst), a.Expr.Range(), inst)
			switch {
			case !v.IsKnown() || !slices.Contains(attrsOfCheck, a.Name): // reported
				good = false
			case v.IsNull():
			case a.Name == "min" || a.Name == "max":
				if v.Type() != cty.Number {
					fail(a.Expr.Range(), "%s is a number, not a %s.", a.Name, v.Type().FriendlyName())
					continue
				}
				f, _ := v.AsBigFloat().Float64()
				if a.Name == "min" {
					c.Min = &f
				} else {
					c.Max = &f
				}
			case v.Type() != cty.String:
				fail(a.Expr.Range(), "%s is a text, not a %s.", a.Name, v.Type().FriendlyName())
			case a.Name == "counts":
				c.Counts = plain(v.AsString())
			case a.Name == "field":
				c.Field = plain(v.AsString())
				l.checkField(b, a, c.Field, fail)
			case a.Name == "severity":
				if c.Warning = v.AsString() == "warning"; !c.Warning && v.AsString() != "error" {
					fail(a.Expr.Range(), "severity is error or warning, not %q.", v.AsString())
				}
			}
		}
		switch {
		case !good:
		case (c.Counts == "") == (c.Field == ""):
			fail(header(inner), "It has exactly one of counts, what the step counted, and field, a number in an output as OUTPUT:PATH.")
		case c.Min == nil && c.Max == nil:
			fail(header(inner), "It needs min, max, or both.")
		case c.Min != nil && c.Max != nil && *c.Min > *c.Max:
			fail(header(inner), "Its min is above its max.")
		}
		list, ok = append(list, c), ok && good
	}
	return list, ok
}

// checkField reports an output that the step has not, and a path that it does not declare.
func (l *loader) checkField(b *block, a *hclsyntax.Attribute, field string, fail func(hcl.Range, string, ...any)) {
	if b.spec == nil {
		return
	}
	output, path, found := strings.Cut(field, ":")
	var names []string
	for _, o := range b.spec.Outputs {
		names = append(names, o.Name)
		if o.Name != output {
			continue
		}
		switch {
		case !found:
			fail(a.Expr.Range(), "%q is no field: one is written OUTPUT:PATH.", field)
		case o.Tree:
			fail(a.Expr.Range(), "Output %q is many files; a check reads one.", output)
		case o.Fields != nil:
			if _, err := o.Fields.At(path); err != nil {
				fail(a.Expr.Range(), "Field %q of output %q %v.", path, output, err)
			}
		}
		return
	}
	fail(a.Expr.Range(), "The step has no output %q. %s", output, suggest(output, names, "output"))
}
