package testfile

import (
	"cmp"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
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
	p := parser{syntax.BlockReader{Name: name, Source: source}}
	f := p.file()
	ds := syntax.NewDiagnostics(p.Wrong, map[string][]byte{name: source})
	if ds.HasErrors() {
		return nil, ds
	}
	return f, ds
}

type parser struct{ syntax.BlockReader }

func (p *parser) file() *File {
	c := p.File(fileSchema)
	if c == nil {
		return nil
	}
	f := &File{Name: p.Name}
	beside := p.text(c.Attributes["pipeline"])
	var given []pipeline.File
	seen := map[string]bool{}
	for _, b := range c.Blocks {
		if b.Type == "variables" {
			given = append(given, p.Variables(b))
		}
	}
	for _, b := range c.Blocks {
		if b.Type != "run" {
			continue
		}
		r := p.run(b, given)
		r.Pipeline = cmp.Or(r.Pipeline, beside)
		if seen[r.Name] {
			p.Fail(b.DefRange, "Declared twice", fmt.Sprintf("There is another run %q before this one.", r.Name))
		}
		seen[r.Name] = true
		f.Runs = append(f.Runs, r)
	}
	return f
}

func (p *parser) run(b *hcl.Block, given []pipeline.File) *Run {
	r := &Run{Name: b.Labels[0], Line: b.DefRange.Start.Line, Command: Plan, file: p.Name, source: p.Source}
	r.Variables = append(r.Variables, given...)
	c := p.Content(b.Body, runSchema)
	if a := c.Attributes["command"]; a != nil {
		switch r.Command = hcl.ExprAsKeyword(a.Expr); r.Command {
		case Plan, Apply:
		default:
			p.Fail(a.Expr.Range(), "Wrong command", "command is plan or apply, without quotation marks.")
		}
	}
	r.Pipeline = p.text(c.Attributes["pipeline"])
	r.Targets, _ = p.Texts(c.Attributes["targets"], "targets is a list of texts.")
	for _, inner := range c.Blocks {
		if inner.Type == "variables" {
			r.Variables = append(r.Variables, p.Variables(inner))
			continue
		}
		attrs := p.Content(inner.Body, assertSchema).Attributes
		condition, message := attrs["condition"], attrs["error_message"]
		if condition != nil && message != nil {
			r.Asserts = append(r.Asserts, Assert{condition.Range.Start.Line, condition.Expr.(hclsyntax.Expression), message.Expr.(hclsyntax.Expression)})
		}
	}
	return r
}

func (p *parser) text(a *hcl.Attribute) string {
	if a == nil {
		return ""
	}
	v, ok := p.Value(a, cty.String, a.Name+" is a text.")
	if !ok {
		return ""
	}
	return v.AsString()
}
