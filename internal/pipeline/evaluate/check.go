package evaluate

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// checks reads the check blocks of an instance with the configuration tree; false: a check is wrong, or not known yet.
func (c *stepReader) checks(tree map[string]any) (list []step.Check, ok bool) {
	ok = true
	for _, inner := range c.b.Checks {
		r := &checkReader{Reader: c.f.reader(inner, c.inst), of: c, tree: tree}
		own := r.Body(inner.Body, r.Spec.Attrs, nil)
		if name, one := own["of"].(string); one {
			own["of"] = []any{name}
		}
		if x, ok := schema.Decoded[declare.CheckForm](r.Reader, own); ok {
			list = append(list, r.check(x)...)
		}
		ok = ok && !r.Failed()
	}
	return list, ok
}

type checkReader struct {
	*schema.Reader
	of   *stepReader
	tree map[string]any
}

func (r *checkReader) wrong(attribute, format string, args ...any) {
	at := []any{attribute}
	r.Fail(at, r.Locate(at), "Wrong check", fmt.Sprintf(format, args...))
}

// check turns a block into a check; a block whose limits are all null gives none.
func (r *checkReader) check(x declare.CheckForm) []step.Check {
	c := step.Check{Name: r.Block.Labels[0], At: syntax.PosOf(r.Block.TypeRange).String(), Counts: x.Counts, Field: x.Field, Min: limitOf(x.Min), Max: limitOf(x.Max), Equals: limitOf(x.Equals),
		Warning: x.Severity == "warning", Of: r.steps(x.Of)}
	if c.Field != "" && !strings.Contains(c.Field, ":") {
		r.wrong("field", "%q is not a field: write OUTPUT:PATH.", c.Field)
	}
	r.field("field", c.Field, "The step", r.of.Spec)
	for i, text := range []*string{x.Equals, x.Min, x.Max} {
		attr := []string{"equals", "min", "max"}[i]
		if text != nil && (*text == "" || *text == "true" || *text == "false") {
			r.wrong(attr, "%s is a number, or the name of another one: what is counted, or OUTPUT:PATH.", attr)
		} else if text != nil && values.Inexact(*text) {
			r.wrong(attr, "%s has more digits than a check compares, 53 bits.", *text)
		}
	}
	given := c.Min != nil || c.Max != nil || c.Equals != nil
	attrs := r.Block.Body.Attributes
	named := func(l *step.Limit) bool { return l != nil && l.Name != "" }
	switch {
	case r.Failed():
	case (c.Counts == "") == (c.Field == ""):
		r.wrong("", "It has exactly one of counts, what the step counted, and field, a number in an output as OUTPUT:PATH.")
	case attrs["min"] == nil && attrs["max"] == nil && attrs["equals"] == nil:
		r.wrong("", "It needs equals, min or max: a number, or the name of another one.")
	case c.Equals != nil && (c.Min != nil || c.Max != nil):
		r.wrong("", "It has both equals and min or max. Leave out one of them.")
	case c.Min != nil && c.Max != nil && !named(c.Min) && !named(c.Max) && c.Min.Number > c.Max.Number:
		r.wrong("", "Its min is above its max.")
	case given && len(c.Of) > 0 && !named(c.Min) && !named(c.Max) && !named(c.Equals):
		r.wrong("", `of says whose number equals, min or max names, so one of them must be a name, such as "records".`)
	}
	if !r.Failed() {
		r.compared("equals", c.Equals, c.Of)
		r.compared("min", c.Min, c.Of)
		r.compared("max", c.Max, c.Of)
	}
	if !given {
		return nil
	}
	return []step.Check{c}
}

// compared reports a limit that names a field which the compared steps do not have.
func (r *checkReader) compared(attr string, limit *step.Limit, of []string) {
	if limit == nil {
		return
	}
	for _, address := range of {
		r.field(attr, limit.Name, address, r.of.Read[address])
	}
	if len(of) == 0 {
		r.field(attr, limit.Name, "The step", r.of.Spec)
	}
}

// limitOf reads a number, or a number's name: what is counted, or OUTPUT:PATH.
func limitOf(text *string) *step.Limit {
	if text == nil {
		return nil
	}
	if n, err := values.Float(*text); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
		return &step.Limit{Number: n}
	}
	return &step.Limit{Name: *text}
}

// steps lists the steps whose outputs the named attributes take.
func (r *checkReader) steps(names []string) (addresses []string) {
	if names != nil && len(names) == 0 {
		r.wrong("of", "of has no attribute.")
	}
	for _, name := range names {
		refs := step.RefsIn(r.tree[name])
		addresses = append(addresses, lists.Map(refs, func(ref step.Ref) string { return ref.Step })...)
		switch _, given := r.tree[name]; {
		case !given:
			r.wrong("of", "The step has no attribute %q. %s", name, syntax.Suggest(name, slices.Sorted(maps.Keys(r.tree)), "attribute"))
		case len(refs) == 0 && r.of.Failed(): // reported
			r.Spoil([]any{"of"})
		case len(refs) == 0:
			r.wrong("of", "Attribute %q does not take a step's output.", name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(addresses)))
}

// field reports an output that a step does not have, and a path that the output does not declare. Kinds declare no counts.
func (r *checkReader) field(attr, field, owner string, spec *step.Spec) {
	output, path, found := strings.Cut(field, ":")
	if spec == nil || !found {
		return
	}
	switch o, ok := spec.Output(output); {
	case !ok:
		names := lists.Map(spec.Outputs, func(o step.Output) string { return o.Name })
		r.wrong(attr, "%s has no output %q. %s", owner, output, syntax.Suggest(output, names, "output"))
	case o.Tree:
		r.wrong(attr, "Output %q is many files; a check reads one file.", output)
	case o.Fields != nil:
		if _, err := o.Fields.At(path); err != nil {
			r.wrong(attr, "Field %q of output %q %v.", path, output, err)
		}
	}
}

// fields reports fields that the step will read and its inputs do not declare. An output without a declaration may have any.
func (c *stepReader) fields(tree map[string]any) {
	reads, err := c.Spec.Reads(tree)
	if err != nil {
		c.Problems(err)
		return
	}
	for _, r := range reads {
		if r.Input.Ref == nil {
			continue
		}
		o := c.Outputs[*r.Input.Ref]
		under := o.Fields
		if r.Under != "" && under != nil {
			under, _ = under.At(r.Under) // of what is not there, the Read of that says so
		}
		if under == nil || o.Tree {
			continue
		}
		is, err := under.At(r.Path)
		if err == nil && r.Check != nil {
			err = r.Check(is)
		}
		if err != nil {
			c.noField(r, err)
		}
	}
}

// noField says what is wrong with a path into an output, which field was meant, and where the path stands.
func (c *stepReader) noField(r step.Read, err error) {
	at := schema.ParsePath(r.Attr)
	where, path := r.Input.Ref.String(), r.Path
	if r.Under != "" {
		where += " at " + r.Under
	}
	detail := fmt.Sprintf("Field %q of %s %v.", path, where, err)
	name := path
	if lost, ok := errors.AsType[*step.NoFieldError](err); ok {
		name = lost.Name
		detail = fmt.Sprintf("In %s %v.", where, lost)
		if lost.Is == step.Object {
			detail = fmt.Sprintf("%s has no field %q", where, path)
			if lost.Within != "" {
				detail += fmt.Sprintf(": there is no %q in %q", lost.Name, lost.Within)
			}
			detail += ". " + syntax.Suggest(lost.Name, lost.Names, "field")
		}
	}
	c.Fail(at, c.Narrow(c.Locate(at), path, name), "No such field", detail)
}
