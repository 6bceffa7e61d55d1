package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// The kinds that blocks other than steps stand for.
const (
	SourceKind = "source"
	TableKind  = "render_table"
	FigureKind = "render_figure"
	ClaimKind  = "claim"
)

// BlockKinds are those kinds, by the block's type.
var BlockKinds = map[string]string{"source": SourceKind, "table": TableKind, "figure": FigureKind, "claim": ClaimKind}

// declare finds what the pipeline files declare and reports what is declared
// twice, in the wrong form, or unknown.
func (l *loader) declare() {
	declares := map[string]func(*hclsyntax.Block){
		"source": l.declareBlock, "step": l.declareBlock, "table": l.declareBlock, "figure": l.declareBlock, "claim": l.declareBlock,
		"variable": l.declareVariable, "locals": l.declareLocals, "output": l.declareOutput, "module": l.declareModule,
		"environment": l.declareForm, "publish": l.declarePublish, "checklist": l.declareChecklist, limitsBlock: l.declareLimits,
		"paper": func(b *hclsyntax.Block) { l.single(b) }, "results": func(b *hclsyntax.Block) { l.single(b) },
	}
	for _, b := range l.bodies {
		for _, a := range syntax.Attributes(b.Body) {
			l.Diags.Error(a.NameRange, "Attribute outside a block",
				fmt.Sprintf("A value that is used in several places is written in a locals block: locals { %s = … }. A file for --var-file that stands beside pipelines.hcl does not end in .hcl.", a.Name))
		}
		for _, blk := range b.Blocks {
			if declare := declares[blk.Type]; declare != nil {
				declare(blk)
				continue
			}
			var names []string
			for _, t := range Types {
				names = append(names, t.Name)
			}
			l.Diags.Error(blk.TypeRange, "Unknown block type",
				fmt.Sprintf("There is no block type %q. %s", blk.Type, syntax.Suggest(blk.Type, names, "block type")))
		}
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
	n.dir, n.value = syntax.Dir(n.rng.Filename), cty.DynamicVal
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

// declareForm declares a block with a name and a form, which is evaluated once references have values.
func (l *loader) declareForm(b *hclsyntax.Block) {
	if n := l.declareNamed(b); n != nil {
		n.form = b
		l.nodes = append(l.nodes, n)
		l.shapeForm(b)
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

func (l *loader) declareBlock(hb *hclsyntax.Block) {
	var ok bool
	switch hb.Type {
	case "step":
		ok = l.labels(hb, "KIND", "NAME")
	case "claim":
		ok = l.claimName(hb)
	default:
		ok = l.labels(hb, "NAME")
	}
	if !ok {
		return
	}
	b, kindRange := &block{Block: hb, typ: hb.Type, kind: BlockKinds[hb.Type], name: hb.Labels[len(hb.Labels)-1]}, hb.TypeRange
	if b.typ == "step" {
		b.kind, kindRange = hb.Labels[0], hb.LabelRanges[0]
	}
	n := &node{name: b.address(), rng: syntax.Header(hb), block: b}
	if !l.add(n) {
		return
	}
	l.nodes = append(l.nodes, n)
	l.blocks = append(l.blocks, n)
	b.spec = l.kind(b, kindRange)
	l.shape(b)
}

func (l *loader) twice(name string, rng, first hcl.Range) {
	l.Diags.Error(rng, "Declared twice", fmt.Sprintf("%s has been declared before. Give one of them another name.", name),
		syntax.Place{Range: first, Text: "declared here first"})
}

// kind looks up a block's kind and reports one that cannot be used so.
func (l *loader) kind(b *block, rng hcl.Range) *step.Spec {
	s := l.Registry.Lookup(b.kind)
	switch {
	case s == nil || s.Hidden:
		var names []string
		for _, k := range l.Registry.Kinds() {
			if !k.Hidden && !k.Block {
				names = append(names, k.Name)
			}
		}
		slices.Sort(names)
		detail := fmt.Sprintf("There is no kind %q. %s", b.kind, syntax.Suggest(b.kind, names, "kind"))
		if b.typ != "step" {
			detail = fmt.Sprintf("This build has no kind %q, which a %s block stands for.", b.kind, b.typ)
		}
		l.Diags.Error(rng, "Unknown step kind", detail+" See redsi kinds.")
		return nil
	case s.Block && b.typ == "step":
		for typ, kind := range BlockKinds {
			if kind == b.kind {
				l.Diags.Error(rng, "Not a step", fmt.Sprintf("This is written %s %q { … }.", typ, b.name))
			}
		}
		return nil
	}
	return s
}

const maxName = 4096 // bytes of a label or a key of for_each: addresses stand in all that is said of a step
