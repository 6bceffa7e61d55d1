package pipeline

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/step"
)

// keepAttr says of a step, by false, that its outputs' bytes leave the store once all that
// read them are done. It is not part of the key. A kind may have an attribute of that name,
// which is another one.
const keepAttr = "keep"

// shapeKeep notes keep.
func (l *loader) shapeKeep(b *block) {
	a := b.Body.Attributes[keepAttr]
	switch {
	case a == nil || b.spec != nil && attrOf(b.spec.Attrs, keepAttr) != nil:
	case b.typ != "step":
		l.diags.error(a.NameRange, "Not an attribute", fmt.Sprintf("keep stands in a step whose outputs only other steps read; what a %s makes stays.", b.typ))
	default:
		b.keep = a.Expr
	}
}

// temporary evaluates the keep of an instance; ok is false if it is wrong, or not known yet.
func (l *loader) temporary(b *block, inst *instance) (temporary, ok bool) {
	if b.keep == nil {
		return false, true
	}
	v, ok := l.typed(b.keep, inst.ctx, inst, cty.Bool, "keep is true or false: the bytes of a step with keep = false leave the store when all that read them are done.")
	if !ok {
		return false, false
	}
	if v.False() {
		l.dropped[inst.address] = true
	}
	return v.False(), true
}

// readable refuses to read, for the pipeline itself, what a step does not keep.
func (l *loader) readable(ref step.Ref) error {
	if l.dropped[ref.Step] {
		return fmt.Errorf("json() reads %s whenever the pipeline is planned, and %s has keep = false", ref, ref.Step)
	}
	return nil
}
