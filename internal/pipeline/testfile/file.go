package testfile

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline"
)

// Commands of a run.
const (
	Plan  = "plan"  // the default: nothing is run
	Apply = "apply" // what the targets need is run
)

// File is a file of tests.
type File struct {
	Name string
	Runs []*Run
}

// Run is one test: a plan or a run of a pipeline, and what must be true of it.
type Run struct {
	Name      string
	Line      int
	Command   string
	Pipeline  string // relative to the file; "" for the one beside it
	Targets   []string
	Variables []pipeline.File // of the file, then of the run, as --var-file takes them
	Asserts   []Assert

	file   string
	source []byte
}

// Assert is a condition that must be true.
type Assert struct {
	Line               int
	condition, message hclsyntax.Expression
}

var (
	fileSchema = &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "pipeline"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "variables"}, {Type: "run", LabelNames: []string{"name"}}},
	}
	runSchema = &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "command"}, {Name: "pipeline"}, {Name: "targets"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "variables"}, {Type: "assert"}},
	}
	assertSchema = &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "condition", Required: true}, {Name: "error_message", Required: true}},
	}
)

// Parse reads a file of tests. The file is nil if there are errors.
func Parse(name string, source []byte) (*File, pipeline.Diagnostics) {
	p := parser{name: name, source: source}
	f := p.file()
	ds := pipeline.NewDiagnostics(p.diags, map[string][]byte{name: source})
	if ds.HasErrors() {
		return nil, ds
	}
	return f, ds
}

type parser struct {
	name   string
	source []byte
	diags  hcl.Diagnostics
}

func (p *parser) fail(r hcl.Range, summary, format string, args ...any) {
	p.diags = append(p.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &r})
}

func (p *parser) content(b hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	c, ds := b.Content(s)
	p.diags = append(p.diags, ds...)
	return c
}

func (p *parser) file() *File {
	parsed, ds := hclsyntax.ParseConfig(p.source, p.name, hcl.InitialPos)
	if p.diags = append(p.diags, ds...); ds.HasErrors() {
		return nil
	}
	f := &File{Name: p.name}
	c := p.content(parsed.Body, fileSchema)
	beside := p.text(c.Attributes["pipeline"])
	var given []pipeline.File
	seen := map[string]bool{}
	for _, b := range c.Blocks {
		if b.Type == "variables" {
			given = append(given, p.variables(b))
		}
	}
	for _, b := range c.Blocks {
		if b.Type != "run" {
			continue
		}
		r := p.run(b, given)
		if r.Pipeline == "" {
			r.Pipeline = beside
		}
		if seen[r.Name] {
			p.fail(b.DefRange, "Declared twice", "There is another run %q before this one.", r.Name)
		}
		seen[r.Name] = true
		f.Runs = append(f.Runs, r)
	}
	return f
}

func (p *parser) run(b *hcl.Block, given []pipeline.File) *Run {
	r := &Run{Name: b.Labels[0], Line: b.DefRange.Start.Line, Command: Plan, file: p.name, source: p.source}
	r.Variables = append(r.Variables, given...)
	c := p.content(b.Body, runSchema)
	if a := c.Attributes["command"]; a != nil {
		switch r.Command = hcl.ExprAsKeyword(a.Expr); r.Command {
		case Plan, Apply:
		default:
			p.fail(a.Expr.Range(), "Wrong command", "command is plan or apply, without quotation marks.")
		}
	}
	r.Pipeline = p.text(c.Attributes["pipeline"])
	if a := c.Attributes["targets"]; a != nil {
		r.Targets = p.texts(a)
	}
	for _, inner := range c.Blocks {
		if inner.Type == "variables" {
			r.Variables = append(r.Variables, p.variables(inner))
			continue
		}
		attrs := p.content(inner.Body, assertSchema).Attributes
		condition, message := attrs["condition"], attrs["error_message"]
		if condition != nil && message != nil {
			r.Asserts = append(r.Asserts, Assert{condition.Range.Start.Line, condition.Expr.(hclsyntax.Expression), message.Expr.(hclsyntax.Expression)})
		}
	}
	return r
}

// text is the constant text of an attribute; "" if there is none.
func (p *parser) text(a *hcl.Attribute) string {
	if a == nil {
		return ""
	}
	v, ds := a.Expr.Value(nil)
	if p.diags = append(p.diags, ds...); ds.HasErrors() {
		return ""
	}
	if v.IsNull() || v.Type() != cty.String {
		p.fail(a.Expr.Range(), "Wrong type", "%s is a text.", a.Name)
		return ""
	}
	return v.AsString()
}

func (p *parser) texts(a *hcl.Attribute) (list []string) {
	v, ds := a.Expr.Value(nil)
	if p.diags = append(p.diags, ds...); ds.HasErrors() {
		return nil
	}
	v, err := convert.Convert(v, cty.List(cty.String))
	if err != nil || !v.IsWhollyKnown() || v.IsNull() {
		p.fail(a.Expr.Range(), "Wrong type", "%s is a list of texts.", a.Name)
		return nil
	}
	for _, e := range v.AsValueSlice() {
		if e.IsNull() {
			p.fail(a.Expr.Range(), "Wrong type", "%s is a list of texts.", a.Name)
			return nil
		}
		list = append(list, e.AsString())
	}
	return list
}

func (p *parser) variables(b *hcl.Block) pipeline.File {
	f, ds := pipeline.VariablesBlock(p.name, p.source, b)
	p.diags = append(p.diags, ds...)
	return f
}
