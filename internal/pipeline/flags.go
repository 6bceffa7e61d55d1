package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/schema"
)

// shapeFlags notes when, otherwise, allow_empty and keep, unless they are attributes of the kind.
func (d *declarer) shapeFlags(b *block) {
	flag := func(name string) *hclsyntax.Attribute {
		if b.spec != nil && schema.AttrOf(b.spec.Attrs, name) != nil {
			return nil
		}
		return b.Body.Attributes[name]
	}
	if a := flag(whenAttr); a != nil && b.typ == "claim" {
		d.Diags.Error(a.NameRange, "Not an attribute", "A claim does no work, so there is nothing to skip.")
	} else if a != nil {
		b.when = a.Expr
	}
	if a := flag(otherwiseAttr); a != nil && b.when == nil {
		d.Diags.Error(a.NameRange, "Not an attribute", "otherwise says why a block whose when is false is left out: it stands beside a when.")
	} else if a != nil {
		b.otherwise = a.Expr
	}
	if a := flag(keepAttr); a != nil && b.typ != "step" {
		d.Diags.Error(a.NameRange, "Not an attribute", fmt.Sprintf("keep stands in a step whose outputs only other steps read; what a %s makes stays.", b.typ))
	} else if a != nil {
		b.keep = a.Expr
	}
	if a := flag(allowEmptyAttr); a != nil {
		v, ds := a.Expr.Value(nil)
		switch {
		case ds.HasErrors() || v.IsNull() || v.Type() != cty.Bool:
			d.Diags.Error(a.Expr.Range(), "Wrong type", "allow_empty is true or false, as it is written.")
		case b.forEach == nil:
			d.Diags.Error(a.NameRange, "Not an attribute", "allow_empty stands beside a for_each over what a step makes: there may be no piece.")
		default:
			b.allowEmpty = v.True()
		}
	}
}
