// Package testfile reads files of tests, *.test.hcl, and says which of their assertions hold. Names are as in Terraform's
// tests: a file has run blocks, each with a command, plan or apply, variables and assert blocks. It must not know how a
// pipeline is planned or run: its caller does that and gives a World of what came of it.
package testfile

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

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

const (
	Plan  = "plan"  // the default: nothing is run
	Apply = "apply" // what the targets need is run
)

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
	given := lists.Map(c.Blocks.OfType("variables"), p.Variables)
	seen := map[string]bool{}
	for _, b := range c.Blocks.OfType("run") {
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
	r := &Run{Name: b.Labels[0], Line: b.DefRange.Start.Line, Command: Plan, Variables: slices.Clone(given), file: p.Name, source: p.Source}
	c := p.Content(b.Body, runSchema)
	if a := c.Attributes["command"]; a != nil {
		if r.Command = hcl.ExprAsKeyword(a.Expr); r.Command != Plan && r.Command != Apply {
			p.Fail(a.Expr.Range(), "Wrong command", "command is plan or apply, without quotation marks.")
		}
	}
	r.Pipeline = p.text(c.Attributes["pipeline"])
	r.Targets, _ = p.Texts(c.Attributes["targets"], "targets is a list of texts.")
	r.Variables = append(r.Variables, lists.Map(c.Blocks.OfType("variables"), p.Variables)...)
	for _, inner := range c.Blocks.OfType("assert") {
		attrs := p.Content(inner.Body, assertSchema).Attributes
		condition, message := attrs["condition"], attrs["error_message"]
		if condition != nil && message != nil {
			r.Asserts = append(r.Asserts, Assert{condition.Range.Start.Line, condition.Expr.(hclsyntax.Expression), message.Expr.(hclsyntax.Expression)})
		}
	}
	return r
}

func (p *parser) text(a *hcl.Attribute) string {
	if a != nil {
		if v, ok := p.Value(a, cty.String, a.Name+" is a text."); ok {
			return v.AsString()
		}
	}
	return ""
}

// Step is what assertions can say of a step, table or figure.
type Step struct {
	Address string
	Block   string // step, table or figure
	Kind    string
	Name    string
	Key     string // of for_each
	Outcome string // HIT, RUN or MAYBE, before the run
	Config  map[string]any
}

type World struct {
	Scope *pipeline.Scope
	Steps []Step // of the plan

	// Rows and Outputs read what a table or step left, as JSON: cells by row and column, outputs by name. Nil after a plan.
	Rows    func(address string) (map[string]any, error)
	Outputs func(address string) (map[string]any, error)
}

type Failure struct {
	File      string  `json:"file"`
	Line      int     `json:"line"`
	Message   string  `json:"message"`
	Condition string  `json:"condition"`
	Values    []Value `json:"values,omitempty"` // of what the condition compares
}

// Value is a part of a condition and its value, as HCL.
type Value struct {
	Expression string `json:"expression"`
	Value      string `json:"value"`
}

// Check evaluates the assertions of a run. An assertion that cannot be evaluated is an error.
func (r *Run) Check(w World) (failures []Failure, err error) {
	for _, a := range r.Asserts {
		f, err := r.check(w, a)
		if err != nil {
			return failures, err
		}
		if f != nil {
			failures = append(failures, *f)
		}
	}
	return failures, nil
}

