package evaluate

import (
	"errors"
	"fmt"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// fields reports the fields that the step will read and that the outputs do not declare. An output that declares nothing,
// such as a command's, may have any.
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
