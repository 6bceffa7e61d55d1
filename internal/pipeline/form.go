package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// shapeForm checks the names in a block that has a form.
func (l *loader) shapeForm(b *hclsyntax.Block) {
	schema.Shape(l.Diags, b, formOf(b).Attrs, nil, ownerOf(b), l.typos)
}

// formReader reads a block that has a form in what an instance sees.
func (l *loader) formReader(b *hclsyntax.Block, inst *instance) *schema.Reader {
	return &schema.Reader{Scope: l.sees(inst.ctx, inst), Block: b, Spec: formOf(b), Owner: ownerOf(b), Address: inst.address, Typos: l.typos}
}

// fixedReader reads a block that has a form and whose expressions refer to nothing but a root, if
// there is one.
func (l *loader) fixedReader(b *hclsyntax.Block, root string) *schema.Reader {
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
