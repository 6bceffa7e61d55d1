package evaluate

import (
	"errors"
	"fmt"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// fields reports the fields that the step will read and that the outputs they are read
// from do not declare. Of outputs that declare nothing, such as those of a command, none
// is known to be wrong before it has run.
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
		if o.Fields == nil || o.Tree {
			continue
		}
		under := o.Fields
		if r.Under != "" {
			if under, err = o.Fields.At(r.Under); err != nil {
				continue // the Read of that says so
			}
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

// noField says what is wrong with a path into an output, what was meant, and where the
// path is written.
func (c *stepReader) noField(r step.Read, err error) {
	at := schema.ParsePath(r.Attr)
	where, path := r.Input.Ref.String(), r.Path
	if r.Under != "" {
		where += " at " + r.Under
	}
	var lost *step.NoFieldError
	detail := fmt.Sprintf("Field %q of %s %v.", path, where, err)
	name := path
	if errors.As(err, &lost) {
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
