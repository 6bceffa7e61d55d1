package language

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// render is templatefile(): a template sees its variables and the functions. No line that could be secret is quoted.
func (s *Session) render(dir, name string, vars cty.Value, secret func() bool) (string, error) {
	if t := vars.Type(); !t.IsObjectType() && !t.IsMapType() {
		return "", errors.New(`its variables are an object: { name = "value" }`)
	}
	if s.rendering {
		return "", errors.New("a template cannot use templatefile(): give it the text of the other one as a variable")
	}
	text, err := s.textBeside(dir, name)
	if err != nil {
		return "", err
	}
	b := []byte(text)
	if err := s.meter.spend(int64(len(b))/64, 0); err != nil {
		return "", err
	}
	full := syntax.Beside(dir, name)
	if !secret() {
		s.Diags.Quote(full, b)
	}
	tokens, _ := hclsyntax.LexTemplate(b, full, hcl.InitialPos)
	if d := syntax.CheckTokens(tokens); d != nil {
		return "", &told{d}
	}
	e, ds := hclsyntax.ParseTemplate(b, full, hcl.InitialPos)
	if ds.HasErrors() {
		return "", &told{ds[0]}
	}
	s.RewriteNode(e)
	ctx := &hcl.EvalContext{Variables: vars.AsValueMap(), Functions: s.Functions(dir, secret)}
	wrong := func(rng hcl.Range, summary, format string, args ...any) error {
		return &told{&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &rng}}
	}
	for _, tr := range e.Variables() {
		if root := tr.RootName(); ctx.Variables[root] == cty.NilVal {
			return "", wrong(tr.SourceRange(), "Unknown variable", "This call of templatefile() gives no %q; it gives: %s. A dollar sign before a brace is written $${.", root, strings.Join(syntax.Keys(ctx.Variables), ", "))
		}
	}
	s.rendering = true // one within another might not end
	v, ds := e.Value(ctx)
	s.rendering = false
	if ds.HasErrors() {
		d := cmp.Or(limits(ds[0]), unknownFunction(ds[0]), ds[0])
		return "", wrong(*d.Subject, d.Summary, "%s", d.Detail)
	}
	if v, err = convert.Convert(v, cty.String); err != nil || v.IsNull() {
		return "", wrong(e.Range(), "Not a text", "This template gives a value that is not a text. With jsonencode() or join() it becomes one.")
	}
	return v.AsString(), nil
}

func (s *Session) templateFunction(dir string, secret func() bool) function.Function {
	return valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) {
		text, err := s.render(dir, args[0].AsString(), args[1], secret)
		return cty.StringVal(text), err
	}, textParam("path"), anyParam("vars"))
}
