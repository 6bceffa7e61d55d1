package language

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Why says, by a reference to a value, why it lacks what is asked of it; "": the value itself says that.
type Why func(of string, v cty.Value, name string) (summary, detail string)

// explain rewrites the evaluator's messages about what values lack, so that they speak of steps, outputs and instances.
func (s *Session) explain(d *hcl.Diagnostic, why Why) *hcl.Diagnostic {
	if e := cmp.Or(limits(d), unknownFunction(d)); e != nil {
		return e
	}
	if e := s.explainOpaque(d); e != nil {
		return e
	}
	of, v, k := s.lacking(d)
	if v == cty.NilVal || v.IsMarked() || k.IsMarked() || !k.IsKnown() || k.IsNull() || k.Type() != cty.String {
		return d
	}
	var summary, detail string
	if why != nil {
		summary, detail = why(of, v, k.AsString())
	}
	if summary == "" {
		summary, detail = lacks(of, v, k.AsString())
	}
	if summary == "" {
		return d
	}
	return rewritten(d, &syntax.Limit{Summary: summary, Detail: detail})
}

// unknownFunction says which function was meant, the first of equally near ones; nil: it is another diagnostic.
func unknownFunction(d *hcl.Diagnostic) *hcl.Diagnostic {
	extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d)
	if !ok || extra.CalledFunctionNamespace() != "" {
		return nil
	}
	ctx := d.EvalContext
	for ctx.Functions == nil && ctx.Parent() != nil {
		ctx = ctx.Parent()
	}
	name := extra.CalledFunctionName()
	detail := fmt.Sprintf("There is no function named %q.", name)
	if name == "sensitive" { // Terraform has it; the nearest name is its opposite
		detail += " A secret is the value of a variable with sensitive = true."
	} else if near := syntax.Nearest(name, syntax.Keys(ctx.Functions)); near != "" {
		detail += fmt.Sprintf(" Did you mean %q?", near)
	}
	return rewritten(d, &syntax.Limit{Summary: d.Summary, Detail: detail})
}

// lacking finds the value, and its name, that lacks what is asked of it; NilVal: the diagnostic is about something else.
func (s *Session) lacking(d *hcl.Diagnostic) (of string, v, k cty.Value) {
	switch e := d.Expression.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if start, ds := e.Traversal[:1].TraverseAbs(d.EvalContext); !ds.HasErrors() {
			return steps(e.Traversal.RootName(), start, e.Traversal[1:])
		}
	case *hclsyntax.RelativeTraversalExpr:
		if anon, ok := e.Source.(*hclsyntax.AnonSymbolExpr); ok {
			return s.element(anon, e.Traversal, d.EvalContext)
		}
		if src, ds := e.Source.Value(d.EvalContext); !ds.HasErrors() {
			return steps("This", src, e.Traversal)
		}
	case *hclsyntax.IndexExpr:
		c, ds := e.Collection.Value(d.EvalContext)
		i, more := e.Key.Value(d.EvalContext)
		if ds.HasErrors() || more.HasErrors() {
			break
		}
		if tr, ok := Unwrap(e.Collection).(*hclsyntax.ScopeTraversalExpr); ok {
			return source(tr.Traversal), c, i
		}
		return "This", c, i
	}
	return "", cty.NilVal, cty.NilVal
}

// element finds the first element of a splat's list that lacks what stands after the splat.
func (s *Session) element(anon *hclsyntax.AnonSymbolExpr, rest hcl.Traversal, ctx *hcl.EvalContext) (of string, v, k cty.Value) {
	src := s.splats[anon]
	if src == nil {
		return "", cty.NilVal, cty.NilVal
	}
	list, ds := src.Value(ctx)
	if !ds.HasErrors() && list.Type() == ArtifactType {
		return steps("This", list, rest)
	}
	if ds.HasErrors() || list.IsMarked() || !list.IsKnown() || list.IsNull() || !list.CanIterateElements() {
		return "", cty.NilVal, cty.NilVal
	}
	for _, e := range list.Elements() {
		if of, v, k = steps("An element", e, rest); v != cty.NilVal {
			return of, v, k
		}
	}
	return "", cty.NilVal, cty.NilVal
}

