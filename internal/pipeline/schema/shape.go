package schema

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// blockForms are how blocks are written that people take for attributes.
var blockForms = map[string]string{"resources": `resources { memory = "12GB" }`, "retry": "retry { times = 3 }"}

// Shape checks a block's body against its attributes, and those in common, whose forms are checked elsewhere.
func Shape(d *syntax.Collector, b *hclsyntax.Block, attrs, common []step.Attr, owner string, typos Typos) {
	body := b.Body
	var names, blocks []string
	for i := range attrs {
		a := &attrs[i]
		rename(d, body, a)
		if !a.Label && !FilledIn(a) {
			names = append(names, a.Name)
		}
		if a.Block {
			blocks = append(blocks, a.Name)
		}
	}
	for _, a := range common {
		if a.Block {
			blocks = append(blocks, a.Name)
		} else {
			names = append(names, a.Name)
		}
	}
	for _, a := range syntax.Attributes(body) {
		k, shared := AttrOf(attrs, a.Name), AttrOf(common, a.Name)
		switch {
		case k == nil && shared != nil && !shared.Block:
		case k == nil && shared != nil && blockForms[a.Name] != "":
			d.Error(a.NameRange, "Not an attribute", fmt.Sprintf("%s is a block: %s.", a.Name, blockForms[a.Name]))
		case k == nil:
			typos.add(syntax.Header(b), syntax.Nearest(a.Name, names))
			detail := fmt.Sprintf("%s has no attribute %q. %s", owner, a.Name, syntax.Suggest(a.Name, names, "attribute"))
			if a.Name == "depends_on" {
				detail = "There is no depends_on: a step follows those whose outputs it uses, and no others."
			}
			d.Error(a.NameRange, "Unknown attribute", detail)
		case k.Label:
			d.Error(a.NameRange, "Not an attribute", fmt.Sprintf("%s is the block's label.", a.Name))
		}
	}
	for _, inner := range body.Blocks {
		k, shared := AttrOf(attrs, inner.Type), AttrOf(common, inner.Type)
		switch {
		case k == nil && shared != nil && shared.Block:
			continue
		case k == nil:
			d.Error(inner.TypeRange, "Unknown block", fmt.Sprintf("%s has no block %q. %s", owner, inner.Type, syntax.Suggest(inner.Type, blocks, "block")))
			continue
		case !k.Block:
			d.Error(inner.TypeRange, "Not a block", fmt.Sprintf("%s is an attribute: %s = … (%s).", inner.Type, inner.Type, k.Type))
			continue
		case body.Attributes[inner.Type] != nil:
			d.Error(inner.TypeRange, "Written in two ways", fmt.Sprintf("%s is written either as blocks or as an attribute with a list, not both.", inner.Type),
				syntax.Place{Range: body.Attributes[inner.Type].NameRange, Text: "the attribute"})
		}
		object, label, _ := held(k)
		form, labels := inner.Type+" { … }", 0
		if label != "" {
			form, labels = fmt.Sprintf("%s %q { … }", inner.Type, strings.ToUpper(label)), 1
		}
		if len(inner.Labels) != labels {
			d.Error(syntax.Header(inner), "Wrong labels", "This block is written "+form+".")
		}
		Shape(d, inner, object.Attrs, nil, inner.Type, typos)
	}
}

// rename gives an attribute that is written under its former name the one that it has.
func rename(d *syntax.Collector, body *hclsyntax.Body, a *step.Attr) {
	was := body.Attributes[a.Was]
	if a.Was == "" || was == nil {
		return
	}
	delete(body.Attributes, a.Was)
	if now := body.Attributes[a.Name]; now != nil {
		d.Error(was.NameRange, "Written in two ways", fmt.Sprintf("%s is the former name of %s; give one of them.", a.Was, a.Name),
			syntax.Place{Range: now.NameRange, Text: "its present name"})
		return
	}
	d.Warn(was.NameRange, "Renamed attribute", fmt.Sprintf("%s is now called %s; results and keys are the same under both names.", a.Was, a.Name))
	was.Name = a.Name
	body.Attributes[a.Name] = was
}
