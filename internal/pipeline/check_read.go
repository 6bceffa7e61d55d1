package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/step"
)

// checks reads the check blocks of one instance, whose configuration is tree; false if
// something is wrong with them.
func (c *config) checks(tree map[string]any) (list []step.Check, ok bool) {
	ok = true
	for _, inner := range c.b.checks {
		r := &checkReader{config: c, tree: tree, ok: true}
		c, given := r.check(inner)
		if given {
			list = append(list, c)
		}
		ok = ok && r.ok
	}
	return list, ok
}

// checkReader reads one check block of one instance.
type checkReader struct {
	*config
	tree map[string]any
	ok   bool
}

func (r *checkReader) wrong(rng hcl.Range, format string, args ...any) {
	r.l.diags.error(rng, "Wrong check", fmt.Sprintf(format, args...))
	r.ok = false
}

// check makes a check of a block; given is false of one whose limits are all null.
func (r *checkReader) check(inner *hclsyntax.Block) (c step.Check, given bool) {
	c = step.Check{Name: inner.Labels[0], At: fmt.Sprintf("%s:%d", inner.TypeRange.Filename, inner.TypeRange.Start.Line)}
	limits := 0
	for _, a := range sortedAttributes(inner.Body) {
		limit := map[string]**step.Limit{"min": &c.Min, "max": &c.Max, "equals": &c.Equals}[a.Name]
		if limit != nil {
			limits++
		}
		v := r.l.open(r.l.value(a.Expr, r.inst.ctx, r.inst), a.Expr.Range(), r.inst)
		switch {
		case !v.IsWhollyKnown() || !slices.Contains(attrsOfCheck, a.Name): // reported
			r.ok = false
		case v.IsNull():
		case limit != nil:
			*limit = r.limit(a, v)
		case a.Name == "of":
			c.Of = r.of(a, v)
		case v.Type() != cty.String:
			r.wrong(a.Expr.Range(), "%s is a text, not a %s.", a.Name, v.Type().FriendlyName())
		case a.Name == "counts":
			c.Counts = v.AsString()
		case a.Name == "field":
			c.Field = v.AsString()
			if c.Field != "" && !strings.Contains(c.Field, ":") {
				r.wrong(a.Expr.Range(), "%q is not a field: write OUTPUT:PATH.", c.Field)
				break
			}
			r.field(a, c.Field, "The step", r.b.spec)
		case a.Name == "severity":
			if c.Warning = v.AsString() == "warning"; !c.Warning && v.AsString() != "error" {
				r.wrong(a.Expr.Range(), "severity is error or warning, not %q.", v.AsString())
			}
		}
	}
	given = c.Min != nil || c.Max != nil || c.Equals != nil
	named := func(l *step.Limit) bool { return l != nil && l.Name != "" }
	switch {
	case !r.ok:
	case (c.Counts == "") == (c.Field == ""):
		r.wrong(header(inner), "It has exactly one of counts, what the step counted, and field, a number in an output as OUTPUT:PATH.")
	case limits == 0:
		r.wrong(header(inner), "It needs equals, min or max: a number, or the name of another one.")
	case c.Equals != nil && (c.Min != nil || c.Max != nil):
		r.wrong(header(inner), "It has both equals and min or max. Leave out one of them.")
	case c.Min != nil && c.Max != nil && !named(c.Min) && !named(c.Max) && c.Min.Number > c.Max.Number:
		r.wrong(header(inner), "Its min is above its max.")
	case given && len(c.Of) > 0 && !named(c.Min) && !named(c.Max) && !named(c.Equals):
		r.wrong(header(inner), `of says whose number equals, min or max names, so one of them must be a name, such as "records".`)
	}
	if r.ok {
		r.compared(inner, "equals", c.Equals, c.Of)
		r.compared(inner, "min", c.Min, c.Of)
		r.compared(inner, "max", c.Max, c.Of)
	}
	return c, given
}

// compared reports a limit that is a field which its steps do not have.
func (r *checkReader) compared(inner *hclsyntax.Block, attr string, limit *step.Limit, of []string) {
	if limit == nil || limit.Name == "" {
		return
	}
	a := inner.Body.Attributes[attr]
	for _, address := range of {
		r.field(a, limit.Name, address, r.read[address])
	}
	if len(of) == 0 {
		r.field(a, limit.Name, "The step", r.b.spec)
	}
}

// limit is a number, or the name of one: what is counted, or OUTPUT:PATH.
func (r *checkReader) limit(a *hclsyntax.Attribute, v cty.Value) *step.Limit {
	switch {
	case v.Type() == cty.Number:
		f, _ := v.AsBigFloat().Float64()
		return &step.Limit{Number: f}
	case v.Type() == cty.String && v.AsString() != "":
		return &step.Limit{Name: v.AsString()}
	}
	r.wrong(a.Expr.Range(), "%s is a number, or the name of another one: what is counted, or OUTPUT:PATH.", a.Name)
	return nil
}

// of are the steps whose outputs the named attributes take.
func (r *checkReader) of(a *hclsyntax.Attribute, v cty.Value) (addresses []string) {
	list := []cty.Value{v}
	if v.CanIterateElements() && !v.Type().IsMapType() && !v.Type().IsObjectType() {
		list = v.AsValueSlice()
	}
	if len(list) == 0 {
		r.wrong(a.Expr.Range(), "of has no attribute.")
	}
	for _, e := range list {
		if e.IsNull() || e.Type() != cty.String {
			r.wrong(a.Expr.Range(), "of is the name of an attribute of the step, or a list of such names.")
			return nil
		}
		name := e.AsString()
		found := 0
		_, _ = step.MapInputs(r.tree[name], func(_ string, in step.Input) (step.Input, error) {
			if in.Ref != nil {
				found++
				addresses = append(addresses, in.Ref.Step)
			}
			return in, nil
		})
		switch _, given := r.tree[name]; {
		case !given:
			r.wrong(a.Expr.Range(), "The step has no attribute %q. %s", name, suggest(name, slices.Sorted(maps.Keys(r.tree)), "attribute"))
		case found == 0 && r.failed(): // reported
			r.ok = false
		case found == 0:
			r.wrong(a.Expr.Range(), "Attribute %q does not take a step's output.", name)
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// field reports an output that a step has not, and a path that it does not declare. What
// is counted is known to no kind before it has run.
func (r *checkReader) field(a *hclsyntax.Attribute, field, owner string, spec *step.Spec) {
	output, path, found := strings.Cut(field, ":")
	if spec == nil || !found {
		return
	}
	switch o, ok := spec.Output(output); {
	case !ok:
		var names []string
		for _, o := range spec.Outputs {
			names = append(names, o.Name)
		}
		r.wrong(a.Expr.Range(), "%s has no output %q. %s", owner, output, suggest(output, names, "output"))
	case o.Tree:
		r.wrong(a.Expr.Range(), "Output %q is many files; a check reads one.", output)
	case o.Fields != nil:
		if _, err := o.Fields.At(path); err != nil {
			r.wrong(a.Expr.Range(), "Field %q of output %q %v.", path, output, err)
		}
	}
}
