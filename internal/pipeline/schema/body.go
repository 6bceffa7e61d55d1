// Package schema compares a body with the attributes that it may have, and turns it into a configuration. What a kind refuses
// comes back with the place of the value. It knows neither which blocks there are nor what their values mean, and imports
// syntax, language and step. Begin at Shape, then Reader.Body.
package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// Reader reads what a block says, as an instance of it sees values.
type Reader struct {
	language.Scope
	Block   *hclsyntax.Block
	Spec    *step.Spec
	Owner   string // the block in sentences about its attributes
	Address string // the instance in sentences
	Typos   Typos
	broken  [][]any // paths of values that are wrong; reported

	Outputs map[step.Ref]step.Output // artifacts among the values
	Read    map[string]*step.Spec    // the steps that they are of
}

// broken stands in a tree for a value that is wrong. No type takes it, so a kind's own checks never see it.
type broken struct{}

// Spoil remembers where a value is wrong, or not known yet.
func (r *Reader) Spoil(at []any) broken {
	r.broken = append(r.broken, at)
	return broken{}
}

func (r *Reader) Failed() bool { return len(r.broken) > 0 }

// Fail reports a wrong value and remembers where it is.
func (r *Reader) Fail(at []any, rng hcl.Range, summary, detail string) broken {
	about := detail
	if len(at) > 0 {
		about = indexes.ReplaceAllString(Show(at), "[]")
	}
	r.Report(rng, summary, detail, about)
	return r.Spoil(at)
}

// covered reports whether a value on the way to a path, or below it, has been reported.
func (r *Reader) covered(path []any) bool {
	return slices.ContainsFunc(r.broken, func(b []any) bool {
		n := min(len(b), len(path))
		return n > 0 && slices.Equal(b[:n], path[:n])
	})
}

// Body reads the attributes and blocks of a body, at a path from the block. Unknown names have been reported.
func (r *Reader) Body(b *hclsyntax.Body, attrs []step.Attr, at []any) map[string]any {
	tree := map[string]any{}
	for i := range attrs {
		a := &attrs[i]
		p := append(at[:len(at):len(at)], a.Name)
		var v any
		if x := b.Attributes[a.Name]; x != nil && !a.Label {
			given := r.Value(x.Expr)
			if a.Secret {
				given = r.secrets(given, x.Expr.Range())
			} else {
				given = r.Open(given, x.Expr.Range())
			}
			v = r.tree(given, a.Type, a.Accepts, p)
		} else if a.Block {
			v = r.blocks(b, a, p)
		}
		if v != nil {
			tree[a.Name] = v
		}
	}
	return tree
}

// blocks reads the repeated blocks of an attribute; nil if there are none.
func (r *Reader) blocks(b *hclsyntax.Body, a *step.Attr, at []any) any {
	object, label, several := held(a)
	var list []any
	for _, inner := range syntax.Blocks(b, a.Name) {
		if !several && len(list) > 0 {
			r.Fail(at, inner.TypeRange, "Block written twice", fmt.Sprintf("%s has one block %s.", r.Address, a.Name))
			return broken{}
		}
		p := at
		if several {
			p = append(at[:len(at):len(at)], len(list))
		}
		tree := r.Body(inner.Body, object.Attrs, p)
		if label != "" && len(inner.Labels) == 1 {
			tree[label] = inner.Labels[0]
		}
		if label != "" && len(inner.Labels) != 1 { // reported with the shape
			tree[label] = r.Spoil(append(p[:len(p):len(p)], label))
		}
		list = append(list, tree)
	}
	switch {
	case len(list) == 0:
		return nil
	case several:
		return list
	}
	return list[0]
}

