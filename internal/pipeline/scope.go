package pipeline

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Scope is what the expressions of a loaded pipeline see, for expressions that come
// later: in a console, a test, an editor. Names may be asked for by several goroutines,
// Value by one at a time.
type Scope struct {
	f   *frame
	dir string // for file()
}

// Open is Load that keeps the values. Of a pipeline with mistakes the scope has what could
// be evaluated, the rest is unknown; it is nil if the sources are not HCL.
func Open(sources map[string][]byte, o Options) (*Scope, *Pipeline, syntax.Diagnostics) {
	return load(begin(sources, o), sources, o, true)
}

// Named is the value of a declared name: var.x, local.x, step.train.dsi, table.t. It is
// unknown where it could not be evaluated.
func (s *Scope) Named(name string) (cty.Value, bool) {
	if v, ok := strings.CutPrefix(name, "var."); ok {
		if v := s.f.variables.of[v]; v != nil {
			return v.value, true
		}
		return cty.NilVal, false
	}
	if n := s.f.decl.byName[name]; n != nil {
		return s.f.of(n).value, true
	}
	return cty.NilVal, false
}

// Expression is a part of a source, and values that are in it instead of the pipeline's
// own, by the name that a reference to them starts with.
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

// Value evaluates an expression as if it were a local value of the pipeline. It is
// unknown if there are errors.
func (s *Scope) Value(x Expression) (cty.Value, syntax.Diagnostics) {
	f, file := s.f, x.Range.Filename
	f.Again()
	f.Diags = syntax.NewCollector(map[string][]byte{file: x.Source})
	text := x.Range.SliceBytes(x.Source)
	if !syntax.Tame(file, text, f.Diags) {
		return cty.DynamicVal, f.Diags.Done()
	}
	e, ds := hclsyntax.ParseExpression(text, file, x.Range.Start)
	f.Diags.HCL(ds, x.Range)
	if ds.HasErrors() {
		return cty.DynamicVal, f.Diags.Done()
	}
	f.RewriteNode(e)
	var edges []edge
	links := *f.links
	links.diags = f.Diags
	for _, tr := range e.Variables() {
		if _, given := x.With[tr.RootName()]; given {
			continue
		}
		if summary, detail := links.dangling(tr, false); summary != "" {
			f.Diags.Error(tr.SourceRange(), summary, detail)
			continue
		}
		for _, to := range links.targets(tr) {
			edges = append(edges, edge{to: to, rng: tr.SourceRange()})
		}
	}
	if f.Diags.Failed() {
		return cty.DynamicVal, f.Diags.Done()
	}
	n := &node{dir: s.dir}
	ctx := f.scope(n, edges)
	maps.Copy(ctx.Variables, x.With)
	defer f.Await(f.inherits(n, edges))()
	return f.sees(ctx, nil).Value(e), f.Diags.Done()
}

// questions are those whose answers could mend errors: of variables that nobody has set and
// whose names stand where something is wrong. The errors say how else to set them.
func (s *Scope) questions(ds syntax.Diagnostics) (all []syntax.Question) {
	for _, name := range syntax.Keys(s.f.variables.of) {
		v := s.f.variables.of[name]
		if v.ask == "" || v.given {
			continue
		}
		named := regexp.MustCompile(`\bvar\.` + regexp.QuoteMeta(name) + `\b`)
		asked := false
		for _, d := range ds.List {
			if d.Severity != hcl.DiagError || *d.Subject != v.rng && !named.Match(d.Subject.SliceBytes(s.f.Diags.Source(d.Subject.Filename))) {
				continue
			}
			if *d.Subject != v.rng {
				d.Detail += fmt.Sprintf("\nNobody has set var.%s yet: give it with --var %s=…, or in %s.", name, name, syntax.LocalFile)
			}
			asked = true
		}
		if asked {
			all = append(all, syntax.Question{Variable: name, Text: v.ask})
		}
	}
	return all
}
