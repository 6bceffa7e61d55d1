package pipeline

import (
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

// config reads the configuration tree of one instance.
type config struct {
	l      *loader
	b      *block
	inst   *instance
	broken [][]any // paths of values that are wrong; reported

	outputs map[step.Ref]step.Output // artifacts among the values
	read    map[string]*step.Spec    // the steps that they are of
}

// broken stands in a tree for a value that is known to be wrong. No type takes
// it, so a kind's own checks never see a configuration that has one.
type broken struct{}

func (c *config) failed() bool { return len(c.broken) > 0 }

// body reads the attributes and blocks of a body, at a path from the block.
// Names that do not belong there have been reported.
func (c *config) body(b *hclsyntax.Body, attrs []step.Attr, at []any) map[string]any {
	tree := map[string]any{}
	for i := range attrs {
		a := &attrs[i]
		p := append(at[:len(at):len(at)], a.Name)
		if x := b.Attributes[a.Name]; x != nil && !a.Label {
			given := c.l.value(x.Expr, c.inst.ctx, c.inst)
			if a.Secret {
				given = c.secrets(given, x.Expr.Range())
			} else {
				given = c.l.open(given, x.Expr.Range(), c.inst)
			}
			v := c.tree(given, a.Type, a.Accepts, p)
			if v != nil {
				tree[a.Name] = v
			}
			continue
		}
		if a.Block {
			if v := c.blocks(b, a, p); v != nil {
				tree[a.Name] = v
			}
		}
	}
	return tree
}

// blocks reads the repeated blocks of an attribute; nil if there are none.
func (c *config) blocks(b *hclsyntax.Body, a *step.Attr, at []any) any {
	object := blockObject(a)
	label := labelOf(object)
	var list []any
	for _, inner := range syntax.Blocks(b, a.Name) {
		if a.Type.Kind != step.List && len(list) > 0 {
			c.fail(at, inner.TypeRange, "Block written twice", fmt.Sprintf("%s has one block %s.", c.inst.address, a.Name))
			return broken{}
		}
		p := at
		if a.Type.Kind == step.List {
			p = append(at[:len(at):len(at)], len(list))
		}
		tree := c.body(inner.Body, object.Attrs, p)
		if label != "" && len(inner.Labels) == 1 {
			tree[label] = inner.Labels[0]
		}
		if label != "" && len(inner.Labels) != 1 { // reported with the shape
			tree[label] = broken{}
			c.broken = append(c.broken, append(p[:len(p):len(p)], label))
		}
		list = append(list, tree)
	}
	switch {
	case len(list) == 0:
		return nil
	case a.Type.Kind == step.List:
		return list
	}
	return list[0]
}

// fail reports a wrong value and remembers where it is.
func (c *config) fail(at []any, rng hcl.Range, summary, detail string) broken {
	c.broken = append(c.broken, at)
	about := detail
	if len(at) > 0 {
		about = pattern(at)
	}
	c.l.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &rng}, c.inst.of(), about)
	return broken{}
}

// tree turns a value into a configuration tree. The type says what is wanted,
// as far as artifacts are concerned; the rest is for the kind to check.
func (c *config) tree(v cty.Value, t step.Type, accepts string, at []any) any {
	if !v.IsKnown() {
		c.broken = append(c.broken, at)
		return broken{}
	}
	if v.IsNull() {
		return nil
	}
	ty := v.Type()
	if t.Kind == step.InputOne || t.Kind == step.InputMany {
		if address, ok := language.StepOf(v); ok {
			return c.fail(at, c.locate(at), "Step instead of an output",
				fmt.Sprintf("%s takes an artifact, and %s is a step. Name one of its outputs: %s.", show(at), address, language.OutputNames(v, address)))
		}
	}
	switch {
	case ty == language.ArtifactType:
		a := v.EncapsulatedValue().(*language.Artifact)
		if accepts != "" && !slices.Contains(strings.Split(accepts, ","), a.Output.Type) {
			return c.fail(at, c.locate(at), "Wrong kind of artifact",
				fmt.Sprintf("%s takes %s, but %s is %s.", show(at), strings.ReplaceAll(accepts, ",", " or "), a.Ref, typeName(a.Output.Type)))
		}
		ref := a.Ref
		if c.outputs == nil {
			c.outputs, c.read = map[step.Ref]step.Output{}, map[string]*step.Spec{}
		}
		c.outputs[ref], c.read[ref.Step] = a.Output, a.Spec
		return step.Input{Ref: &ref}
	case ty == cty.String:
		return v.AsString()
	case ty == cty.Bool:
		return v.True()
	case ty == cty.Number:
		return language.Number(v.AsBigFloat())
	case ty.IsObjectType() || ty.IsMapType():
		return c.object(v, t, accepts, at)
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		elem := t
		if t.Kind == step.List {
			elem = *t.Elem
		}
		list := make([]any, 0, v.LengthInt())
		for _, e := range v.Elements() {
			list = append(list, c.tree(e, elem, accepts, append(at[:len(at):len(at)], len(list))))
		}
		return list
	}
	return c.fail(at, c.locate(at), "Wrong type", fmt.Sprintf("%s cannot be a %s.", show(at), ty.FriendlyName()))
}

func (c *config) object(v cty.Value, t step.Type, accepts string, at []any) any {
	tree := make(map[string]any, v.LengthInt())
	for k, e := range v.Elements() {
		name := k.AsString()
		var et step.Type
		ea, p := accepts, append(at[:len(at):len(at)], key(name))
		switch f := AttrOf(t.Attrs, name); {
		case f != nil:
			et, ea, p = f.Type, f.Accepts, append(at[:len(at):len(at)], name)
		case t.Kind == step.Object:
			p = append(at[:len(at):len(at)], name)
		case t.Kind == step.Map:
			et = *t.Elem
		}
		if x := c.tree(e, et, ea, p); x != nil {
			tree[name] = x
		}
	}
	return tree
}

func typeName(t string) string {
	if t == "" {
		return "of no declared type"
	}
	return t
}

// secrets is the value of an attribute for secrets, with sources instead of
// sensitive variables.
func (c *config) secrets(v cty.Value, rng hcl.Range) cty.Value {
	if !c.l.HasSecrets() || v.IsMarked() || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return c.l.open(v, rng, c.inst)
	}
	m := v.AsValueMap()
	for k, e := range m {
		if name, ok := c.l.WholeVariable(e); ok {
			m[k] = cty.StringVal(secret.Variable(name))
		} else if name := language.SensitiveIn(e); name != "" {
			c.l.Diags.Error(rng, "Sensitive value", fmt.Sprintf("%s is made of var.%s. A secret must be a whole variable, since its value is found only when the program starts.", k, name))
			return cty.DynamicVal
		}
	}
	if len(m) == 0 {
		return v
	}
	return cty.ObjectVal(m)
}
