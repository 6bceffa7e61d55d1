// Package declare says what blocks there are (Types, one table) and turns bodies into typed declarations: nodes with names,
// variables, calls of modules, which are trees of declarations. It evaluates only constants, and imports syntax, language and
// schema. To add a type of block, begin at types.go.
package declare

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Declare finds what the pipeline files declare, and reports what stands there twice, in the wrong form, or unknown.
func Declare(s *language.Session, files map[string][]byte, o Options) *Tree {
	if o.Registry == nil {
		o.Registry = step.NewRegistry()
	}
	t := &Tree{newModule(files, nil), map[[2]string]map[string][]byte{}}
	(&declarer{s, o, t, map[string]*syntax.Body{}, t.Root}).declare()
	return t
}

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

func (d *declarer) declareOf(t *Type, b *hclsyntax.Block) {
	switch {
	case t == nil:
		names := lists.Map(Types, func(t Type) string { return t.Name })
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

// declareForm declares a block with a name and a form, evaluated once references have values, unless it is idle here.
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
	noBlocks(d.Diags, b, "A locals block has attributes only: NAME = VALUE.")
	for _, a := range syntax.Attributes(b.Body) {
		if n := (&Node{Name: "local." + a.Name, Range: a.NameRange, Expr: a.Expr}); d.add(n) {
			d.m.Nodes = append(d.m.Nodes, n)
		}
	}
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

// labels checks a block's labels: names, of a claim words for people.
func labels(d *syntax.Collector, b *hclsyntax.Block) bool {
	var want []string
	if t := Of(b.Type); t != nil {
		want = t.Labels
	}
	if len(b.Labels) != len(want) {
		form := b.Type
		for _, w := range want {
			form += fmt.Sprintf(" %q", w)
		}
		d.Error(b.DefRange(), "Wrong labels", fmt.Sprintf("A %s block is written %s { … }.", b.Type, form))
		return false
	}
	for i, name := range b.Labels {
		what, wrong := strings.ToLower(want[i]), ""
		switch {
		case b.Type == "claim" && (strings.TrimSpace(name) == "" || len(name) > MaxName || strings.ContainsFunc(name, unicode.IsControl)):
			wrong = fmt.Sprintf("A claim's name is a few words on one line, at most %d bytes.", MaxName)
		case b.Type == "claim":
		case len(name) > MaxName:
			wrong = fmt.Sprintf("The %s of this %s has %d bytes; at most %d are allowed.", what, b.Type, len(name), MaxName)
		case !hclsyntax.ValidIdentifier(name):
			wrong = fmt.Sprintf("%q cannot be the %s of a %s: a name is made of letters, digits, _ and -, and does not start with a digit.", name, what, b.Type)
		}
		if wrong != "" {
			d.Error(b.LabelRanges[i], "Not a name", wrong)
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
	if !labels(d.Diags, b) {
		return nil
	}
	n := &Node{Name: b.Type + "." + b.Labels[0], Range: b.DefRange()}
	if !d.add(n) {
		return nil
	}
	return n
}

// single notes a block that a pipeline has once; a second one is reported.
func (d *declarer) single(b *hclsyntax.Block) bool {
	if !labels(d.Diags, b) {
		return false
	}
	if first := d.m.Once[b.Type]; first != nil {
		d.Diags.Error(b.DefRange(), "Declared twice", fmt.Sprintf("A pipeline has one %s block. Put what stands here into the first one.", b.Type),
			syntax.Place{Range: first.DefRange(), Text: "declared here first"})
		return false
	}
	d.m.Once[b.Type] = b
	return true
}

// idle reports whether a block has no effect since it stands in a module; lint warns of that.
func (d *declarer) idle(t *Type, b *hclsyntax.Block) bool {
	is := d.m.parent != nil && t.idle[0] != ""
	if is && d.Lint {
		d.Diags.Warn(b.DefRange(), t.idle[0], t.idle[1])
	}
	return is
}

func twice(d *syntax.Collector, name string, rng, first hcl.Range) {
	d.Error(rng, "Declared twice", fmt.Sprintf("%s has been declared before, at %s. Give one of them another name, or take one out.", name, syntax.PosOf(first)),
		syntax.Place{Range: first, Text: "declared here first"})
}

// MaxName bounds the bytes of a label or a key of for_each: addresses stand in all that is said of a step.
const MaxName = 4096

// constContext is what expressions of a file that refer to nothing are evaluated in.
func (d *declarer) constContext(file string) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: d.Session.Functions(syntax.Dir(file), d.m.AnySensitive)}
}

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

// description checks a text that only people read.
func (d *declarer) description(b *hclsyntax.Block) {
	d.constantOf(b.Body.Attributes["description"], d.constContext(b.TypeRange.Filename), cty.String, "A description", "A description is a string.")
}

func noBlocks(d *syntax.Collector, b *hclsyntax.Block, only string) {
	for _, inner := range b.Body.Blocks {
		d.Error(inner.TypeRange, "Unknown block", only)
	}
}

// constant reports whether an expression refers to nothing.
func constant(d *syntax.Collector, e hclsyntax.Expression, what string) bool {
	return syntax.RefersOnly(d, e, "", "Not a constant", what+" cannot refer to other values.")
}

const maxModuleDepth = 20

func (d *declarer) declareModule(b *hclsyntax.Block) {
	n := d.declareNamed(b)
	if n == nil {
		return
	}
	m := &Call{Block: b}
	n.Call = m
	d.m.Nodes = append(d.m.Nodes, n)
	noBlocks(d.Diags, b, "A module has attributes only: source, for_each, when, otherwise, and its variables.")
	for _, a := range syntax.Attributes(b.Body) {
		switch a.Name {
		case sourceAttr:
			if files := d.openModule(n, a); files != nil {
				m.Module = sync.OnceValue(func() *Module {
					inner := *d
					inner.m = newModule(files, d.m)
					inner.declare()
					return inner.m
				})
			}
		case forEachAttr:
			m.ForEach = a.Expr
		case whenAttr:
			m.When = a.Expr
		case otherwiseAttr:
			m.Otherwise = a.Expr
		default:
			m.Arguments = append(m.Arguments, a)
		}
	}
	if m.Otherwise != nil && m.When == nil {
		d.Diags.Error(b.Body.Attributes[otherwiseAttr].NameRange, "Not an attribute", "otherwise says why a module whose when is false is left out: it stands beside a when.")
	}
	if b.Body.Attributes[sourceAttr] == nil {
		d.Diags.Error(n.Range, "Missing attribute", `A module needs source = "…": a folder or .hcl file by a path that starts with ./ or ../, or git::URL?ref=REF.`)
	}
}

// openModule returns the files of a module; nil if they cannot be had.
func (d *declarer) openModule(n *Node, a *hclsyntax.Attribute) map[string][]byte {
	v, ok := d.constantOf(a, nil, cty.String, "The source of a module", "The source of a module is a string.")
	if !ok {
		return nil
	}
	rng := a.Expr.Range()
	if d.Module == nil {
		d.Diags.Error(rng, "No modules", "Modules cannot be used here.")
		return nil
	}
	id := [2]string{n.Dir, v.AsString()}
	files, ok := d.Opened[id]
	if !ok {
		var err error
		if files, err = d.Module(id[0], id[1]); err != nil {
			d.Diags.Error(rng, "Module not available", strings.TrimRight(err.Error(), ".")+".")
			return nil
		}
		d.Opened[id] = files
	}
	depth := 0
	for outer := d.m; outer != nil; outer, depth = outer.parent, depth+1 {
		for name := range files {
			if _, twice := outer.Files[name]; twice {
				d.Diags.Error(rng, "Modules in a circle", fmt.Sprintf("%s contains this module. A pipeline cannot have itself as a module.", name))
				return nil
			}
		}
	}
	if depth > maxModuleDepth {
		d.Diags.Error(rng, "Modules too deep", fmt.Sprintf("Modules are nested more than %d deep here.", maxModuleDepth))
		return nil
	}
	return files
}

func (d *declarer) declareOutput(b *hclsyntax.Block) {
	n := d.declareNamed(b)
	if n == nil {
		return
	}
	d.shapeForm(b)
	d.description(b)
	a := b.Body.Attributes["value"]
	if a == nil {
		d.Diags.Error(n.Range, "Missing attribute", "An output needs value = …, which pipelines that use this one as a module refer to.")
		return
	}
	n.Expr = a.Expr
	d.m.Nodes = append(d.m.Nodes, n)
}

// LocalModule reads a module whose source is a path: that file, or all *.hcl of that folder. It is an Options.Module.
func LocalModule(folder, source string) (map[string][]byte, error) {
	if !IsLocalModule(source) {
		return nil, fmt.Errorf("%q is not a source of a module: write a path that starts with ./ or ../, or git::URL?ref=REF", source)
	}
	return syntax.Read(syntax.Beside(folder, source))
}

// IsLocalModule reports whether a module's source is a path.
func IsLocalModule(source string) bool {
	return slices.Contains([]string{".", ".."}, source) || slices.ContainsFunc([]string{"./", "../", "/"}, func(p string) bool { return strings.HasPrefix(source, p) })
}
