package pipeline

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// forms describe the blocks that are no steps and read as a step is: by the tags of a struct.
var forms = map[string]*step.Spec{
	checkBlock: step.Form[checkForm](nil), "checklist": step.Form(checkChecklist), "environment": step.Form[environmentBlock](nil), "paper": step.Form(checkPaper), "publish": step.Form(checkPublish),
	"results": step.Form[resultsBlock](nil), resourcesBlock: step.Form[resourcesForm](nil), retryBlock: step.Form[retryForm](nil),
	"variable": {Attrs: variableAttrs}, "module": {Attrs: moduleAttrs}, "output": {Attrs: outputAttrs}, // whose expressions are kept
}

// BlockAttrs are the attributes of a block that is no step; nil of one that is not read by a form.
func BlockAttrs(typ string) []step.Attr {
	if f := forms[typ]; f != nil {
		return f.Attrs
	}
	return nil
}

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

// constContext is what expressions of a file are evaluated in that refer to nothing.
func (l *loader) constContext(file string) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: l.functions(syntax.Dir(file))}
}
