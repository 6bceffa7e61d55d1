package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

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

// WrittenElements is how many elements a list or object has that is written out; -1: another expression.
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
