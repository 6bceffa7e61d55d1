package declare

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// MaxName bounds the bytes of a label or a key of for_each: addresses stand in all that is said of a step.
const MaxName = 4096

// Options say with what a pipeline is declared.
type Options struct {
	Registry *step.Registry
	Module   func(folder, source string) (map[string][]byte, error) // returns the files of a module; nil: there are none
	Lint     bool
}

// Tree is a pipeline with the modules that it names, as far as they have been asked for.
type Tree struct {
	Root   *Module
	Opened map[[2]string]map[string][]byte // files of modules by the folder and source that name them
}

// declarer declares a module. What it evaluates are constants.
type declarer struct {
	*language.Session
	Options
	*Tree
	parsed map[string]*syntax.Body // by name; nil of a file that is not HCL
	m      *Module
}

// Declare finds what the pipeline files declare, and reports what is declared
// twice, in the wrong form, or unknown.
func Declare(s *language.Session, files map[string][]byte, o Options) *Tree {
	if o.Registry == nil {
		o.Registry = step.NewRegistry()
	}
	t := &Tree{newModule(files, nil), map[[2]string]map[string][]byte{}}
	(&declarer{s, o, t, map[string]*syntax.Body{}, t.Root}).declare()
	return t
}

// within declares a module within the one that is declared here.
func (d *declarer) within(files map[string][]byte) *Module {
	inner := *d
	inner.m = newModule(files, d.m)
	inner.declare()
	return inner.m
}

// declare declares nothing of a module that is broken.
func (d *declarer) declare() {
	if d.parse(); d.m.Broken() {
		return
	}
	for _, b := range d.m.Bodies {
		for _, a := range syntax.Attributes(b.Body) {
			d.Diags.Error(a.NameRange, "Attribute outside a block",
				fmt.Sprintf("A value that is used in several places is written in a locals block: locals { %s = … }. A file for --var-file that stands beside pipelines.hcl does not end in .hcl.", a.Name))
		}
		for _, blk := range b.Blocks {
			d.declareOf(Of(blk.Type), blk)
		}
	}
}

// declareOf declares what a block of a type makes; nil: there is no such type.
func (d *declarer) declareOf(t *Type, b *hclsyntax.Block) {
	switch {
	case t == nil:
		var names []string
		for _, t := range Types {
			names = append(names, t.Name)
		}
		d.Diags.Error(b.TypeRange, "Unknown block type",
			fmt.Sprintf("There is no block type %q. %s", b.Type, syntax.Suggest(b.Type, names, "block type")))
	case t.Makes == MakesWork:
		d.declareBlock(t, b)
	case t.Makes == MakesValue:
		d.declareLocals(b)
	case t.Makes == MakesVariable:
		d.declareVariable(b)
	case t.Makes == MakesOutput:
		d.declareOutput(b)
	case t.Makes == MakesCall:
		d.declareModule(b)
	case t.Makes == MakesNode:
		d.declareForm(t, b)
	case t.Makes == MakesOnce:
		d.declareOnce(t, b)
	}
}

// labels checks a block's labels, which must be names.
func labels(d *syntax.Collector, b *hclsyntax.Block, want ...string) bool {
	if len(b.Labels) != len(want) {
		form := b.Type
		for _, w := range want {
			form += fmt.Sprintf(" %q", w)
		}
		d.Error(syntax.Header(b), "Wrong labels", fmt.Sprintf("A %s block is written %s { … }.", b.Type, form))
		return false
	}
	for i, name := range b.Labels {
		if len(name) > MaxName {
			d.Error(b.LabelRanges[i], "Not a name", fmt.Sprintf("The %s of this %s has %d bytes; at most %d are allowed.", strings.ToLower(want[i]), b.Type, len(name), MaxName))
			return false
		}
		if !hclsyntax.ValidIdentifier(name) {
			d.Error(b.LabelRanges[i], "Not a name",
				fmt.Sprintf("%q cannot be the %s of a %s: a name is made of letters, digits, _ and -, and does not start with a digit.", name, strings.ToLower(want[i]), b.Type))
			return false
		}
	}
	return true
}

// add declares a node, unless there is one of its name, which is reported.
func (d *declarer) add(n *Node) bool {
	if old := d.m.ByName[n.Name]; old != nil {
		twice(d.Diags, n.Name, n.Range, old.Range)
		return false
	}
	n.Dir, n.Index = syntax.Dir(n.Range.Filename), len(d.m.ByName)
	d.m.ByName[n.Name] = n
	return true
}

// declareNamed declares the node of a block with a name; nil if something is wrong with that.
func (d *declarer) declareNamed(b *hclsyntax.Block) *Node {
	if !labels(d.Diags, b, "NAME") {
		return nil
	}
	n := &Node{Name: b.Type + "." + b.Labels[0], Range: syntax.Header(b)}
	if !d.add(n) {
		return nil
	}
	return n
}

