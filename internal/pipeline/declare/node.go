package declare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// Module is what the files of a pipeline declare, or of a module within it.
type Module struct {
	Files     map[string][]byte
	Bodies    []*syntax.Body
	parent    *Module // nil of the pipeline itself
	Variables map[string]*Variable
	Once      map[string]*hclsyntax.Block // by the type of which there is one
	Nodes     []*Node                     // locals, outputs, modules and blocks in source order
	ByName    map[string]*Node            // step.train.dsi, module.first, local.sizes
	Typos     schema.Typos
}

func newModule(files map[string][]byte, parent *Module) *Module {
	return &Module{Files: files, parent: parent, Variables: map[string]*Variable{}, Once: map[string]*hclsyntax.Block{}, ByName: map[string]*Node{}, Typos: schema.Typos{}}
}

// Broken reports whether some file is not HCL, so that its declarations are missing.
func (m *Module) Broken() bool {
	return len(m.Bodies) == 0 || len(m.Bodies) < len(syntax.Pipelines(m.Files))
}

// Ignores reports whether a block of a type says nothing in this module: it is about the pipeline that is run.
func (m *Module) Ignores(t *Type) bool { return m.parent != nil && t.rootOnly }

// AnySensitive reports whether a variable declared so far is sensitive.
func (m *Module) AnySensitive() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(m.Variables)), func(v *Variable) bool { return v.Sensitive })
}

// Node is something that is evaluated: one local value or output, or a block.
type Node struct {
	Name  string // local.sizes, step.train.dsi, table.dedup_counts, module.first, output.texts
	Dir   string // the folder of its source, for file()
	Index int    // among the nodes of its module that have a name
	Range hcl.Range

	Expr  hclsyntax.Expression // of a local or output
	Block *Block               // of a source, step, table, figure or claim
	Call  *Call
	Form  *hclsyntax.Block // an environment or publish block
}

// ForEach is the for_each of a block or a call of a module; nil if it has none.
func (n *Node) ForEach() hclsyntax.Expression {
	switch {
	case n.Call != nil:
		return n.Call.ForEach
	case n.Block != nil:
		return n.Block.ForEach
	}
	return nil
}

// Block is a source, step, table, figure or claim.
type Block struct {
	*hclsyntax.Block
	Kind, Name string
	Owner      string     // in sentences about its attributes
	Spec       *step.Spec // nil if there is no such kind; reported
	ForEach    hclsyntax.Expression
	Flags
	Resources *hclsyntax.Block
	Retry     *hclsyntax.Block
	Checks    []*hclsyntax.Block
	Places    map[string]syntax.Pos // of its attributes and inner blocks, by name
}

// Flags are what a block says beside its kind's attributes: whether and why it runs, and whether its outputs stay.
type Flags struct {
	When, Otherwise, Keep, Fresh hclsyntax.Expression
	AllowEmpty                   bool
	AtLeast                      float64 // how many of its steps a reader needs, a share if below 1; 0: all
}

func placesIn(body *hclsyntax.Body) map[string]syntax.Pos {
	at, expects := map[string]syntax.Pos{}, 0
	for name, a := range body.Attributes {
		at[name] = syntax.PosOf(a.NameRange)
	}
	for _, inner := range body.Blocks {
		pos := syntax.PosOf(inner.TypeRange)
		if _, ok := at[inner.Type]; !ok {
			at[inner.Type] = pos
		}
		if inner.Type == ExpectBlock {
			at[fmt.Sprintf("%s[%d]", ExpectBlock, expects)] = pos
			expects++
		}
	}
	return at
}

type Variable struct {
	Name      string
	Range     hcl.Range
	Type      cty.Type  // DynamicPseudoType if any value will do
	Fallback  cty.Value // its default; DynamicVal without one, or if it is wrong
	Optional  bool      // has a default
	Sensitive bool      // its value is nowhere but where it is used
	Ask       string    // how a person is asked for it; "": not
	Checks    []check
}

type check struct{ Condition, Message hclsyntax.Expression }

