package language

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

// instancesFunction cannot be written in a pipeline: it is not an identifier.
const instancesFunction = "[*]"

// Rewrite gives three expressions a meaning that HCL does not:
//
//   - step.train.dsi[*] is the list of the block's instances, by key, though their collection is a map;
//   - step.split.nq.out["a.fa"] is a file of the tree, though an artifact has no elements;
//   - product({ b = …, a = … }) joins keys in the order in which the attributes are written, though objects have no order;
//
// gives heredocs the line ends that they have in any checkout, puts the meter where values are computed, and operators that
// refuse artifacts where values are compared. The types of variables are not values.
func (s *Session) Rewrite(b *hclsyntax.Body) {
	for _, a := range b.Attributes {
		s.RewriteNode(a.Expr)
	}
	for _, inner := range b.Blocks {
		if inner.Type != "variable" {
			s.Rewrite(inner.Body)
			continue
		}
		for name, a := range inner.Body.Attributes {
			if name != "type" {
				s.RewriteNode(a.Expr)
			}
		}
		for _, check := range inner.Body.Blocks {
			s.Rewrite(check.Body)
		}
	}
}

// RewriteNode is Rewrite of one expression or template.
func (s *Session) RewriteNode(root hclsyntax.Node) {
	hclsyntax.VisitAll(root, func(n hclsyntax.Node) hcl.Diagnostics {
		defer s.meter.limit(n)
		syntax.UnixLines(n)
		switch e := n.(type) {
		case *hclsyntax.TemplateExpr:
			for i, part := range e.Parts {
				e.Parts[i] = foreign(part)
			}
		case *hclsyntax.TemplateWrapExpr:
			e.Wrapped = foreign(e.Wrapped)
		case *hclsyntax.BinaryOpExpr:
			if op := comparisons[e.Op]; op != nil {
				e.Op = op
			}
		case *hclsyntax.IndexExpr:
			e.Collection = pickable{&hclsyntax.ParenthesesExpr{Expression: e.Collection, SrcRange: e.Collection.Range()}, e.Key}
		case *hclsyntax.ScopeTraversalExpr:
			first := 2
			if e.Traversal.RootName() == "step" {
				first = 4 // step.KIND.NAME[KEY] is an instance
			}
			pickParts(e.Traversal, first)
		case *hclsyntax.RelativeTraversalExpr:
			pickParts(e.Traversal, 0)
		case *hclsyntax.SplatExpr:
			rng := e.Source.Range()
			s.splats[e.Item] = e.Source
			e.Source = &hclsyntax.FunctionCallExpr{
				Name: instancesFunction, Args: []hclsyntax.Expression{e.Source},
				NameRange: rng, OpenParenRange: rng, CloseParenRange: rng,
			}
		case *hclsyntax.FunctionCallExpr:
			if e.Name == "product" && len(e.Args) == 1 {
				if o, ok := Unwrap(e.Args[0]).(*hclsyntax.ObjectConsExpr); ok {
					keys := lists.Map(o.Items, func(it hclsyntax.ObjectConsItem) hclsyntax.Expression { return it.KeyExpr })
					e.Args = append(e.Args, &hclsyntax.TupleConsExpr{Exprs: keys, SrcRange: o.SrcRange, OpenRange: o.OpenRange})
				}
			}
		}
		return nil
	})
}

// Unwrap is an expression without parentheses, whether the source or Rewrite has put them there.
func Unwrap(e hclsyntax.Expression) hclsyntax.Expression {
	for {
		switch p := e.(type) {
		case *hclsyntax.ParenthesesExpr:
			e = p.Expression
		case metered:
			e = p.Expression
		case pickable:
			e = p.Expression
		default:
			return e
		}
	}
}

// instancesOf turns a map into the list of its values by key, and leaves all else to the splat operator.
var instancesOf = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "source", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true}},
	Type: func(args []cty.Value) (cty.Type, error) {
		t := args[0].Type()
		if t.IsMapType() && !args[0].IsNull() {
			return cty.List(t.ElementType()), nil
		}
		return t, nil
	},
	Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
		switch v := args[0]; {
		case !v.Type().IsMapType() || v.IsNull():
			return v, nil
		case !v.IsKnown():
			return cty.UnknownVal(t), nil
		case v.LengthInt() == 0:
			return cty.ListValEmpty(t.ElementType()), nil
		default:
			return cty.ListVal(v.AsValueSlice()), nil
		}
	},
})

// The evaluator follows step.command.split.out["a.fa"] as an element of a collection, by the reference's own methods or the
// value's type. So a part is replaced by a picked, which knows artifacts, and a value by an object with the one element.

// picked is the index of a reference that may follow an artifact.
type picked struct{ hcl.TraverseIndex }

