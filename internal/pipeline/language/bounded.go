package language

import (
	"errors"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

// bounded is f with a meter: it counts its results, and is not called where a result would be too large.
func (m *meter) bounded(name string, f function.Function) function.Function {
	guard, variadic := expansions[name], f.VarParam() // a copy
	if variadic != nil {
		*variadic = anything(*variadic)
	}
	return function.New(&function.Spec{
		Params:   lists.Map(f.Params(), anything),
		VarParam: variadic,
		Type:     func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if err := refuse(name, args); err != nil {
				return cty.DynamicVal, err
			}
			if guard != nil {
				plain := lists.Map(args, func(a cty.Value) cty.Value { a, _ = a.UnmarkDeep(); return a })
				if !slices.ContainsFunc(plain, func(a cty.Value) bool { return !a.IsWhollyKnown() || a.IsNull() }) {
					if err := guard(name, plain); err != nil {
						return cty.DynamicVal, err
					}
				}
			}
			v, err := f.Call(args)
			switch {
			case err != nil && slices.ContainsFunc(args, func(a cty.Value) bool { return SensitiveIn(a) != "" }):
				return cty.DynamicVal, errors.New("the reason is not shown, since an argument is sensitive")
			case err != nil:
				return v, failed(name, args, err)
			}
			counted := v
			if name == "toset" { // a set is sorted each time that somebody goes through it
				if _, ok := elementType(args[0], false); ok {
					counted = args[0]
				}
			}
			if tooLarge := m.weigh(counted, lengths(args)/64); tooLarge != nil {
				return cty.DynamicVal, tooLarge
			}
			if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() && !v.IsMarked() { // pow() and log() give 53 bits: digits beyond would be invented
				if f := v.AsBigFloat(); f.IsInt() && f.Prec() < integerBits {
					v = cty.NumberVal(f.SetPrec(integerBits))
				}
			}
			return v, nil
		},
	})
}

// lengths is how many elements the arguments have, not counting those within.
func lengths(args []cty.Value) (n int64) {
	for _, a := range args {
		if a, _ = a.Unmark(); a.IsKnown() && !a.IsNull() && a.CanIterateElements() {
			n += int64(a.LengthInt())
		}
	}
	return n
}

// attempt is try or can, except that an expression that fails because of an artifact fails the call.
func (s *Session) attempt(f function.Function) function.Function {
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type:     func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var found error
			v, err := f.Call(lists.Map(args, func(a cty.Value) cty.Value {
				c := *customdecode.ExpressionClosureFromVal(a)
				c.Expression = &watchedExpr{Expression: c.Expression, s: s, found: &found}
				return customdecode.ExpressionClosureVal(&c)
			}))
			if found != nil {
				return cty.DynamicVal, found
			}
			return v, err
		},
	})
}

// watchedExpr is evaluated once, though the library asks it twice: for its type, too.
type watchedExpr struct {
	hcl.Expression
	s     *Session
	found *error    // the first error about an artifact, of all expressions of a call
	value cty.Value // NilVal before
	ds    hcl.Diagnostics
}

func (e *watchedExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if e.value != cty.NilVal {
		return e.value, e.ds
	}
	e.value, e.ds = e.Expression.Value(ctx)
	for _, d := range e.ds {
		x := limits(d)
		if x == nil {
			x = e.s.explainOpaque(d)
		}
		if x != nil && x.Summary == opaqueTitle && *e.found == nil {
			*e.found = &told{x}
		}
	}
	return e.value, e.ds
}

// Limits of one evaluation. A pipeline may come from anybody, and a few lines can ask for more than any machine has.
const (
	maxText     = syntax.MaxFile // bytes of one text
	maxMade     = 128 << 20      // bytes of all texts that templates and functions make
	maxWork     = 4_000_000      // elements that expressions, functions and loops go through
	maxElements = 500_000        // in one value, in all of its lists and maps
	maxNested   = 100            // lists and maps within each other
	asksEvery   = 1 << 12        // steps of work between two questions whether to stop
)

type meter struct {
	stop  func() error
	work  int64
	asked int64
	built int64
	ended *syntax.Limit // what ended it; nothing is evaluated any more
}

func (m *meter) spend(elements, bytes int64) *syntax.Limit {
	m.work += 1 + elements
	m.built += bytes
	switch {
	case m.ended != nil:
	case m.work > maxWork:
		m.ended = syntax.Over("Too much to evaluate", "The expressions of this pipeline go through more than %d elements. Make the lists that loops and functions go through smaller, or let a command step do this work.", maxWork)
	case m.built > maxMade:
		m.ended = syntax.Over("Too much text", "The expressions of this pipeline make more than %d MiB of text. Let a command step make large texts, and pass them on as artifacts.", maxMade>>20)
	case m.stop != nil && m.work-m.asked >= asksEvery:
		m.asked = m.work
		if err := m.stop(); err != nil {
			m.ended = syntax.Over("Evaluation stopped", "%v.", err)
		}
	}
	return m.ended
}

