package pipeline

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// declareOptions say with what a pipeline is declared.
type declareOptions struct {
	Registry *step.Registry
	Module   func(folder, source string) (map[string][]byte, error) // returns the files of a module; nil: there are none
	Lint     bool
}

// tree is a pipeline with the modules that it names, as far as they have been asked for.
type tree struct {
	root   *module
	opened map[[2]string]map[string][]byte // files of modules by the folder and source that name them
}

// loader declares a module. What it evaluates are constants.
type loader struct {
	*language.Session
	declareOptions
	*tree
	parsed map[string]*syntax.Body // by name; nil of a file that is not HCL
	*module
}

// declare finds what the pipeline files declare, and reports what is declared
// twice, in the wrong form, or unknown.
func declare(s *language.Session, files map[string][]byte, o declareOptions) *tree {
	if o.Registry == nil {
		o.Registry = step.NewRegistry()
	}
	t := &tree{newModule(files, nil), map[[2]string]map[string][]byte{}}
	(&loader{s, o, t, map[string]*syntax.Body{}, t.root}).declare()
	return t
}

// within declares a module within the one that is declared here.
func (l *loader) within(files map[string][]byte) *module {
	inner := *l
	inner.module = newModule(files, l.module)
	inner.declare()
	return inner.module
}

// declare declares nothing of a module that is broken.
func (l *loader) declare() {
	if l.parse(); l.broken() {
		return
	}
	for _, b := range l.bodies {
		for _, a := range syntax.Attributes(b.Body) {
			l.Diags.Error(a.NameRange, "Attribute outside a block",
				fmt.Sprintf("A value that is used in several places is written in a locals block: locals { %s = … }. A file for --var-file that stands beside pipelines.hcl does not end in .hcl.", a.Name))
		}
		for _, blk := range b.Blocks {
			l.declareOf(Of(blk.Type), blk)
		}
	}
}

// declareOf declares what a block of a type makes; nil: there is no such type.
func (l *loader) declareOf(t *Type, b *hclsyntax.Block) {
	switch {
	case t == nil:
		var names []string
		for _, t := range Types {
			names = append(names, t.Name)
		}
		l.Diags.Error(b.TypeRange, "Unknown block type",
			fmt.Sprintf("There is no block type %q. %s", b.Type, syntax.Suggest(b.Type, names, "block type")))
	case t.Makes == MakesWork:
		l.declareBlock(t, b)
	case t.Makes == MakesValue:
		l.declareLocals(b)
	case t.Makes == MakesVariable:
		l.declareVariable(b)
	case t.Makes == MakesOutput:
		l.declareOutput(b)
	case t.Makes == MakesCall:
		l.declareModule(b)
	case t.Makes == MakesNode:
		l.declareForm(t, b)
	case t.Once():
		l.declareOnce(t, b)
	}
}

// labels checks a block's labels, which must be names.
func (l *loader) labels(b *hclsyntax.Block, want ...string) bool {
	if len(b.Labels) != len(want) {
		form := b.Type
		for _, w := range want {
			form += fmt.Sprintf(" %q", w)
		}
		l.Diags.Error(syntax.Header(b), "Wrong labels", fmt.Sprintf("A %s block is written %s { … }.", b.Type, form))
		return false
	}
	for i, name := range b.Labels {
		if len(name) > maxName {
			l.Diags.Error(b.LabelRanges[i], "Not a name", fmt.Sprintf("The %s of this %s has %d bytes; at most %d are allowed.", strings.ToLower(want[i]), b.Type, len(name), maxName))
			return false
		}
		if !hclsyntax.ValidIdentifier(name) {
			l.Diags.Error(b.LabelRanges[i], "Not a name",
				fmt.Sprintf("%q cannot be the %s of a %s: a name is made of letters, digits, _ and -, and does not start with a digit.", name, strings.ToLower(want[i]), b.Type))
			return false
		}
	}
	return true
}

// add declares a node, unless there is one of its name, which is reported.
func (l *loader) add(n *node) bool {
	if old := l.byName[n.name]; old != nil {
		l.twice(n.name, n.rng, old.rng)
		return false
	}
	n.dir, n.index = syntax.Dir(n.rng.Filename), len(l.byName)
	l.byName[n.name] = n
	return true
}

// declareNamed declares the node of a block with a name; nil if something is wrong with that.
func (l *loader) declareNamed(b *hclsyntax.Block) *node {
	if !l.labels(b, "NAME") {
		return nil
	}
	n := &node{name: b.Type + "." + b.Labels[0], rng: syntax.Header(b)}
	if !l.add(n) {
		return nil
	}
	return n
}

// single notes a block without labels of which a pipeline has one; another one is reported.
func (l *loader) single(b *hclsyntax.Block) bool {
	if !l.labels(b) {
		return false
	}
	if first := l.singles[b.Type]; first != nil {
		l.twice(b.Type, syntax.Header(b), syntax.Header(first))
		return false
	}
	l.singles[b.Type] = b
	return true
}

// declareForm declares a block with a name and a form, which is evaluated once references have values:
// in a module not where it has no effect there.
func (l *loader) declareForm(t *Type, b *hclsyntax.Block) {
	n := l.declareNamed(b)
	if n == nil {
		return
	}
	l.shapeForm(b)
	if !l.idle(t, b) {
		n.form = b
		l.nodes = append(l.nodes, n)
	}
}

// idle reports whether a block has no effect where it stands, in a module, of which lint warns.
func (l *loader) idle(t *Type, b *hclsyntax.Block) bool {
	is := l.parent != nil && t.Idle[0] != ""
	if is && l.Lint {
		l.Diags.Warn(syntax.Header(b), t.Idle[0], t.Idle[1])
	}
	return is
}

// declareOnce declares a block of which there is one.
func (l *loader) declareOnce(t *Type, b *hclsyntax.Block) {
	switch {
	case !l.single(b) || l.idle(t, b) || l.ignores(t):
	case t.Form != nil:
		l.shapeForm(b)
	default:
		noBlocks(l.Diags, b, "A limits block has attributes only: NAME = how many steps of a run may have it at a time.")
	}
}

func (l *loader) declareLocals(b *hclsyntax.Block) {
	l.labels(b)
	for _, inner := range b.Body.Blocks {
		l.Diags.Error(inner.TypeRange, "Block in locals", "A locals block has attributes only: NAME = VALUE.")
	}
	for _, a := range syntax.Attributes(b.Body) {
		if n := (&node{name: "local." + a.Name, rng: a.NameRange, expr: a.Expr}); l.add(n) {
			l.nodes = append(l.nodes, n)
		}
	}
}

func (l *loader) twice(name string, rng, first hcl.Range) {
	l.Diags.Error(rng, "Declared twice", fmt.Sprintf("%s has been declared before. Give one of them another name.", name),
		syntax.Place{Range: first, Text: "declared here first"})
}

const maxName = 4096 // bytes of a label or a key of for_each: addresses stand in all that is said of a step
