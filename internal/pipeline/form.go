package pipeline

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// shapeForm checks the names in a block that has a form.
func (l *loader) shapeForm(b *hclsyntax.Block) {
	schema.Shape(l.Diags, b, formOf(b).Attrs, nil, ownerOf(b), l.typos)
}

// constContext is what expressions of a file are evaluated in that refer to nothing.
func (l *loader) constContext(file string) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: l.Session.Functions(syntax.Dir(file), l.anySensitive)}
}
