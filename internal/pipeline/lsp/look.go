package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/reference"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// shownLines and shownInstances bound what a hover shows of a value or a block.
const (
	shownLines     = 30
	shownInstances = 8
	outcomesWait   = 5 * time.Second
)

// hover says what the name at an offset is. A step's outcomes are looked up first, beside other requests.
func (s *server) hover(d *document, offset int) any {
	start, end, ok := under(d.src, offset)
	if !ok {
		return nil
	}
	at := span{d.position(start), d.position(end)}
	p := placeAt(d.src, end)
	name := d.src[start:end]
	switch {
	case syntax.IsBeside(d.path) || p.where == inComment && len(p.blocks) == 0 && p.word == "":
		return nil
	case p.where == inLabel, p.where == inBody && len(p.path) == 0 && len(p.blocks) == 0:
		return s.hoverHeader(d, end, at)
	case p.where == inBody && len(p.path) > 0:
		if a := attrAt(s.attrsOf(d, p.blocks), p.path); a != nil {
			if inner := schema.AttrOf(element(a.Type).Attrs, name); inner != nil {
				return hoverOf(at, describeAttr(inner))
			}
		}
	case p.where == inBody && p.blocks[0].typ == "locals":
		return hoverOf(at, s.hoverValue(d, "local."+name))
	case p.where == inBody:
		if a := schema.AttrOf(s.attrsOf(d, p.blocks), name); a != nil {
			return hoverOf(at, describeAttr(a))
		}
	case p.where == inValue && !p.quote && len(p.before) == 0 && strings.HasPrefix(strings.TrimLeft(d.src[end:], " "), "("):
		for _, f := range language.Functions() {
			if f.Name == name {
				return hoverOf(at, fmt.Sprintf("`%s`\n\n%s", f.Usage, reference.Sentence(f.Help)))
			}
		}
	case p.where == inValue && !p.quote:
		return s.hoverReference(d, append(slices.Clone(p.before), name), at)
	}
	return nil
}

func hoverOf(at span, text string) any { return &hover{markup{"markdown", text}, &at} }

func (s *server) hoverReference(d *document, ref []string, at span) any {
	plain := slices.DeleteFunc(slices.Clone(ref), func(p string) bool { return strings.HasPrefix(p, "[") })
	depth := declare.Depth(ref[0])
	if depth == 0 || len(plain) < depth {
		return nil
	}
	x := find(s.work.declared(d), strings.Join(plain[:depth], "."))
	switch {
	case x == nil:
		return nil
	case x.typ == "variable" || x.typ == "local":
		return hoverOf(at, s.hoverValue(d, x.name))
	case len(plain) == depth:
		return s.hoverBlock(d, x, "", at)
	case x.typ == "module":
		return s.hoverOutput(d, x, plain[depth], ref, at)
	}
	spec := s.Load.Registry.Lookup(x.kind)
	if spec == nil {
		return nil
	}
	o, ok := spec.Output(plain[depth])
	if !ok {
		return nil
	}
	text := fmt.Sprintf("Its `%s`: artifact", o.Name)
	if o.Type != "" {
		text += " of type `" + o.Type + "`"
	}
	if o.Tree {
		text += ", a tree of files"
	}
	return s.hoverBlock(d, x, text+"\n\n"+reference.Sentence(o.Help), at)
}

// hoverHeader says what the block is whose header has an offset.
func (s *server) hoverHeader(d *document, offset int, at span) any {
	for _, x := range s.work.declared(d) {
		if x.body != nil && x.rng.Filename == d.path && x.rng.Start.Byte <= offset && offset <= x.rng.End.Byte {
			if x.typ == "variable" || x.typ == "output" {
				return hoverOf(at, s.hoverValue(d, x.name))
			}
			return s.hoverBlock(d, &x, "", at)
		}
	}
	return nil
}

// hoverValue shows a variable, local value or output of the last load, or what is in it by a path.
func (s *server) hoverValue(d *document, name string, path ...string) string {
	text := "`" + strings.ReplaceAll(strings.Join(append([]string{name}, path...), "."), ".[", "[") + "`"
	if l := s.work.loaded(d.path); l.scope != nil {
		if v, ok := l.scope.Named(name); ok {
			lines := strings.Split(language.Text(descend(v, path), nil), "\n")
			if len(lines) > shownLines {
				lines = append(lines[:shownLines], fmt.Sprintf("# … %d more lines", len(lines)-shownLines))
			}
			text += "\n\n```hcl\n" + strings.Join(lines, "\n") + "\n```"
		}
	}
	return text
}

// hoverBlock says what a step, table, figure or module is, and which of its steps have results.
func (s *server) hoverBlock(d *document, x *decl, text string, at span) any {
	spec := s.Load.Registry.Lookup(x.kind)
	name := "`" + x.name + "`"
	switch t := declare.Of(x.typ); {
	case x.typ == "module":
		text = s.describeModule(x)
	case t != nil && t.Makes == declare.MakesNode:
		first, _, _ := strings.Cut(t.Help, ". ")
		text = first + "."
	case spec == nil || spec.Hidden:
		return nil
	case text == "":
		text = strings.TrimSpace(spec.Doc) + "\n"
		for _, o := range spec.Outputs {
			text += fmt.Sprintf("\n- `%s` %s: %s", o.Name, o.Type, reference.Sentence(o.Help))
		}
	}
	return func() any {
		ctx, cancel := context.WithTimeout(s.work.ctx, outcomesWait)
		defer cancel()
		return hoverOf(at, name+s.outcomeText(ctx, d.path, x.name)+"\n\n"+text)
	}
}

func (s *server) outcomeText(ctx context.Context, path, block string) string {
	p, found := s.work.outcomes(ctx, path)
	switch {
	case p == nil:
		return ""
	case found != nil && found.err != nil:
		return "\n\nWhat has results is not known: " + found.err.Error()
	case found == nil:
		return "\n\nWhat has results is still being looked up."
	}
	count := map[string]int{}
	var lines []string
	var last time.Time
	for _, x := range p.Steps {
		o, planned := found.outcomes[x.Address]
		rest, within := strings.CutPrefix(x.Address, block)
		if !planned || !within || rest != "" && rest[0] != '[' && rest[0] != '.' { // it is of another block or module
			continue
		}
		count[o.Word]++
		if o.Finished.After(last) {
			last = o.Finished
		}
		line := fmt.Sprintf("\n- **%s** `%s`", o.Word, x.Address)
		if !o.Finished.IsZero() {
			line += fmt.Sprintf(", %s, took %s", o.Finished.Local().Format("2006-01-02 15:04"), o.Took.Round(time.Millisecond))
		}
		lines = append(lines, line)
	}
	if len(lines) <= shownInstances {
		return "\n" + strings.Join(lines, "")
	}
	text := fmt.Sprintf("\n\n%d steps:", len(lines))
	for _, w := range []string{"HIT", "RUN", "MAYBE"} {
		text += fmt.Sprintf(" %d %s", count[w], w)
	}
	if !last.IsZero() {
		text += ", the last of " + last.Local().Format("2006-01-02 15:04")
	}
	return text
}

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
		if x := s.work.module(d, plain[1]); x != nil {
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
