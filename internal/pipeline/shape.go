package pipeline

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// FilledIn reports an attribute that loading or planning sets, so that nobody writes it.
func FilledIn(a *step.Attr) bool { return strings.HasPrefix(a.Help, "filled in ") }

// Attributes and blocks that every step, table and figure may have.
const (
	forEachAttr    = "for_each"
	resourcesBlock = "resources"
	retryBlock     = "retry"
	whenAttr       = "when"
	otherwiseAttr  = "otherwise"
	allowEmptyAttr = "allow_empty"
)

// limitsBlock says how many steps may have a name at a time.
const limitsBlock = "limits"

// isResources reports whether a block says what a step asks for to run.
func isResources(typ string) bool { return typ == resourcesBlock || typ == retryBlock }

// expectBlock is the repeated block of tables, figures and claims each of which has a place
// of its own among those of the attributes.
const expectBlock = "expect"

// shape checks the names and forms in a block's body, which are the same for
// all of its instances. Values are checked when they are known.
func (l *loader) shape(b *block) {
	if a := b.Body.Attributes[forEachAttr]; a != nil {
		b.forEach = a.Expr
	}
	l.shapeFlags(b)
	for _, inner := range b.Body.Blocks {
		if inner.Type == checkBlock && b.typ != "claim" {
			l.shapeCheck(b, inner)
		}
		if isResources(inner.Type) {
			l.shapeResources(b, inner)
		}
	}
	if b.spec != nil {
		l.shapeBody(b.Block, b.spec.Attrs, b.owner(), true)
	}
}

// owner is the block in sentences about its attributes.
func (b *block) owner() string {
	switch {
	case b.kind == "": // it has a form
		return "The " + b.Type + " block"
	case b.typ == "step":
		return fmt.Sprintf("Kind %q", b.kind)
	}
	return "A " + b.typ
}

// shapeBody checks a block's body against the attributes that it may have.
func (l *loader) shapeBody(b *hclsyntax.Block, attrs []step.Attr, owner string, top bool) {
	body := b.Body
	var names, blocks []string
	for i := range attrs {
		a := &attrs[i]
		l.rename(body, a)
		if !a.Label && !FilledIn(a) {
			names = append(names, a.Name)
		}
		if a.Block {
			blocks = append(blocks, a.Name)
		}
	}
	if top {
		names = append(names, forEachAttr, whenAttr, otherwiseAttr, allowEmptyAttr, keepAttr)
		blocks = append(blocks, resourcesBlock, retryBlock, checkBlock)
	}
	for _, a := range syntax.Attributes(body) {
		switch k := AttrOf(attrs, a.Name); {
		case top && (a.Name == forEachAttr || isFlag(a.Name) && k == nil):
		case top && a.Name == resourcesBlock:
			l.Diags.Error(a.NameRange, "Not an attribute", "resources is a block: resources { memory = \"12GB\" }.")
		case top && a.Name == retryBlock && k == nil:
			l.Diags.Error(a.NameRange, "Not an attribute", "retry is a block: retry { times = 3 }.")
		case k == nil:
			l.typos[typo(syntax.Header(b), syntax.Nearest(a.Name, names))] = true
			detail := fmt.Sprintf("%s has no attribute %q. %s", owner, a.Name, syntax.Suggest(a.Name, names, "attribute"))
			if a.Name == "depends_on" {
				detail = "There is no depends_on: a step follows those whose outputs it uses, and no others."
			}
			l.Diags.Error(a.NameRange, "Unknown attribute", detail)
		case k.Label:
			l.Diags.Error(a.NameRange, "Not an attribute", fmt.Sprintf("%s is the block's label.", a.Name))
		}
	}
	for _, inner := range body.Blocks {
		k := AttrOf(attrs, inner.Type)
		switch {
		case top && (isResources(inner.Type) || inner.Type == checkBlock && k == nil):
			continue
		case k == nil:
			l.Diags.Error(inner.TypeRange, "Unknown block", fmt.Sprintf("%s has no block %q. %s", owner, inner.Type, syntax.Suggest(inner.Type, blocks, "block")))
			continue
		case !k.Block:
			l.Diags.Error(inner.TypeRange, "Not a block", fmt.Sprintf("%s is an attribute: %s = … (%s).", inner.Type, inner.Type, k.Type))
			continue
		case body.Attributes[inner.Type] != nil:
			l.Diags.Error(inner.TypeRange, "Written in two ways", fmt.Sprintf("%s is written either as blocks or as an attribute with a list, not both.", inner.Type),
				syntax.Place{Range: body.Attributes[inner.Type].NameRange, Text: "the attribute"})
		}
		object := blockObject(k)
		want := 0
		if labelOf(object) != "" {
			want = 1
		}
		if len(inner.Labels) != want {
			form := fmt.Sprintf("%s { … }", inner.Type)
			if want == 1 {
				form = fmt.Sprintf("%s %q { … }", inner.Type, strings.ToUpper(labelOf(object)))
			}
			l.Diags.Error(syntax.Header(inner), "Wrong labels", "This block is written "+form+".")
		}
		l.shapeBody(inner, object.Attrs, inner.Type, false)
	}
}

// rename gives an attribute that is written under its former name the one that it has.
func (l *loader) rename(body *hclsyntax.Body, a *step.Attr) {
	was := body.Attributes[a.Was]
	if a.Was == "" || was == nil {
		return
	}
	delete(body.Attributes, a.Was)
	if now := body.Attributes[a.Name]; now != nil {
		l.Diags.Error(was.NameRange, "Written in two ways", fmt.Sprintf("%s is the former name of %s; give one of them.", a.Was, a.Name),
			syntax.Place{Range: now.NameRange, Text: "its present name"})
		return
	}
	l.Diags.Warn(was.NameRange, "Renamed attribute", fmt.Sprintf("%s is now called %s; results and keys are the same under both names.", a.Was, a.Name))
	was.Name = a.Name
	body.Attributes[a.Name] = was
}

// blockObject is the type of what one block of an attribute holds.
func blockObject(a *step.Attr) step.Type {
	if a.Type.Kind == step.List {
		return *a.Type.Elem
	}
	return a.Type
}

// labelOf names the attribute that a block's label fills; "" if there is none.
func labelOf(t step.Type) string {
	for _, a := range t.Attrs {
		if a.Label {
			return a.Name
		}
	}
	return ""
}

// typo files that within the block at rng a name was written that was most
// likely meant to be the given attribute: that it is missing is not news then.
func typo(rng hcl.Range, attr string) string { return rng.String() + " " + attr }
