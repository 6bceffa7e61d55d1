package lsp

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// definition finds where what a reference names is declared; nil if nowhere.
func (s *server) definition(d *document, offset int) any {
	start, end, ok := under(d.src, offset)
	if !ok {
		return nil
	}
	p := placeAt(d.src, end)
	if len(p.blocks) == 1 && p.blocks[0].typ == "module" {
		if found := s.definitionInModule(d, p, d.src[start:end]); found != nil {
			return found
		}
	}
	if p.where != inValue || p.quote && !p.index {
		return nil
	}
	ref := slices.Clone(p.before)
	if !p.index {
		ref = append(ref, p.word)
	}
	plain := slices.DeleteFunc(ref, func(x string) bool { return strings.HasPrefix(x, "[") })
	if len(plain) > 2 && plain[0] == "module" {
		if x, ok := s.work.module(d, plain[1]); ok {
			return s.locateNamed(d, s.work.inside(x, "output"), "output."+plain[2])
		}
		return nil
	}
	for _, x := range s.work.declared(d) {
		if each := x.body != nil && x.forEach && plain[0] == "each"; each && x.rng.Filename == d.path && x.extent.Start.Byte <= offset && offset <= x.extent.End.Byte {
			return s.locate(d, x.body.Attributes["for_each"].NameRange)
		}
		name := strings.Split(x.name, ".")
		if len(plain) >= len(name) && slices.Equal(plain[:len(name)], name) {
			return s.locate(d, x.rng)
		}
	}
	return nil
}

func (s *server) locate(d *document, r hcl.Range) any {
	t := d.text
	if r.Filename != d.path {
		s.work.mu.Lock()
		src, err := s.work.source(r.Filename)
		s.work.mu.Unlock()
		if err != nil {
			return nil
		}
		t = newText(string(src))
	}
	return location{uriOf(r.Filename), t.span(r)}
}

// symbols is the outline of a document.
func (s *server) symbols(d *document, _ int) any {
	list := []symbol{}
	f, _ := hclsyntax.ParseConfig([]byte(d.src), d.path, hcl.InitialPos)
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return list
	}
	for _, b := range body.Blocks {
		x := symbol{Name: strings.Join(append([]string{b.Type}, b.Labels...), "."), Kind: symbolClass, Range: d.span(b.Range()), Selection: d.span(b.DefRange())}
		switch t := declare.Of(b.Type); {
		case t == nil:
		case t.Makes == declare.MakesVariable:
			x.Name, x.Kind = "var."+strings.Join(b.Labels, "."), symbolVariable
		case t.Makes == declare.MakesValue:
			x.Kind = symbolNamespace
			for _, a := range syntax.Attributes(b.Body) {
				x.Children = append(x.Children, symbol{Name: "local." + a.Name, Kind: symbolConstant, Range: d.span(a.SrcRange), Selection: d.span(a.NameRange)})
			}
		case t.Makes == declare.MakesOutput:
			x.Kind = symbolVariable
		case t.Makes == declare.MakesCall:
			x.Kind = symbolNamespace
		case t.Outputs() && t.Kind != "":
			x.Kind = symbolObject
		}
		list = append(list, x)
	}
	return list
}
