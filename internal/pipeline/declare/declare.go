package declare

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/language"
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
