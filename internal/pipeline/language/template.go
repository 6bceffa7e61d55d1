package language

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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
		s.Diags.Sources[full] = b
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
		return &told{syntax.Over(summary, format, args...).At(rng)}
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

// Lint looks at every expression of a file, in which roots are what references start with.
func Lint(body *hclsyntax.Body, d *syntax.Collector, roots []string) {
	keys := map[hclsyntax.Node]bool{} // of objects
	hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		switch e := n.(type) {
		case *hclsyntax.ObjectConsKeyExpr:
			keys[e.Wrapped] = true // "${x}" is one way to write a key that is not a word
		case *hclsyntax.TemplateWrapExpr:
			if !keys[n] {
				d.Warn(e.Range(), "Template of one value", "This is the value itself, with its own type. Write it without quotation marks and ${ }; to make it a text, use tostring().")
			}
		case *hclsyntax.FunctionCallExpr:
			lintCall(e, d)
		case *hclsyntax.ForExpr:
			for _, name := range []string{e.KeyVar, e.ValVar} {
				if slices.Contains(roots, name) {
					d.Warn(e.OpenRange, "Hidden name", fmt.Sprintf("Within this for, %s is an element and hides the name that references start with. Give the element another name.", name))
				}
			}
		}
		return nil
	})
}

// lintCall warns of calls that mean something else in Terraform.
func lintCall(e *hclsyntax.FunctionCallExpr, d *syntax.Collector) {
	for i, arg := range e.Args {
		literal, ok := Unwrap(arg).(*hclsyntax.TemplateExpr)
		if !ok || !literal.IsStringLiteral() {
			continue
		}
		v, _ := literal.Value(nil)
		text := v.AsString()
		switch {
		case e.Name == "replace" && i == 1 && len(text) > 2 && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/"):
			d.Warn(arg.Range(), "Not a regular expression", fmt.Sprintf("replace() takes this as text, with its slashes; Terraform takes what is between them as a regular expression. For this, write regexreplace(text, %q, by).", text[1:len(text)-1]))
		case e.Name == "coalesce" && text == "" && i < len(e.Args)-1:
			d.Warn(arg.Range(), "Empty text", "coalesce() gives the first argument that is not null, and an empty text is not null; Terraform passes over it. Give null in its place, or write x != \"\" ? x : y.")
		}
	}
}

// WrittenElements counts the elements of a list or object that is written out; -1: another expression.
func WrittenElements(e hclsyntax.Expression) int {
	switch x := Unwrap(e).(type) {
	case *hclsyntax.TupleConsExpr:
		return len(x.Exprs)
	case *hclsyntax.ObjectConsExpr:
		return len(x.Items)
	case *hclsyntax.FunctionCallExpr:
		if len(x.Args) == 1 && slices.Contains([]string{"toset", "tolist", "tomap"}, x.Name) {
			return WrittenElements(x.Args[0])
		}
	}
	return -1
}