// weigh measures a value and spends its size, and as many more elements.
func (m *meter) weigh(v cty.Value, more int64) *syntax.Limit {
	s, err := measure(v)
	if err == nil {
		err = m.spend(s.elements+more, s.bytes)
	}
	return err
}

// end ends the evaluation: try() must not take a store that does not answer for a step that left something else.
func (m *meter) end(summary, format string, args ...any) error {
	if m.ended == nil {
		m.ended = syntax.Over(summary, format, args...)
	}
	return m.ended
}

type size struct{ elements, bytes int64 }

// Measure is the limit that a value exceeds; nil: it exceeds none.
func Measure(v cty.Value) *syntax.Limit { return new(size).add(v, 0) }

// measure goes through a value as far as the limits of one value allow.
func measure(v cty.Value) (s size, beyond *syntax.Limit) {
	beyond = s.add(v, 0)
	return s, beyond
}

func (s *size) add(v cty.Value, nested int) *syntax.Limit {
	v, _ = v.Unmark()
	s.elements++
	switch t := v.Type(); {
	case s.elements > maxElements:
		return syntax.Over("Value too large", "This has more than %d elements. Put something this large in a file that a step reads.", maxElements)
	case nested > maxNested:
		return syntax.Over("Value too deep", "Lists or objects are nested more than %d deep here. Make the value flatter.", maxNested)
	case !v.IsKnown() || v.IsNull():
	case t == cty.String:
		n := int64(len(v.AsString()))
		if s.bytes += n; n > maxText {
			return syntax.Over("Text too long", "This text has %d bytes; at most %d are allowed. Let a command step make large texts, and pass them on as artifacts.", n, maxText)
		}
	case t == cty.Number:
		f := v.AsBigFloat()
		if e := f.MantExp(nil); f.IsInf() || e > syntax.MaxExponent || e < -syntax.MaxExponent {
			return syntax.Over("Number out of range", "The size of this number is beyond 2^%d or below 2^-%d.", syntax.MaxExponent, syntax.MaxExponent)
		}
		return nil
	case t.IsObjectType() || t.IsMapType() || t.IsTupleType() || t.IsListType() || t.IsSetType():
		for k, e := range v.Elements() {
			if k.Type() == cty.String && k.IsKnown() && !k.IsNull() && !k.IsMarked() {
				s.bytes += int64(len(k.AsString()))
			}
			if err := s.add(e, nested+1); err != nil {
				return err
			}
		}
	}
	if s.bytes > maxMade {
		return syntax.Over("Value too large", "This has more than %d MiB of text.", maxMade>>20)
	}
	return nil
}

// metered is an expression that counts its value each time. Walkers see a pair of parentheses.
type metered struct {
	*hclsyntax.ParenthesesExpr
	m *meter
}

func (e metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, ds := e.Expression.Value(ctx)
	if ds.HasErrors() {
		return v, ds
	}
	err := e.m.weigh(v, 0)
	if err == nil {
		return v, ds
	}
	d := err.At(e.StartRange())
	d.Expression, d.EvalContext, d.Extra = e, ctx, err
	return cty.DynamicVal, append(ds, d)
}

func (m *meter) around(e hclsyntax.Expression) hclsyntax.Expression {
	switch x := e.(type) {
	case nil, *hclsyntax.LiteralValueExpr:
		return e
	case *hclsyntax.TemplateExpr:
		if x.IsStringLiteral() {
			return e
		}
	}
	return metered{&hclsyntax.ParenthesesExpr{Expression: e, SrcRange: e.Range()}, m}
}

// aroundMade is around for all expressions except references, whose values have been measured.
func (m *meter) aroundMade(e hclsyntax.Expression) hclsyntax.Expression {
	if _, ok := e.(*hclsyntax.ScopeTraversalExpr); ok {
		return e
	}
	return m.around(e)
}

// limit puts the meter where an expression can turn little into much.
func (m *meter) limit(n hclsyntax.Node) {
	switch e := n.(type) {
	case *hclsyntax.TemplateExpr:
		for i := range e.Parts {
			e.Parts[i] = m.around(e.Parts[i])
		}
	case *hclsyntax.ForExpr:
		e.CollExpr = m.aroundMade(e.CollExpr)
		// In parentheses, since loops over constants count, too.
		e.ValExpr = m.around(&hclsyntax.ParenthesesExpr{Expression: e.ValExpr, SrcRange: e.ValExpr.Range()})
		if e.KeyExpr != nil {
			e.KeyExpr = m.around(e.KeyExpr)
		}
		if e.CondExpr != nil {
			e.CondExpr = m.around(e.CondExpr)
		}
	case *hclsyntax.FunctionCallExpr:
		for i := range e.Args {
			e.Args[i] = m.aroundMade(e.Args[i])
		}
	}
}
