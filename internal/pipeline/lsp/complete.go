package lsp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/reference"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

type completions struct {
	s     *server
	d     *document
	place place
	decls []decl // of the pipeline
	edit  span   // what is replaced
	end   int    // its end
	list  []completionItem
}

func (s *server) complete(d *document, offset int) completionList {
	c := &completions{s: s, d: d, place: placeAt(d.src, offset), end: offset, list: []completionItem{}}
	c.edit = span{d.position(offset - len(c.place.word)), d.position(offset)}
	p := c.place
	if p.where == inValue {
		c.decls = s.work.declared(d)
	}
	switch {
	case syntax.IsBeside(d.path):
	case p.where == inLabel:
		c.labels()
	case p.where == inBody && len(p.path) > 0:
		if a := attrAt(s.attrsOf(d, p.blocks), p.path); a != nil {
			c.attributes(element(a.Type).Attrs, nil)
		}
	case p.where == inBody && len(p.blocks) == 0:
		for i, b := range declare.Types {
			c.add(completionItem{Label: b.Name, Kind: itemKeyword, Documentation: markdown(b.Help), SortText: fmt.Sprintf("%02d", i)}, b.Snippet)
		}
	case p.where == inBody && !p.quote:
		c.attributes(s.attrsOf(d, p.blocks), c.written(offset))
	case p.where == inValue:
		c.value(offset)
	}
	return completionList{Items: c.list}
}

func markdown(text string) *markup { return &markup{"markdown", text} }

// add adds an item that puts a snippet in, or what is left of it where the client has none.
func (c *completions) add(i completionItem, snippet string) {
	i.Format, i.TextEdit = 2, textEdit{c.edit, snippet}
	if !c.s.snippets || !strings.ContainsRune(snippet, '$') {
		i.Format, i.TextEdit.NewText = 1, plainSnippet.Replace(snippet)
	}
	i.SortText = cmp.Or(i.SortText, "5")
	i.SortText += i.Label
	c.list = append(c.list, i)
}

// plainSnippet leaves a snippet's marks out.
var plainSnippet = strings.NewReplacer("${1:KIND}", "", "${2:NAME}", "", "${1:NAME}", "", "$0", "", "$1", "", `\$`, "$")

// verbatim is a text that is not a snippet.
func (c *completions) verbatim(i completionItem, newText string) {
	c.add(i, "")
	last := &c.list[len(c.list)-1]
	last.Format, last.TextEdit.NewText = 1, newText
}

// labels completes the kind of a step.
func (c *completions) labels() {
	p := c.place
	if len(p.blocks) != 1 || p.blocks[0].typ != "step" || p.label != 0 {
		return
	}
	for _, k := range c.s.Load.Registry.Kinds() {
		if k.Hidden || k.Block {
			continue
		}
		summary, _, _ := strings.Cut(strings.TrimSpace(k.Doc), "\n")
		c.verbatim(completionItem{Label: k.Name, Kind: itemClass, Detail: summary, Documentation: markdown(k.Doc)}, k.Name)
	}
}

// written is the names in the body around an offset.
func (c *completions) written(offset int) []string {
	var names []string
	decls, _ := c.d.declarations()
	for _, d := range decls {
		if d.body == nil || offset < d.extent.Start.Byte || offset > d.extent.End.Byte {
			continue
		}
		body := d.body
		for i := 0; i < len(body.Blocks); i++ {
			if b := body.Blocks[i]; b.Range().Start.Byte <= offset && offset <= b.Range().End.Byte {
				body, i = b.Body, -1
			}
		}
		names = slices.AppendSeq(names, maps.Keys(body.Attributes))
	}
	return names
}

