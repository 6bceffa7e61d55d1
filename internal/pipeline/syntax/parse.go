package syntax

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Body is one parsed pipeline file.
type Body struct {
	Name string
	*hclsyntax.Body
}

// Check reports what is not HCL in files of pipelines and tests, and nothing else.
func Check(sources map[string][]byte) Diagnostics {
	d := NewCollector(sources)
	for _, name := range Keys(sources) {
		ParseFile(name, sources[name], d)
	}
	return d.Done()
}

// ParseFile is the body of a file; nil of one that is not HCL, which is reported.
func ParseFile(name string, src []byte, d *Collector) *Body {
	if !CheckSource(name, src, d) {
		return nil
	}
	d.Quote(name, src)
	f, ds := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	d.HCL(ds, hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos})
	if ds.HasErrors() {
		return nil
	}
	return &Body{name, f.Body.(*hclsyntax.Body)}
}

// CheckSource refuses sources too large, deep or odd for the parser and the evaluator.
func CheckSource(name string, src []byte, d *Collector) bool {
	if len(src) > MaxSource {
		d.Error(hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}, "Source too large",
			fmt.Sprintf("%s has %d bytes; a pipeline file may have %d. Large constants belong in a file of their own that file() reads.", name, len(src), MaxSource))
		return false
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos) // the parser reports what is wrong here
	wrong := CheckTokens(tokens)
	if wrong != nil {
		d.Error(*wrong.Subject, wrong.Summary, wrong.Detail)
	}
	return wrong == nil
}

// RefersOnly reports references of an expression that do not start with a name.
func RefersOnly(d *Collector, e hclsyntax.Expression, root, summary, detail string) bool {
	ok := true
	for _, tr := range e.Variables() {
		if tr.RootName() != root {
			d.Error(tr.SourceRange(), summary, detail)
			ok = false
		}
	}
	return ok
}

// UnixLines is a walker that ends the lines of heredocs and templates by LF, whatever the file has.
func UnixLines(n hclsyntax.Node) hcl.Diagnostics {
	if e, ok := n.(*hclsyntax.LiteralValueExpr); ok && e.SrcRange.Start.Line < e.SrcRange.End.Line && e.Val.Type() == cty.String {
		e.Val = cty.StringVal(strings.ReplaceAll(e.Val.AsString(), "\r\n", "\n"))
	}
	return nil
}
