package lsp

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/reference"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

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

// declarations lists what a file declares, as far as it can be read; complete if all could be read.
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

// openModule opens a module for a load, as its files are in the editor, and keeps their names.
func (w *work) openModule(into *loaded, folder, source string) (map[string][]byte, error) {
	files, err := w.s.Load.Module(folder, source)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Sorted(maps.Keys(files))
	w.modules[source] = names
	into.modules = append(into.modules, names...)
	for _, f := range names {
		if d := w.docs[f]; d != nil {
			files[f] = []byte(d.src)
		}
	}
	return files, nil
}

// moduleFiles names the files of a block's module: at a path as they are now, in a repository as the last load had them.
func (w *work) moduleFiles(x *decl) []string {
	source := constantText(x.body, "source")
	if declare.IsLocalModule(source) {
		files, err := declare.LocalModule(filepath.ToSlash(filepath.Dir(x.rng.Filename)), source)
		if err != nil { // the diagnostics say why
			return nil
		}
		return slices.Sorted(maps.Keys(files))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.modules[source]
}

// inside lists what a module declares, of one type: variable or output.
func (w *work) inside(x *decl, typ string) (list []decl) {
	for _, f := range w.moduleFiles(x) {
		w.mu.Lock()
		decls, _ := w.declarations(f)
		w.mu.Unlock()
		list = append(list, lists.Filter(decls, func(y decl) bool { return y.typ == typ })...)
	}
	return list
}

// find is the declaration of a name, such as step.train.dsi; nil: there is none.
func find(among []decl, name string) *decl {
	if i := slices.IndexFunc(among, func(x decl) bool { return x.name == name }); i >= 0 {
		return &among[i]
	}
	return nil
}

func (w *work) module(d *document, name string) *decl { return find(w.declared(d), "module."+name) }

// definitionInModule finds what a name in a module block is: the file that source names, or a variable.
func (s *server) definitionInModule(d *document, p place, name string) any {
	x := s.work.module(d, strings.Join(p.blocks[0].labels, "."))
	switch {
	case x == nil:
	case p.where == inValue && p.quote && slices.Equal(p.path, []string{"source"}):
		if files := s.work.moduleFiles(x); len(files) > 0 {
			return location{URI: uriOf(files[0])}
		}
	case p.where == inBody:
		return s.locateNamed(d, s.work.inside(x, "variable"), "var."+name)
	}
	return nil
}

func (s *server) locateNamed(d *document, among []decl, name string) any {
	if x := find(among, name); x != nil {
		return s.locate(d, x.rng)
	}
	return nil
}

// hoverOutput shows an output of a module: ref is module, its name, and a path from there.
func (s *server) hoverOutput(d *document, x *decl, output string, ref []string, at span) any {
	o := find(s.work.inside(x, "output"), "output."+output)
	if o == nil {
		return nil
	}
	text := s.hoverValue(d, x.name, ref[2:]...)
	if o.attr.Help != "" {
		text += "\n\n" + reference.Sentence(o.attr.Help)
	}
	return hoverOf(at, text)
}

func (s *server) describeModule(x *decl) string {
	text := fmt.Sprintf("The pipeline `%s`.\n", constantText(x.body, "source"))
	for _, v := range s.work.inside(x, "variable") {
		need := "required"
		if v.attr.Optional {
			need = "optional"
		}
		text += fmt.Sprintf("\n- `%s` (%s, %s) %s", v.name, v.attr.Type, need, reference.Sentence(v.attr.Help))
	}
	for _, o := range s.work.inside(x, "output") {
		text += fmt.Sprintf("\n- `%s` %s", o.name, reference.Sentence(o.attr.Help))
	}
	return text
}

// variableAttr is a variable as the attribute of a module block that gives it its value.
func variableAttr(b *hclsyntax.Block) step.Attr {
	a := step.Attr{Name: b.Labels[0], Type: step.Type{Kind: "any"}, Help: constantText(b.Body, "description")}
	if x := b.Body.Attributes["default"]; x != nil {
		a.Optional = true
		if v, ds := x.Expr.Value(nil); !ds.HasErrors() && v.IsWhollyKnown() && !v.IsNull() {
			a.Default = ctyjson.SimpleJSONValue{Value: v}
			if v.Type().IsPrimitiveType() {
				a.Type.Kind = step.TypeKind(v.Type().FriendlyName())
			}
		}
	}
	if x := b.Body.Attributes["type"]; x != nil {
		if t, ds := typeexpr.TypeConstraint(x.Expr); !ds.HasErrors() {
			a.Type.Kind = step.TypeKind(typeexpr.TypeString(t))
		}
	}
	return a
}

// constantText is the text of an attribute that is a constant one; "" if it is not.
func constantText(b *hclsyntax.Body, name string) string {
	if b == nil || b.Attributes[name] == nil {
		return ""
	}
	v, ds := b.Attributes[name].Expr.Value(nil)
	if ds.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}