func (t picked) TraversalStep(v cty.Value) (cty.Value, hcl.Diagnostics) {
	a := treeOf(v)
	if a == nil {
		return t.TraverseIndex.TraversalStep(v)
	}
	x, err := a.pick(t.Key)
	if err != nil {
		return cty.DynamicVal, hcl.Diagnostics{noFile(err, t.SrcRange, nil, nil)}
	}
	return x, nil
}

// pickable is a collection that may be an artifact, of which key is taken. Walkers see a pair of parentheses.
type pickable struct {
	*hclsyntax.ParenthesesExpr
	key hclsyntax.Expression
}

func (e pickable) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, ds := e.Expression.Value(ctx)
	a := treeOf(v)
	if ds.HasErrors() || a == nil {
		return v, ds
	}
	k, more := e.key.Value(ctx)
	if k, _ = k.Unmark(); more.HasErrors() || !k.IsKnown() {
		return cty.DynamicVal, ds // the index says it, too
	}
	x, err := a.pick(k)
	if err != nil {
		return cty.DynamicVal, append(ds, noFile(err, e.key.Range(), e, ctx))
	}
	return cty.ObjectVal(map[string]cty.Value{k.AsString(): x}), ds
}

func pickParts(tr hcl.Traversal, first int) {
	for i := first; i < len(tr); i++ {
		if t, ok := tr[i].(hcl.TraverseIndex); ok {
			tr[i] = picked{t}
		}
	}
}

// written is a part of a reference without the wrapper of Rewrite.
func written(t hcl.Traverser) hcl.Traverser {
	if p, ok := t.(picked); ok {
		return p.TraverseIndex
	}
	return t
}

// Names are the leading names of a reference: step.train.dsi and step["train"].dsi are the same.
func Names(tr hcl.Traversal) []string {
	var out []string
	for _, t := range tr {
		switch t := written(t).(type) {
		case hcl.TraverseRoot:
			out = append(out, t.Name)
		case hcl.TraverseAttr:
			out = append(out, t.Name)
		case hcl.TraverseIndex:
			if t.Key.Type() != cty.String || t.Key.IsNull() || !t.Key.IsKnown() {
				return out
			}
			out = append(out, t.Key.AsString())
		default:
			return out
		}
	}
	return out
}

// source writes a reference as in a pipeline.
func source(tr hcl.Traversal) string {
	var b strings.Builder
	for _, t := range tr {
		switch t := written(t).(type) {
		case hcl.TraverseRoot:
			b.WriteString(t.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + t.Name)
		case hcl.TraverseIndex:
			switch {
			case t.Key.Type() == cty.String && t.Key.IsKnown() && !t.Key.IsNull():
				fmt.Fprintf(&b, "[%q]", t.Key.AsString())
			case t.Key.Type() == cty.Number && t.Key.IsKnown() && !t.Key.IsNull():
				fmt.Fprintf(&b, "[%s]", t.Key.AsBigFloat().Text('g', -1))
			default:
				b.WriteString("[…]")
			}
		}
	}
	return b.String()
}

// steps follows a reference from a value to the first part that is missing: of lacks k.
func steps(of string, v cty.Value, rest hcl.Traversal) (string, cty.Value, cty.Value) {
	for _, t := range rest {
		next, ds := t.TraversalStep(v)
		if ds.HasErrors() {
			switch t := written(t).(type) {
			case hcl.TraverseAttr:
				return of, v, cty.StringVal(t.Name)
			case hcl.TraverseIndex:
				return of, v, t.Key
			}
			break
		}
		of += source(hcl.Traversal{t})
		v = next
	}
	return of, cty.NilVal, cty.NilVal
}

// Shell and awk have ${ } of their own, which HCL takes for its own and would often replace without a word.

// foreignNumber is the ${1} of another language: an error once it is evaluated, since nobody writes a number so.
type foreignNumber struct{ *hclsyntax.LiteralValueExpr }

func (e foreignNumber) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	n := e.Val.AsBigFloat().Text('f', 0)
	return cty.DynamicVal, hcl.Diagnostics{syntax.Over("Number in a template",
		"${%s} would be replaced by the number before a program sees the text. %s For the number, write %[1]s.", n, LeaveToProgram(n)).At(e.Range())}
}

// foreign marks a number in a template that may be a program's argument or field, such as ${1}.
func foreign(e hclsyntax.Expression) hclsyntax.Expression {
	if lit, ok := e.(*hclsyntax.LiteralValueExpr); ok && lit.Val.Type() == cty.Number {
		if n, accuracy := lit.Val.AsBigFloat().Int64(); accuracy == big.Exact && n < 1000 {
			return foreignNumber{lit}
		}
	}
	return e
}

// LeaveToProgram says how ${name} reaches a program as it is.
func LeaveToProgram(name string) string {
	return fmt.Sprintf("For a program's own ${%s}, such as a shell's or awk's, write $${%[1]s}.", name)
}