// tree turns a value into a configuration tree. It checks only what artifacts a type takes; the kind checks the rest.
func (r *Reader) tree(v cty.Value, t step.Type, accepts string, at []any) any {
	if !v.IsKnown() {
		return r.Spoil(at)
	}
	if v.IsNull() {
		return nil
	}
	ty := v.Type()
	if t.Kind == step.InputOne || t.Kind == step.InputMany {
		if address, ok := language.StepOf(v); ok {
			outputs := address + "." + strings.Join(syntax.Keys(ty.AttributeTypes()), ", "+address+".")
			return r.Fail(at, r.Locate(at), "Step instead of an output",
				fmt.Sprintf("%s takes an artifact, and %s is a step. Name one of its outputs: %s.", Show(at), address, outputs))
		}
	}
	switch {
	case ty == language.ArtifactType:
		a := v.EncapsulatedValue().(*language.Artifact)
		if accepts != "" && !slices.Contains(strings.Split(accepts, ","), a.Output.Type) {
			return r.Fail(at, r.Locate(at), "Wrong kind of artifact",
				fmt.Sprintf("%s takes %s, but %s is %s.", Show(at), strings.ReplaceAll(accepts, ",", " or "), a.Ref, cmp.Or(a.Output.Type, "of no declared type")))
		}
		ref := a.Ref
		if r.Outputs == nil {
			r.Outputs, r.Read = map[step.Ref]step.Output{}, map[string]*step.Spec{}
		}
		r.Outputs[ref], r.Read[ref.Step] = a.Output, a.Spec
		return step.Input{Ref: &ref}
	case ty == cty.String:
		return v.AsString()
	case ty == cty.Bool:
		return v.True()
	case ty == cty.Number:
		return language.Number(v.AsBigFloat())
	case ty.IsObjectType() || ty.IsMapType():
		return r.object(v, t, accepts, at)
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		elem := t
		if t.Kind == step.List {
			elem = *t.Elem
		}
		list := make([]any, 0, v.LengthInt())
		for _, e := range v.Elements() {
			list = append(list, r.tree(e, elem, accepts, append(at[:len(at):len(at)], len(list))))
		}
		return list
	}
	return r.Fail(at, r.Locate(at), "Wrong type", fmt.Sprintf("%s cannot be a %s.", Show(at), ty.FriendlyName()))
}

func (r *Reader) object(v cty.Value, t step.Type, accepts string, at []any) any {
	tree := make(map[string]any, v.LengthInt())
	for k, e := range v.Elements() {
		name := k.AsString()
		var et step.Type
		ea, p := accepts, append(at[:len(at):len(at)], Key(name))
		switch f := AttrOf(t.Attrs, name); {
		case f != nil:
			et, ea, p = f.Type, f.Accepts, append(at[:len(at):len(at)], name)
		case t.Kind == step.Object:
			p = append(at[:len(at):len(at)], name)
		case t.Kind == step.Map:
			et = *t.Elem
		}
		if x := r.tree(e, et, ea, p); x != nil {
			tree[name] = x
		}
	}
	return tree
}

// secrets is the value of an attribute for secrets, with sources for sensitive variables.
func (r *Reader) secrets(v cty.Value, rng hcl.Range) cty.Value {
	if len(r.Secrets) == 0 || v.IsMarked() || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return r.Open(v, rng)
	}
	m := v.AsValueMap()
	for k, e := range m {
		if name, ok := r.WholeVariable(e); ok {
			m[k] = cty.StringVal(secret.Variable(name))
		} else if name := language.SensitiveIn(e); name != "" {
			r.Diags.Error(rng, "Sensitive value", fmt.Sprintf("%s is computed from var.%s. A secret must be a variable's unchanged value, since that is found only when the program starts.", k, name))
			return cty.DynamicVal
		}
	}
	if len(m) == 0 {
		return v
	}
	return cty.ObjectVal(m)
}

// Read reads what a block says; false: a value is wrong, or not known yet.
func Read[T any](r *Reader) (said T, ok bool) {
	return Decoded[T](r, r.Body(r.Block.Body, r.Spec.Attrs, nil))
}

// Decoded is Read of a tree that Body has returned.
func Decoded[T any](r *Reader, tree map[string]any) (said T, ok bool) {
	v, err := r.Spec.Decode(tree)
	if err != nil {
		r.Problems(err)
		return said, false
	}
	return v.(T), true
}

// blockForms are how blocks are written that people take for attributes.
var blockForms = map[string]string{"resources": `resources { memory = "12GB" }`, "retry": "retry { times = 3 }"}

// Shape checks a block's body against its attributes and common ones, whose forms are checked elsewhere.
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
			typos.add(b.DefRange(), syntax.Nearest(a.Name, names))
			detail := fmt.Sprintf("%s has no attribute %q. %s", owner, a.Name, syntax.Suggest(a.Name, names, "attribute"))
			if kind, is := strings.CutPrefix(owner, "Kind "); is && syntax.Nearest(a.Name, names) == "" {
				detail += fmt.Sprintf(" `redsi kinds %s` explains them.", strings.Trim(kind, `"`))
			}
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
			detail := syntax.Suggest(inner.Type, blocks, "block")
			if len(blocks) == 0 {
				detail = "It takes only attributes, NAME = VALUE. " + syntax.Suggest(inner.Type, names, "attribute")
			}
			d.Error(inner.TypeRange, "Unknown block", fmt.Sprintf("%s has no block %q. %s", owner, inner.Type, detail))
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
			d.Error(inner.DefRange(), "Wrong labels", "This block is written "+form+".")
		}
		Shape(d, inner, object.Attrs, nil, inner.Type, typos)
	}
}

// rename gives an attribute that is written under its former name its present name.
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
