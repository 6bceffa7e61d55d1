package language

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// instancesFunction cannot be written in a pipeline: it is not an identifier.
const instancesFunction = "[*]"

// Rewrite gives three expressions a meaning that the language alone does not:
//
//   - step.train.dsi[*] is the list of the block's instances, by key, though
//     their collection is a map;
//   - step.split.nq.out["a.fa"] is a file of the tree, though an artifact has no elements;
//   - product({ b = …, a = … }) joins keys in the order in which the attributes
//     are written, though objects have no order;
//
// gives heredocs the line ends that they have in any checkout, puts the meter where values are
// made, and operators that refuse artifacts where values are compared. The types of variables are
// not values.
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
		pickFrom(n)
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
					e.Args = append(e.Args, writtenOrder(o))
				}
			}
		}
		return nil
	})
}

// Unwrap is an expression without parentheses, written or of the rewriting.
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

func writtenOrder(o *hclsyntax.ObjectConsExpr) *hclsyntax.TupleConsExpr {
	t := &hclsyntax.TupleConsExpr{SrcRange: o.SrcRange, OpenRange: o.OpenRange}
	for _, it := range o.Items {
		t.Exprs = append(t.Exprs, it.KeyExpr)
	}
	return t
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
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v := args[0]
		t := v.Type()
		if !t.IsMapType() || v.IsNull() {
			return v, nil
		}
		if !v.IsKnown() {
			return cty.UnknownVal(cty.List(t.ElementType())), nil
		}
		if v.LengthInt() == 0 {
			return cty.ListValEmpty(t.ElementType()), nil
		}
		return cty.ListVal(v.AsValueSlice()), nil
	},
})