func (r *Run) check(w World, a Assert) (*Failure, error) {
	with, err := w.values(a)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", r.file, a.Line, err)
	}
	value := func(e hclsyntax.Expression) (cty.Value, error) {
		v, ds := w.Scope.Value(pipeline.Expression{Source: r.source, Range: e.Range(), With: with})
		if ds.HasErrors() {
			var text strings.Builder
			ds.Write(&text, pipeline.Style{}) // a strings.Builder does not fail
			return v, errors.New(strings.TrimSpace(text.String()))
		}
		return v, nil
	}
	v, err := value(a.condition)
	if err != nil {
		return nil, err
	}
	ok, err := convert.Convert(v, cty.Bool)
	if err != nil || ok.IsMarked() || !ok.IsKnown() || ok.IsNull() {
		return nil, fmt.Errorf("%s:%d: a condition is true or false, not %s", r.file, a.Line, language.Text(v, nil))
	}
	if ok.True() {
		return nil, nil
	}
	f := &Failure{File: r.file, Line: a.Line, Condition: string(a.condition.Range().SliceBytes(r.source))}
	m, err := value(a.message)
	if err != nil {
		return nil, err
	}
	if f.Message = language.Text(m, nil); !m.IsMarked() && m.Type() == cty.String && m.IsKnown() && !m.IsNull() {
		f.Message = m.AsString()
	}
	for _, e := range compared(a.condition) {
		if v, err := value(e); err == nil {
			f.Values = append(f.Values, Value{string(e.Range().SliceBytes(r.source)), shown(v)})
		}
	}
	return f, nil
}

// shown is a value as HCL, of a long one the beginning.
func shown(v cty.Value) string {
	const most = 500
	text := language.Text(v, nil)
	if runes := []rune(text); len(runes) > most {
		return fmt.Sprintf("%s… (%d characters)", string(runes[:most]), len(runes))
	}
	return text
}

// compared are the parts of a condition that say why it is false: what operators compare and functions are asked about.
func compared(e hclsyntax.Expression) (list []hclsyntax.Expression) {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return compared(e.Expression)
	case *hclsyntax.UnaryOpExpr:
		return compared(e.Val)
	case *hclsyntax.BinaryOpExpr:
		if e.Op == hclsyntax.OpLogicalAnd || e.Op == hclsyntax.OpLogicalOr {
			return append(compared(e.LHS), compared(e.RHS)...)
		}
		return []hclsyntax.Expression{e.LHS, e.RHS}
	case *hclsyntax.FunctionCallExpr:
		return e.Args
	}
	return []hclsyntax.Expression{e}
}

// values are what an assertion refers to: step, table and figure by name, and plan. Only results that it names are read.
func (w World) values(a Assert) (map[string]cty.Value, error) {
	named := map[string]bool{}
	for _, tr := range append(a.condition.Variables(), a.message.Variables()...) {
		name := ""
		for _, part := range tr {
			switch p := part.(type) {
			case hcl.TraverseRoot:
				name = p.Name
			case hcl.TraverseAttr:
				name += "." + p.Name
			}
			named[name] = true
		}
	}
	all := map[string]any{}
	addresses, kinds := []any{}, map[string]any{}
	plan := map[string]any{"kinds": kinds, "hit": int64(0), "run": int64(0), "maybe": int64(0)}
	for _, s := range w.Steps {
		addresses = append(addresses, s.Address)
		n, _ := kinds[s.Kind].(int64)
		kinds[s.Kind] = n + 1
		if n, ok := plan[strings.ToLower(s.Outcome)].(int64); ok {
			plan[strings.ToLower(s.Outcome)] = n + 1
		}
		a := address.Of(s.Address)
		if a.Modules != "" {
			continue
		}
		group := within(all, s.Block)
		if s.Block == "step" {
			group = within(group, s.Kind)
		}
		x := map[string]any{"address": s.Address, "kind": s.Kind, "outcome": s.Outcome, "config": s.Config}
		read, as := w.Outputs, "outputs"
		if s.Block == "table" {
			read, as = w.Rows, "rows"
		}
		if read != nil && s.Block != "figure" && named[a.Name] {
			got, err := read(s.Address)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Address, err)
			}
			x[as] = got
		}
		if a.Key != "" {
			within(group, s.Name)[s.Key] = x
		} else {
			group[s.Name] = x
		}
	}
	plan["steps"] = addresses
	values := map[string]cty.Value{"plan": language.FromTree(plan)}
	for _, t := range declare.Types {
		if t.Outputs() {
			values[t.Name] = language.FromTree(within(all, t.Name))
		}
	}
	return values, nil
}

// within is the object of a name in another one.
func within(m map[string]any, name string) map[string]any {
	inner, ok := m[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[name] = inner
	}
	return inner
}
