package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

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

// node is something that is evaluated: one local value or output, or a block.
type node struct {
	name  string // local.sizes, step.train.dsi, table.dedup_counts, module.first, output.texts
	dir   string // the folder of its source, for file()
	rng   hcl.Range
	value cty.Value // what references to it give; DynamicVal where that failed
	deps  []edge
	read  bool // something refers to it

	awaits    *awaited // what the value waits for, or was made of; nil if no step decides it
	undecided bool     // of a block: it is not known yet whether some step of it is skipped

	expr   hclsyntax.Expression // of a local or output
	block  *block               // of a source, step, table, figure or claim
	cells  cty.Value            // of a table or figure, what claims see; see cellsOf
	module *moduleCall

	form *hclsyntax.Block // an environment or publish block
}

// edge is a reference from one node to another.
type edge struct {
	to   *node
	rng  hcl.Range
	bare bool // it takes an output of a step that may be skipped, not within try()
}

// block is a source, step, table, figure or claim.
type block struct {
	*hclsyntax.Block
	typ, kind, name string
	spec            *step.Spec // nil if there is no such kind; reported
	forEach, when   hclsyntax.Expression
	otherwise       hclsyntax.Expression
	keep            hclsyntax.Expression
	allowEmpty      bool
	resources       *hclsyntax.Block
	retry           *hclsyntax.Block
	checks          []*hclsyntax.Block
	attrPos         map[string]Pos // what places has found
}

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
		for _, a := range sortedAttributes(b.Body) {
			l.diags.error(a.NameRange, "Attribute outside a block",
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
			l.diags.error(blk.TypeRange, "Unknown block type",
				fmt.Sprintf("There is no block type %q. %s", blk.Type, suggest(blk.Type, names, "block type")))
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
		l.diags.error(header(b), "Wrong labels", fmt.Sprintf("A %s block is written %s { … }.", b.Type, form))
		return false
	}
	for i, name := range b.Labels {
		if len(name) > maxName {
			l.diags.error(b.LabelRanges[i], "Not a name", fmt.Sprintf("The %s of this %s has %d bytes; at most %d are allowed.", strings.ToLower(want[i]), b.Type, len(name), maxName))
			return false
		}
		if !hclsyntax.ValidIdentifier(name) {
			l.diags.error(b.LabelRanges[i], "Not a name",
				fmt.Sprintf("%q cannot be the %s of a %s: a name is made of letters, digits, _ and -, and does not start with a digit.", name, strings.ToLower(want[i]), b.Type))
			return false
		}
	}
	return true
}

// header is the range of a block's type and labels.
func header(b *hclsyntax.Block) hcl.Range { return b.DefRange() }

// add declares a node, unless there is one of its name, which is reported.
func (l *loader) add(n *node) bool {
	if old := l.byName[n.name]; old != nil {
		l.twice(n.name, n.rng, old.rng)
		return false
	}
	n.dir, n.value = folder(n.rng.Filename), cty.DynamicVal
	l.byName[n.name] = n
	return true
}

// declareNamed declares the node of a block with a name; nil if something is wrong with that.
func (l *loader) declareNamed(b *hclsyntax.Block) *node {
	if !l.labels(b, "NAME") {
		return nil
	}
	n := &node{name: b.Type + "." + b.Labels[0], rng: header(b)}
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
		l.twice(b.Type, header(b), header(first))
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
		l.diags.error(inner.TypeRange, "Block in locals", "A locals block has attributes only: NAME = VALUE.")
	}
	for _, a := range sortedAttributes(b.Body) {
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
	n := &node{name: b.address(), rng: header(hb), block: b}
	if !l.add(n) {
		return
	}
	l.nodes = append(l.nodes, n)
	l.blocks = append(l.blocks, n)
	b.spec = l.kind(b, kindRange)
	l.shape(b)
}

// address is the block's name in references.
func (b *block) address() string {
	if b.typ == "step" {
		return "step." + b.kind + "." + b.name
	}
	return b.typ + "." + b.name
}

func (l *loader) twice(name string, rng, first hcl.Range) {
	l.diags.error(rng, "Declared twice", fmt.Sprintf("%s has been declared before. Give one of them another name.", name),
		Place{first, "declared here first"})
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
		detail := fmt.Sprintf("There is no kind %q. %s", b.kind, suggest(b.kind, names, "kind"))
		if b.typ != "step" {
			detail = fmt.Sprintf("This build has no kind %q, which a %s block stands for.", b.kind, b.typ)
		}
		l.diags.error(rng, "Unknown step kind", detail+" See redsi kinds.")
		return nil
	case s.Block && b.typ == "step":
		for typ, kind := range BlockKinds {
			if kind == b.kind {
				l.diags.error(rng, "Not a step", fmt.Sprintf("This is written %s %q { … }.", typ, b.name))
			}
		}
		return nil
	}
	return s
}

// sortedAttributes returns a body's attributes in the order of the source.
func sortedAttributes(b *hclsyntax.Body) []*hclsyntax.Attribute {
	return slices.SortedFunc(maps.Values(b.Attributes), func(x, y *hclsyntax.Attribute) int { return bySource(x.SrcRange, y.SrcRange) })
}
