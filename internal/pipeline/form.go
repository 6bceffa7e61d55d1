package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// forms describe the blocks that are no steps and read as a step is: by the tags of a struct.
var forms = func() map[string]*step.Spec {
	m := map[string]*step.Spec{checkBlock: checkSpec, resourcesBlock: resourcesSpec, retryBlock: retrySpec}
	for _, t := range Types {
		if t.Form != nil {
			m[t.Name] = t.Form
		}
	}
	return m
}()

// shapeForm checks the names in a block that has a form.
func (l *loader) shapeForm(b *hclsyntax.Block) {
	l.shapeBody(b, forms[b.Type].Attrs, (&block{Block: b}).owner(), false)
}

// formReader reads a block that has a form in what an instance sees.
func (l *loader) formReader(b *hclsyntax.Block, inst *instance) *config {
	return &config{l: l, b: &block{Block: b, spec: forms[b.Type]}, inst: inst}
}

// read is what a block says; false if something is wrong with it, or not known yet.
func read[T any](c *config) (said T, ok bool) {
	return decoded[T](c, c.body(c.b.Body, c.b.spec.Attrs, nil))
}

func decoded[T any](c *config, tree map[string]any) (said T, ok bool) {
	v, err := c.b.spec.Decode(tree)
	if err != nil {
		c.problems(err)
		return said, false
	}
	return v.(T), true
}

// fixedReader reads a block that has a form and whose expressions refer to nothing but a root, if
// there is one.
func (l *loader) fixedReader(b *hclsyntax.Block, root string) *config {
	l.shapeForm(b)
	l.refersWithin(b, b.Body, root)
	return l.formReader(b, &instance{address: b.Type, ctx: l.varContext(b.TypeRange.Filename)})
}

// varContext is what expressions of a file are evaluated in that refer to variables alone.
func (l *loader) varContext(file string) *hcl.EvalContext {
	ctx := l.constContext(file)
	ctx.Variables = map[string]cty.Value{"var": l.variableObject()}
	return ctx
}

// constContext is what expressions of a file are evaluated in that refer to nothing.
func (l *loader) constContext(file string) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: l.functions(syntax.Dir(file))}
}

// refersWithin reports what else expressions of a block refer to.
func (l *loader) refersWithin(b *hclsyntax.Block, body *hclsyntax.Body, root string) {
	detail := fmt.Sprintf("A value of the %s block cannot refer to other values.", b.Type)
	if root == "var" {
		detail = fmt.Sprintf("A %s block can refer to variables only.", b.Type)
	}
	for _, a := range syntax.Attributes(body) {
		if !syntax.RefersOnly(l.Diags, a.Expr, root, "Not a constant", detail) || !l.check(a.Expr, false) {
			l.bad[a.Expr] = true
		}
	}
	for _, inner := range body.Blocks {
		l.refersWithin(b, inner.Body, root)
	}
}
