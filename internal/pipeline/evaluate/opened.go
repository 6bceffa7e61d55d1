package evaluate

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Opened is what a console, a test or an editor evaluates in; Named may be called by several goroutines, Value by one at a time.
type Opened struct {
	f   *frame
	dir string // for file()
}

// Named is the value of a declared name: var.x, local.x, step.train.dsi, table.t; unknown if it could not be evaluated.
func (o *Opened) Named(name string) (cty.Value, bool) {
	if short, ok := strings.CutPrefix(name, "var."); ok && o.f.variables[short] != nil {
		return o.f.variables[short].value, true
	}
	if n := o.f.decl.ByName[name]; n != nil {
		return o.f.of(n).value, true
	}
	return cty.NilVal, false
}

// Expression is a part of a source, with values that hide the pipeline's own, by the name that references to them start with.
type Expression struct {
	Source []byte
	Range  hcl.Range
	With   map[string]cty.Value
}

// WholeExpression is a source that is one expression.
func WholeExpression(file string, source []byte) Expression {
	end := hcl.Pos{Line: 1, Column: 1 + len(source), Byte: len(source)}
	return Expression{Source: source, Range: hcl.Range{Filename: file, Start: hcl.InitialPos, End: end}}
}

// Value evaluates an expression as a local value of the pipeline; with errors it is unknown.
func (o *Opened) Value(x Expression) (cty.Value, syntax.Diagnostics) {
	f, file := o.f, x.Range.Filename
	f.ResetMeter()
	f.Diags = syntax.NewCollector(map[string][]byte{file: x.Source})
	text := x.Range.SliceBytes(x.Source)
	if !syntax.CheckSource(file, text, f.Diags) {
		return cty.DynamicVal, f.Diags.Done()
	}
	e, ds := hclsyntax.ParseExpression(text, file, x.Range.Start)
	f.Diags.HCL(ds, x.Range)
	if ds.HasErrors() {
		return cty.DynamicVal, f.Diags.Done()
	}
	f.RewriteNode(e)
	edges := f.links.Of(e, f.Diags, func(root string) bool { return x.With[root] != cty.NilVal })
	if f.Diags.Failed() {
		return cty.DynamicVal, f.Diags.Done()
	}
	n := &declare.Node{Dir: o.dir}
	ctx := f.scope(n, edges)
	maps.Copy(ctx.Variables, x.With)
	defer f.Await(f.inherits(n, edges))()
	return f.sees(ctx, nil).Value(e), f.Diags.Done()
}

// Questions lists the questions of unset variables that stand where something is wrong, and adds to the errors how else to set
// them.
func (o *Opened) Questions(ds syntax.Diagnostics) (all []syntax.Question) {
	for _, name := range syntax.Keys(o.f.variables) {
		v := o.f.variables[name]
		if v.Ask == "" || v.given {
			continue
		}
		named := regexp.MustCompile(`\bvar\.` + regexp.QuoteMeta(name) + `\b`)
		asked := false
		for _, d := range ds.List {
			if d.Severity != hcl.DiagError || *d.Subject != v.Range && !named.Match(d.Subject.SliceBytes(o.f.Diags.Sources[d.Subject.Filename])) {
				continue
			}
			if *d.Subject != v.Range {
				d.Detail += fmt.Sprintf("\nNobody has set var.%s yet: give it with --var %s=…, or in %s.", name, name, syntax.LocalFile)
			}
			asked = true
		}
		if asked {
			all = append(all, syntax.Question{Variable: name, Text: v.Ask})
		}
	}
	return all
}