// attributes completes names, the required ones first.
func (c *completions) attributes(attrs []step.Attr, written []string) {
	rest := strings.TrimLeft(c.d.src[c.end:], " \t")
	for i := range attrs {
		a := &attrs[i]
		if a.Label || schema.FilledIn(a) || slices.Contains(written, a.Name) && a.Name != c.place.word {
			continue
		}
		item := completionItem{Label: a.Name, Kind: itemProperty, Detail: a.Type.String(), Documentation: markdown(describeAttr(a)), SortText: "1"}
		if !a.Optional {
			item.Detail, item.SortText = item.Detail+", required", "0"
		}
		switch {
		case strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "{"):
			c.verbatim(item, a.Name)
		case a.Block:
			label := ""
			if slices.ContainsFunc(element(a.Type).Attrs, func(x step.Attr) bool { return x.Label }) {
				label = ` "$1"`
			}
			item.Detail = "block"
			c.add(item, a.Name+label+" {\n  $0\n}")
		case a.Type.Kind == step.String && len(a.Enum) == 0:
			c.add(item, a.Name+` = "$0"`)
		case a.Type.Kind == step.List:
			c.add(item, a.Name+" = [$0]")
		default:
			c.add(item, a.Name+" = $0")
		}
	}
}

func (c *completions) value(offset int) {
	p := c.place
	want := attrAt(c.s.attrsOf(c.d, p.blocks), p.path)
	switch {
	case p.index:
		c.keys()
	case p.quote && want == nil:
	case p.quote:
		for _, e := range want.Enum {
			c.verbatim(completionItem{Label: e, Kind: itemValue, Documentation: markdown(describeAttr(want))}, e)
		}
	case len(p.before) > 0:
		c.member(want, offset)
	default:
		c.start(want)
	}
}

func (c *completions) start(want *step.Attr) {
	if want != nil {
		values := lists.Map(want.Enum, strconv.Quote)
		if want.Type.Kind == step.Bool {
			values = append(values, "true", "false")
		}
		for _, v := range values {
			c.verbatim(completionItem{Label: v, Kind: itemValue, SortText: "0"}, v)
		}
	}
	if takesArtifact(want) {
		for _, x := range c.decls {
			for _, o := range c.outputs(x, want) {
				ref := x.name + c.instance(x) + "." + o.Name
				c.verbatim(completionItem{Label: ref, Kind: itemRef, Detail: o.Type, Documentation: markdown(reference.Sentence(o.Help)), SortText: "1"}, ref)
			}
		}
	}
	for _, x := range c.decls {
		if x.typ == "variable" || x.typ == "local" {
			c.verbatim(completionItem{Label: x.name, Kind: itemVariable, Detail: c.short(x.name), SortText: "2"}, x.name)
		}
	}
	for _, root := range declare.Roots {
		c.verbatim(completionItem{Label: root, Kind: itemModule, SortText: "3"}, root)
	}
	for _, f := range language.Functions() {
		c.add(completionItem{Label: f.Name, Kind: itemFunction, Detail: f.Usage, Documentation: markdown(f.Help), SortText: "4"}, f.Name+"($0)")
	}
}

// outputs lists the outputs of a declared block, not the one being written, that an attribute takes.
func (c *completions) outputs(x decl, want *step.Attr) (list []step.Output) {
	spec := c.s.Load.Registry.Lookup(x.kind)
	if b := c.place.blocks; spec == nil || len(b) > 0 && x.name == b[0].name() {
		return nil
	}
	return lists.Filter(spec.Outputs, func(o step.Output) bool {
		return want == nil || want.Accepts == "" || slices.Contains(strings.Split(want.Accepts, ","), o.Type)
	})
}

// instance is an index that chooses one step of a block with for_each; "": there is no for_each.
func (c *completions) instance(x decl) string {
	if !x.forEach {
		return ""
	}
	b, names := c.place.blocks, namesOf(c.named(x.name))
	here := func(d decl) bool { return d.forEach && len(b) > 0 && d.name == b[0].name() }
	if len(names) == 0 || slices.ContainsFunc(c.decls, here) {
		return "[each.key]"
	}
	return fmt.Sprintf("[%q]", names[0])
}

