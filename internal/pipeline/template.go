package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// noNesting stands for templatefile() in a template, which would not end.
var noNesting = function.New(&function.Spec{
	VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true},
	Type: func([]cty.Value) (cty.Type, error) {
		return cty.String, errors.New("a template cannot use templatefile(): give it the text of the other one as a variable")
	},
})

// render is templatefile(): a template sees its variables and the functions, nothing else.
func (l *loader) render(dir, name string, vars cty.Value) (string, error) {
	if t := vars.Type(); vars.IsNull() || !t.IsObjectType() && !t.IsMapType() {
		return "", errors.New(`its variables are an object: { name = "value" }`)
	}
	b, err := l.readBeside(dir, name)
	if err != nil {
		return "", err
	}
	text, err := checkedText(name, b)
	if err != nil {
		return "", err
	}
	if err := l.meter.spend(int64(len(b))/64, 0); err != nil {
		return "", err
	}
	full := beside(dir, name)
	at := func(rng hcl.Range, summary, detail string) error {
		if _, ok := l.diags.sources[full]; !ok && !l.anySensitive() {
			l.diags.sources[full] = b
		}
		return &told{&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &rng}}
	}
	tokens, _ := hclsyntax.LexTemplate(b, full, hcl.InitialPos)
	if rng, err := badToken(tokens); err != nil {
		return "", at(rng, err.summary, err.detail)
	}
	if rng, deep := tooDeep(tokens); deep {
		return "", at(rng, "Nesting too deep", fmt.Sprintf("Brackets, templates or operators are nested more than %d deep here.", maxDepth))
	}
	e, ds := hclsyntax.ParseTemplate([]byte(text), full, hcl.InitialPos)
	if ds.HasErrors() {
		return "", &told{firstError(ds)}
	}
	l.rewriteNode(e)
	ctx := &hcl.EvalContext{Variables: vars.AsValueMap(), Functions: maps.Clone(l.functions(dir).all)}
	ctx.Functions["templatefile"] = noNesting
	for _, tr := range e.Variables() {
		if root := tr.RootName(); ctx.Variables[root] == cty.NilVal {
			names := sortedKeys(ctx.Variables)
			return "", at(tr.SourceRange(), "Unknown variable", fmt.Sprintf("This call of templatefile() gives no %q; it gives: %s. In a template, a dollar sign before a brace is written $${.", root, strings.Join(names, ", ")))
		}
	}
	v, ds := e.Value(ctx)
	if ds.HasErrors() {
		d := firstError(ds)
		if x := limits(d); x != nil {
			d = x
		}
		return "", at(*d.Subject, d.Summary, d.Detail)
	}
	if v, err = convert.Convert(v, cty.String); err != nil || v.IsNull() {
		return "", at(e.Range(), "Not a text", "This template gives a value that is not a text. With jsonencode() or join() it becomes one.")
	}
	return v.AsString(), nil
}

func firstError(ds hcl.Diagnostics) *hcl.Diagnostic {
	for _, d := range ds {
		if d.Severity == hcl.DiagError {
			return d
		}
	}
	return nil
}
