package pipeline

import (
	"maps"
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
	l   *loader
	dir string // for file()
}

// Open is Load that keeps the values. Of a pipeline with mistakes the scope has what could
// be evaluated, the rest is unknown; it is nil if the sources are not HCL.
func Open(sources map[string][]byte, o Options) (*Scope, *Pipeline, syntax.Diagnostics) {
	l := newLoader(sources, o)
	l.keepValues = true
	p, ds := l.load()
	if len(l.bodies) == 0 || len(l.bodies) < len(syntax.Pipelines(sources)) {
		return nil, p, ds
	}
	return &Scope{l, syntax.Dir(l.bodies[0].Name)}, p, ds
}

// Named is the value of a declared name: var.x, local.x, step.train.dsi, table.t. It is
// unknown where it could not be evaluated.
func (s *Scope) Named(name string) (cty.Value, bool) {
	if v, ok := strings.CutPrefix(name, "var."); ok {
		if v := s.l.variables[v]; v != nil {
			return v.value, true
		}
		return cty.NilVal, false
	}
	if n := s.l.byName[name]; n != nil {
		return n.value, true
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
	l, file := s.l, x.Range.Filename
	l.Again()
	l.Diags = syntax.NewCollector(map[string][]byte{file: x.Source})
	text := x.Range.SliceBytes(x.Source)
	if !syntax.Tame(file, text, l.Diags) {
		return cty.DynamicVal, l.Diags.Done()
	}
	e, ds := hclsyntax.ParseExpression(text, file, x.Range.Start)
	l.Diags.HCL(ds, x.Range)
	if ds.HasErrors() {
		return cty.DynamicVal, l.Diags.Done()
	}
	l.RewriteNode(e)
	n := &node{dir: s.dir}
	for _, tr := range e.Variables() {
		if _, given := x.With[tr.RootName()]; given {
			continue
		}
		if summary, detail := l.dangling(tr, false); summary != "" {
			l.Diags.Error(tr.SourceRange(), summary, detail)
			continue
		}
		for _, to := range l.targets(tr) {
			n.deps = append(n.deps, edge{to: to, rng: tr.SourceRange()})
		}
	}
	if l.Diags.Failed() {
		return cty.DynamicVal, l.Diags.Done()
	}
	ctx := l.scope(n)
	maps.Copy(ctx.Variables, x.With)
	l.Now = l.inherits(n)
	defer func() { l.Now = nil }()
	return l.value(e, ctx, nil), l.Diags.Done()
}