// member completes what follows a reference and a dot.
func (c *completions) member(want *step.Attr, offset int) {
	p := c.place
	offer := func(names []string, kind int) {
		for _, n := range names {
			c.verbatim(completionItem{Label: n, Kind: kind}, n)
		}
	}
	root := p.before[0]
	block := p.before
	if strings.HasPrefix(block[len(block)-1], "[") {
		block = block[:len(block)-1]
	}
	switch {
	case root == "each" && len(p.before) == 1:
		offer([]string{"key", "value"}, itemVariable)
	case root == "each" && p.before[1] == "value":
		offer(c.each(offset, p.before[2:]), itemField)
	case (root == "var" || root == "local") && len(p.before) == 1:
		for _, x := range c.decls {
			if rest, ok := strings.CutPrefix(x.name, root+"."); ok {
				c.verbatim(completionItem{Label: rest, Kind: itemVariable, Detail: c.short(x.name)}, rest)
			}
		}
	case len(p.before) < declare.Depth(root):
		var names []string
		for _, x := range c.decls {
			rest, ok := strings.CutPrefix(x.name, strings.Join(p.before, ".")+".")
			if !ok || root != "module" && takesArtifact(want) && len(c.outputs(x, want)) == 0 {
				continue
			}
			if n, _, _ := strings.Cut(rest, "."); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		offer(names, itemModule)
	case root == "module" && len(block) == 2:
		if x := c.s.work.module(c.d, block[1]); x != nil {
			for _, o := range c.s.work.inside(x, "output") {
				c.verbatim(completionItem{Label: o.attr.Name, Kind: itemField, Documentation: markdown(reference.Sentence(o.attr.Help))}, o.attr.Name)
			}
		}
	case root == "var" || root == "local" || root == "module":
		offer(namesOf(descend(c.named(root+"."+p.before[1]), p.before[2:])), itemField)
	case declare.Of(root).Outputs() && len(block) == declare.Depth(root):
		if x := find(c.decls, strings.Join(block, ".")); x != nil {
			for _, o := range c.outputs(*x, want) {
				c.verbatim(completionItem{Label: o.Name, Kind: itemField, Detail: o.Type, Documentation: markdown(reference.Sentence(o.Help))}, o.Name)
			}
		}
	}
}

// keys completes an index of a reference.
func (c *completions) keys() {
	v := c.named(strings.Join(c.place.before, "."))
	if v == cty.NilVal && len(c.place.before) > 2 {
		v = descend(c.named(strings.Join(c.place.before[:2], ".")), c.place.before[2:])
	}
	for _, n := range namesOf(v) {
		if !c.place.quote {
			n = strconv.Quote(n)
		}
		c.verbatim(completionItem{Label: n, Kind: itemValue}, n)
	}
}

// named is the value of a name at the last load; NilVal if there was none.
func (c *completions) named(name string) (v cty.Value) {
	if l := c.s.work.loaded(c.d.path); l.scope != nil {
		v, _ = l.scope.Named(name)
	}
	return v
}

// short is a simple value, or what a larger one is.
func (c *completions) short(name string) string {
	v := c.named(name)
	if v == cty.NilVal {
		return ""
	}
	switch t := v.Type(); {
	case v.IsMarked() || !v.IsKnown() || v.IsNull() || t.IsPrimitiveType():
		return language.Text(v, nil)
	case v.CanIterateElements():
		return fmt.Sprintf("%s of %d", t.FriendlyNameForConstraint(), v.LengthInt())
	default:
		return t.FriendlyName()
	}
}

// each lists the names in each.value, of the first key, at a path within it.
func (c *completions) each(offset int, path []string) []string {
	l := c.s.work.loaded(c.d.path)
	decls, _ := c.d.declarations()
	for _, d := range decls {
		if !d.forEach || l.scope == nil || offset < d.extent.Start.Byte || offset > d.extent.End.Byte {
			continue
		}
		v, ds := l.scope.Value(pipeline.Expression{Source: []byte(c.d.src), Range: d.body.Attributes["for_each"].Expr.Range()})
		if ds.HasErrors() || v.IsMarked() || !v.IsKnown() || v.IsNull() || !v.CanIterateElements() {
			return nil
		}
		for _, e := range v.Elements() {
			return namesOf(descend(e, path))
		}
	}
	return nil
}

// fields are the fields of an object or a map; nil of any other value, and of an unknown one.
func fields(v cty.Value) map[string]cty.Value {
	if v == cty.NilVal || v.IsMarked() || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return nil
	}
	return v.AsValueMap()
}

// descend follows names into a value; what is not there is unknown.
func descend(v cty.Value, path []string) cty.Value {
	for _, name := range path {
		next, ok := fields(v)[strings.Trim(name, `[]"`)]
		if !ok {
			return cty.DynamicVal
		}
		v = next
	}
	return v
}

// namesOf are the names in an object or the keys of a map, sorted.
func namesOf(v cty.Value) []string { return slices.Sorted(maps.Keys(fields(v))) }
