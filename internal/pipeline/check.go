package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// checkBlock is what a step may have any number of: something that must be true of its
// result before anything reads it.
const checkBlock = "check"

type checkForm struct {
	Counts   string   `hcl:"counts,optional" help:"What the step counted, such as \"records\""`
	Field    string   `hcl:"field,optional" help:"Or a number in an output, as OUTPUT:PATH"`
	Equals   *string  `hcl:"equals,optional" help:"What it must be: a number, or the name of another one"`
	Min      *string  `hcl:"min,optional" help:"The least that it may be"`
	Max      *string  `hcl:"max,optional" help:"The most that it may be"`
	Of       []string `hcl:"of,optional" help:"Attributes of the step: those names are of what these take"`
	Severity string   `hcl:"severity,optional" enum:"error,warning" help:"A warning stops nothing. Default: \"error\""`
}

// shapeCheck checks the names in a check block.
func (l *loader) shapeCheck(b *block, inner *hclsyntax.Block) {
	if b.typ != "step" {
		l.diags.error(inner.TypeRange, "Unknown block", fmt.Sprintf("A check belongs to a step. What is expected of a %s is written in expect and claim blocks.", b.typ))
		return
	}
	if len(inner.Labels) != 1 || inner.Labels[0] == "" {
		l.diags.error(header(inner), "Wrong labels", `A check is written check "WHAT IT CHECKS" { … }.`)
		return
	}
	l.shapeForm(inner)
	b.checks = append(b.checks, inner)
}
