package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// checkBlock is what a step may have any number of: something that must be true of its
// result before anything reads it.
const checkBlock = "check"

var attrsOfCheck = []string{"counts", "field", "equals", "min", "max", "of", "severity"}

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
	l.attributes(inner, "check", named(attrsOfCheck...)...)
	l.noBlocks(inner, "check has attributes only.")
	b.checks = append(b.checks, inner)
}