// single notes a block without labels of which a pipeline has one; another one is reported.
func (d *declarer) single(b *hclsyntax.Block) bool {
	if !labels(d.Diags, b) {
		return false
	}
	if first := d.m.Once[b.Type]; first != nil {
		twice(d.Diags, b.Type, syntax.Header(b), syntax.Header(first))
		return false
	}
	d.m.Once[b.Type] = b
	return true
}

// declareForm declares a block with a name and a form, which is evaluated once references have values:
// in a module not where it has no effect there.
func (d *declarer) declareForm(t *Type, b *hclsyntax.Block) {
	n := d.declareNamed(b)
	if n == nil {
		return
	}
	d.shapeForm(b)
	if !d.idle(t, b) {
		n.Form = b
		d.m.Nodes = append(d.m.Nodes, n)
	}
}

// idle reports whether a block has no effect where it stands, in a module, of which lint warns.
func (d *declarer) idle(t *Type, b *hclsyntax.Block) bool {
	is := d.m.parent != nil && t.Idle[0] != ""
	if is && d.Lint {
		d.Diags.Warn(syntax.Header(b), t.Idle[0], t.Idle[1])
	}
	return is
}

// declareOnce declares a block of which there is one.
func (d *declarer) declareOnce(t *Type, b *hclsyntax.Block) {
	switch {
	case !d.single(b) || d.idle(t, b) || d.m.Ignores(t):
	case t.Form != nil:
		d.shapeForm(b)
	default:
		noBlocks(d.Diags, b, "A limits block has attributes only: NAME = how many steps of a run may have it at a time.")
	}
}

func (d *declarer) declareLocals(b *hclsyntax.Block) {
	labels(d.Diags, b)
	for _, inner := range b.Body.Blocks {
		d.Diags.Error(inner.TypeRange, "Block in locals", "A locals block has attributes only: NAME = VALUE.")
	}
	for _, a := range syntax.Attributes(b.Body) {
		if n := (&Node{Name: "local." + a.Name, Range: a.NameRange, Expr: a.Expr}); d.add(n) {
			d.m.Nodes = append(d.m.Nodes, n)
		}
	}
}

func twice(d *syntax.Collector, name string, rng, first hcl.Range) {
	d.Error(rng, "Declared twice", fmt.Sprintf("%s has been declared before. Give one of them another name.", name),
		syntax.Place{Range: first, Text: "declared here first"})
}

// parse reads the files; what is not HCL is reported and left out.
func (d *declarer) parse() {
	names := syntax.Pipelines(d.m.Files)
	if len(names) == 0 {
		d.Diags.Error(hcl.Range{Filename: syntax.DefaultFile, Start: hcl.InitialPos, End: hcl.InitialPos},
			"No pipeline", "There is no file whose name ends in .hcl.")
	}
	for _, name := range names {
		b, ok := d.parsed[name]
		if !ok {
			if b = syntax.ParseFile(name, d.m.Files[name], d.Diags); b != nil {
				d.Rewrite(b.Body)
			}
			d.parsed[name] = b
		}
		if b != nil {
			d.m.Bodies = append(d.m.Bodies, b)
		}
	}
}

// constContext is what expressions of a file are evaluated in that refer to nothing.
func (d *declarer) constContext(file string) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: d.Session.Functions(syntax.Dir(file), d.m.AnySensitive)}
}

// shapeForm checks the names in a block that has a form.
func (d *declarer) shapeForm(b *hclsyntax.Block) {
	schema.Shape(d.Diags, b, FormOf(b).Attrs, nil, OwnerOf(b), d.m.Typos)
}

// constantOf is the value of an attribute, which may be missing, whose expression refers to nothing.
func (d *declarer) constantOf(a *hclsyntax.Attribute, ctx *hcl.EvalContext, want cty.Type, what, wrong string) (v cty.Value, ok bool) {
	if a == nil || !constant(d.Diags, a.Expr, what) {
		return v, false
	}
	return language.Scope{Session: d.Session, Context: ctx}.Typed(a.Expr, want, wrong)
}

// description checks a text that is for people alone.
func (d *declarer) description(b *hclsyntax.Block) {
	d.constantOf(b.Body.Attributes["description"], d.constContext(b.TypeRange.Filename), cty.String, "A description", "A description is a string.")
}

// noBlocks reports the blocks of one that has none.
func noBlocks(d *syntax.Collector, b *hclsyntax.Block, only string) {
	for _, inner := range b.Body.Blocks {
		d.Error(inner.TypeRange, "Unknown block", only)
	}
}

// constant reports whether an expression refers to nothing.
func constant(d *syntax.Collector, e hclsyntax.Expression, what string) bool {
	return syntax.RefersOnly(d, e, "", "Not a constant", what+" cannot refer to other values.")
}
