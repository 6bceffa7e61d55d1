package declare

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

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
		d.Error(syntax.Header(b), "Wrong labels", fmt.Sprintf("A %s block is written %s { … }.", b.Type, form))
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

// idle reports whether a block has no effect where it stands, in a module, of which lint warns.
func (d *declarer) idle(t *Type, b *hclsyntax.Block) bool {
	is := d.m.parent != nil && t.idle[0] != ""
	if is && d.Lint {
		d.Diags.Warn(syntax.Header(b), t.idle[0], t.idle[1])
	}
	return is
}

func twice(d *syntax.Collector, name string, rng, first hcl.Range) {
	d.Error(rng, "Declared twice", fmt.Sprintf("%s has been declared before. Give one of them another name.", name),
		syntax.Place{Range: first, Text: "declared here first"})
}

// MaxName bounds the bytes of a label or a key of for_each: addresses stand in all that is said of a step.
const MaxName = 4096

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