// Call is a module block: another pipeline with values for its variables, a scope of its own, and outputs for others.
type Call struct {
	*hclsyntax.Block
	Module          func() *Module // declares it when first asked; nil if its files cannot be had, which is reported
	ForEach         hclsyntax.Expression
	When, Otherwise hclsyntax.Expression // see Flags
	Arguments       []*hclsyntax.Attribute
}

func (d *declarer) declareVariable(b *hclsyntax.Block) {
	if !labels(d.Diags, b) {
		return
	}
	v := &Variable{Name: b.Labels[0], Range: b.DefRange(), Type: cty.NilType, Fallback: cty.DynamicVal}
	if old := d.m.Variables[v.Name]; old != nil {
		twice(d.Diags, "var."+v.Name, v.Range, old.Range)
		return
	}
	d.m.Variables[v.Name] = v
	d.shapeForm(b)
	attrs, ctx := b.Body.Attributes, d.constContext(b.TypeRange.Filename)
	if a := attrs["type"]; a != nil {
		t, ds := typeexpr.TypeConstraint(a.Expr)
		d.Diags.HCL(ds, a.Expr.Range())
		if v.Type = t; ds.HasErrors() {
			v.Type = cty.DynamicPseudoType
		}
	}
	if a := attrs["default"]; a != nil {
		v.Optional = true
		if constant(d.Diags, a.Expr, "The default of a variable") {
			v.Fallback = language.Scope{Session: d.Session, Context: ctx}.Value(a.Expr)
		}
	}
	d.description(b)
	if text, ok := d.constantOf(attrs["ask"], ctx, cty.String, "What a variable asks", "ask is a string: the question."); ok {
		v.Ask = text.AsString()
	}
	if s, ok := d.constantOf(attrs["sensitive"], nil, cty.Bool, "Whether a variable is sensitive", "sensitive is true or false."); ok {
		v.Sensitive = s.True()
	}
	for _, inner := range syntax.Blocks(b.Body, "validation") {
		condition, message := inner.Body.Attributes["condition"], inner.Body.Attributes["error_message"]
		if condition == nil || message == nil {
			d.Diags.Error(inner.DefRange(), "Missing attribute", "A validation needs condition = … and error_message = ….")
			continue
		}
		v.Checks = append(v.Checks, check{condition.Expr, message.Expr})
	}
	v.settle(d.Diags, b)
	if v.Sensitive && v.Ask != "" {
		d.Diags.Error(v.Range, "Value not allowed", "A sensitive variable cannot ask: answers are kept in a file.")
	}
	if v.Sensitive && v.Optional && !(v.Fallback.IsKnown() && v.Fallback.IsNull()) {
		d.Diags.Error(attrs["default"].NameRange, "Default of a sensitive variable",
			fmt.Sprintf("Every reader of the pipeline could see the default of var.%s. Leave it out, or write default = null.", v.Name))
	}
	if v.Sensitive && !v.Type.IsPrimitiveType() && v.Type != cty.DynamicPseudoType {
		d.Diags.Error(v.Range, "Type of a sensitive variable", fmt.Sprintf("var.%s is sensitive, so it must be a string, number or bool.", v.Name))
	}
}

// settle decides a variable's type, its default's if that is a string, number or bool, else string, and converts its default to it.
func (v *Variable) settle(d *syntax.Collector, b *hclsyntax.Block) {
	valid := v.Optional && v.Fallback.IsKnown()
	switch {
	case v.Type != cty.NilType: // it is written
	case !v.Optional:
		v.Type = cty.String
	case valid && !v.Fallback.IsNull() && v.Fallback.Type().IsPrimitiveType():
		v.Type = v.Fallback.Type()
	default:
		v.Type = cty.DynamicPseudoType
	}
	if valid {
		var err error
		if v.Fallback, err = convert.Convert(v.Fallback, v.Type); err != nil {
			d.Error(b.Body.Attributes["default"].Expr.Range(), "Wrong type",
				fmt.Sprintf("The default of var.%s is not of its type, %s: %s.", v.Name, typeexpr.TypeString(v.Type), err))
			v.Fallback = cty.DynamicVal
		}
	}
}
