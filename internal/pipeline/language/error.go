package language

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// limits rewrites a diagnostic about a limit or an artifact; nil if it is about something else.
func limits(d *hcl.Diagnostic) *hcl.Diagnostic {
	if l, ok := d.Extra.(*syntax.Limit); ok {
		return rewritten(d, l)
	}
	extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	if !ok {
		return nil
	}
	switch err := extra.FunctionCallError().(type) {
	case *told:
		return err.Diagnostic
	case *syntax.Limit:
		return rewritten(d, err)
	}
	return nil
}

// rewritten is a diagnostic at the same place that says something else.
func rewritten(d *hcl.Diagnostic, l *syntax.Limit) *hcl.Diagnostic {
	e := *d
	e.Summary, e.Detail, e.Extra = l.Summary, l.Detail, nil
	return &e
}

// told is an error that a diagnostic within a call says already.
type told struct{ *hcl.Diagnostic }

func (e *told) Error() string { return e.Detail }

func noFile(err error, rng *hcl.Range, e hcl.Expression, ctx *hcl.EvalContext) *hcl.Diagnostic {
	detail := strings.TrimRight(err.Error(), ".") + "."
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No such file", Detail: detail,
		Subject: rng, Expression: e, EvalContext: ctx, Extra: &syntax.Limit{Summary: "No such file", Detail: detail}}
}
