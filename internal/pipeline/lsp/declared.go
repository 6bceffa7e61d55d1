package lsp

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/step"
)

// decl is something that a pipeline file declares.
type decl struct {
	name    string // var.x, local.x, step.train.dsi, table.t, figure.f, module.m, output.o
	typ     string // variable, local, step, table, figure, module or output
	kind    string // of work
	rng     hcl.Range
	extent  hcl.Range
	body    *hclsyntax.Body // nil for a local
	forEach bool
	attr    step.Attr // a variable as a module block gives it its value, or an output's name and help
}

// declarations lists what a file declares, as far as it can be read; whole if all could be.
func declarations(file string, src []byte) (list []decl, complete bool) {
	f, ds := hclsyntax.ParseConfig(src, file, hcl.InitialPos)
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return nil, false
	}
	for _, b := range body.Blocks {
		d := decl{typ: b.Type, rng: b.DefRange(), extent: b.Range(), body: b.Body}
		t := declare.Of(b.Type)
		name, named := declare.NameOf(b)
		switch {
		case t == nil:
			continue
		case t.Makes == declare.MakesValue:
			for _, a := range b.Body.Attributes {
				list = append(list, decl{name: "local." + a.Name, typ: "local", rng: a.NameRange, extent: a.SrcRange})
			}
			continue
		case !named:
			continue
		case t.Makes == declare.MakesVariable:
			d.attr = variableAttr(b)
		case t.Makes == declare.MakesOutput:
			d.attr = step.Attr{Name: b.Labels[0], Help: constantText(b.Body, "description")}
		case t.Root == "":
			continue
		}
		d.name, d.kind = name, t.KindOf(b.Labels)
		d.forEach = b.Body.Attributes["for_each"] != nil
		list = append(list, d)
	}
	return list, !ds.HasErrors()
}