// lacks says that a value has no part of the given name.
func lacks(of string, v cty.Value, name string) (summary, detail string) {
	if !v.IsKnown() || v.IsNull() {
		return "", ""
	}
	t := v.Type()
	if address, ok := StepOf(v); ok {
		return "Unknown output", fmt.Sprintf("%s has no output %q. %s", address, name, syntax.Suggest(name, syntax.Keys(t.AttributeTypes()), "output"))
	}
	if t.IsMapType() && t.ElementType().IsObjectType() && isStep(t.ElementType()) {
		keys := syntax.Keys(v.AsValueMap())
		if t.ElementType().HasAttribute(name) && len(keys) > 0 {
			return "Several steps", fmt.Sprintf("%s has for_each. Choose one of its instances, such as %s[%q].%s, or take all of them as a list: %s[*].%s.", of, of, keys[0], name, of, name)
		}
		return "Unknown instance", fmt.Sprintf("%s has no instance %q. %s", of, name, syntax.Suggest(name, keys, "instance"))
	}
	switch {
	case t.IsObjectType():
		return "Unknown attribute", fmt.Sprintf("%s has no attribute %q. %s", of, name, syntax.Suggest(name, syntax.Keys(t.AttributeTypes()), "attribute"))
	case t.IsMapType():
		return "Unknown key", fmt.Sprintf("%s has no key %q. %s", of, name, syntax.Suggest(name, syntax.Keys(v.AsValueMap()), "key"))
	}
	return "", ""
}

// explainOpaque rewrites a diagnostic about an artifact that is used as a value; nil: it is about something else.
func (s *Session) explainOpaque(d *hcl.Diagnostic) *hcl.Diagnostic {
	if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d); ok && call.FunctionCallError() != nil {
		return nil // the function says so itself; see refuse
	}
	var err *syntax.Limit
	switch e := d.Expression.(type) {
	case nil:
	case *hclsyntax.BinaryOpExpr:
		a, ads := e.LHS.Value(d.EvalContext)
		b, bds := e.RHS.Value(d.EvalContext)
		if !ads.HasErrors() && !bds.HasErrors() {
			err = compares(a, b)
		}
	case *hclsyntax.IndexExpr:
		err = readBy(e.Key, d)
	default:
		err = readBy(e, d)
	}
	if _, v, _ := s.lacking(d); err == nil && v != cty.NilVal && v.Type() == ArtifactType && !v.IsNull() {
		err = opaque("This looks into", v)
	}
	return rewritten(d, err)
}

// readBy is the error of an expression that gives an artifact, or a collection for whose artifacts there is no conversion.
func readBy(e hcl.Expression, d *hcl.Diagnostic) *syntax.Limit {
	v, ds := e.Value(d.EvalContext)
	if ds.HasErrors() || !holdsValue(v) || v.Type() != ArtifactType && !strings.Contains(d.Detail, "artifact") {
		return nil
	}
	return opaque("This cannot read", v)
}

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

// rewritten is a diagnostic at the place of d that says l; nil of a nil l.
func rewritten(d *hcl.Diagnostic, l *syntax.Limit) *hcl.Diagnostic {
	if l == nil {
		return nil
	}
	e := *d
	e.Summary, e.Detail, e.Extra = l.Summary, l.Detail, nil
	return &e
}

// told is an error that a diagnostic within a call says already.
type told struct{ *hcl.Diagnostic }

func (e *told) Error() string { return e.Detail }

func noFile(err error, rng hcl.Range, e hcl.Expression, ctx *hcl.EvalContext) *hcl.Diagnostic {
	l := &syntax.Limit{Summary: "No such file", Detail: strings.TrimRight(err.Error(), ".") + "."}
	d := l.At(rng)
	d.Expression, d.EvalContext, d.Extra = e, ctx, l
	return d
}
