package language

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Shell and awk have ${ } of their own, which HCL takes for its own and would often replace without a word.

// foreignNumber is the ${1} of another language: an error once it is evaluated, since nobody writes a number so.
type foreignNumber struct{ *hclsyntax.LiteralValueExpr }

func (e foreignNumber) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	rng := e.Range()
	n := e.Val.AsBigFloat().Text('f', 0)
	return cty.DynamicVal, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Number in a template", Subject: &rng,
		Detail: fmt.Sprintf("${%s} would be replaced by the number before a program sees the text. %s For the number, write %s.", n, LeaveToProgram(n), n)}}
}

// foreign marks a number in a template such as programs give their arguments and fields.
func foreign(e hclsyntax.Expression) hclsyntax.Expression {
	if lit, ok := e.(*hclsyntax.LiteralValueExpr); ok && lit.Val.Type() == cty.Number {
		if n, accuracy := lit.Val.AsBigFloat().Int64(); accuracy == big.Exact && n < 1000 {
			return foreignNumber{lit}
		}
	}
	return e
}

// LeaveToProgram says how ${name} reaches a program as it is.
func LeaveToProgram(name string) string {
	return fmt.Sprintf("For a program's own ${%s}, such as a shell's or awk's, write $${%[1]s}.", name)
}
