package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// fields reports the fields that the step will read and that the outputs they are read
// from do not declare. Of outputs that declare nothing, such as those of a command, none
// is known to be wrong before it has run.
func (c *config) fields(tree map[string]any) {
	reads, err := c.b.spec.Reads(tree)
	if err != nil {
		c.problems(err)
		return
	}
	for _, r := range reads {
		if r.Input.Ref == nil {
			continue
		}
		o := c.outputs[*r.Input.Ref]
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
func (c *config) noField(r step.Read, err error) {
	at := parsePath(r.Attr)
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
	c.fail(at, c.written(c.locate(at), path, name), "No such field", detail)
}

// written narrows a place down to where a text is in it: as it is, or, with values in
// between, at least a name of it.
func (c *config) written(within hcl.Range, text, name string) hcl.Range {
	found, whole := within, false
	hclsyntax.VisitAll(c.b.Body, func(n hclsyntax.Node) hcl.Diagnostics {
		t, ok := n.(*hclsyntax.TemplateExpr)
		if !ok || whole || t.Range().Start.Byte < within.Start.Byte || t.Range().End.Byte > within.End.Byte {
			return nil
		}
		for _, p := range t.Parts {
			lit, ok := p.(*hclsyntax.LiteralValueExpr)
			if !ok || lit.Val.Type() != cty.String {
				continue
			}
			if s := lit.Val.AsString(); len(t.Parts) == 1 && s == text {
				found, whole = t.Range(), true
			} else if found == within && strings.Contains("."+s+".", "."+name+".") {
				found = t.Range()
			}
		}
		return nil
	})
	return found
}
