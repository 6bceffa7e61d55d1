package language_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// expressions adds the expressions of the pipelines in testdata.
func expressions(f *testing.F) {
	for _, dir := range []string{"valid", "invalid", "lint"} {
		sources, err := syntax.ReadAll("../testdata/" + dir)
		testkit.None(f, err)
		for _, name := range syntax.Keys(sources) {
			src := sources[name]
			body := syntax.ParseFile(name, src, syntax.NewCollector(nil))
			if body == nil {
				continue
			}
			hclsyntax.VisitAll(body.Body, func(n hclsyntax.Node) hcl.Diagnostics {
				if a, ok := n.(*hclsyntax.Attribute); ok {
					f.Add(string(a.Expr.Range().SliceBytes(src)))
				}
				return nil
			})
		}
	}
}

// What no expression may say: a secret, and where an artifact is.
const (
	secret = "hunter2-q7hxw"
	place  = "zq9place"
)

// evaluate is an expression's value beside variables, an unknown local value and steps, and what is wrong with it.
func evaluate(source string) (e hclsyntax.Expression, v cty.Value, ds syntax.Diagnostics, awaits bool) {
	c := syntax.NewCollector(map[string][]byte{"x": []byte(source)})
	s := language.NewSession(map[string][]byte{"a.txt": []byte("text"), "t.tmpl": []byte("${n}")}, language.World{}, c, func() error { return errors.New("enough") })
	if !syntax.CheckSource("x", []byte(source), c) {
		return nil, cty.NilVal, c.Done(), false
	}
	e, wrong := hclsyntax.ParseExpression([]byte(source), "x", hcl.InitialPos)
	if wrong.HasErrors() {
		return nil, cty.NilVal, c.Done(), false
	}
	for _, tr := range e.Variables() { // others are reported before anything is evaluated
		if root := tr.RootName(); root != "var" && root != "local" && root != "step" {
			return nil, cty.NilVal, c.Done(), false
		}
	}
	s.RewriteNode(e)
	s.Secrets = map[string]cty.Value{"secret": cty.StringVal(secret)}
	spec := &step.Spec{Kind: step.Kind[any]{Outputs: []step.Output{{Name: "out", Tree: true}, {Name: "report"}}}}
	outputs := func(address string) cty.Value { return language.OutputsOf(spec, spec.Outputs, address, nil) }
	object := func(m map[string]cty.Value) cty.Value { return cty.ObjectVal(m) }
	defer s.Await(language.Awaiting(nil))()
	v = language.Scope{Session: s, Context: &hcl.EvalContext{
		Functions: s.Functions(".", func() bool { return true }),
		Variables: map[string]cty.Value{
			"var": object(map[string]cty.Value{
				"s": cty.StringVal("a,b"), "n": cty.NumberIntVal(3), "none": cty.NullVal(cty.DynamicPseudoType), "secret": cty.StringVal(secret).Mark(language.Sensitive("secret")),
				"list": cty.ListVal([]cty.Value{cty.StringVal("x"), cty.StringVal("y")}), "map": cty.MapVal(map[string]cty.Value{"k": cty.NumberIntVal(1)}),
			}),
			"local": object(map[string]cty.Value{"unknown": cty.DynamicVal, "text": cty.UnknownVal(cty.String)}),
			"step": object(map[string]cty.Value{"k": object(map[string]cty.Value{
				"one":  outputs("step.k." + place),
				"many": cty.MapVal(map[string]cty.Value{"a": outputs("step.k." + place + `["a"]`), "b": outputs("step.k." + place + `["b"]`)}),
			})}),
		},
	}}.Value(e)
	return e, v, c.Done(), s.Awaits.Any()
}

// An expression has a value or a diagnostic, the same each time, without a secret or an artifact's place in a text.
func FuzzValue(f *testing.F) {
	expressions(f)
	for _, source := range []string{
		`[for k in keys(step.k.many) : step.k.many[k].out]`, `step.k.many[*].report`, `step.k.one.out["a.csv"]`, `"${step.k.one.out}"`, `json(step.k.one.report, "f")`,
		`files(step.k.one.out, "*")`, `upper(var.secret)`, `nonsensitive(var.secret == "a")`, `{ (var.secret) = 1 }`, `try(step.k.one.nope, var.none, local.unknown)`,
		`var.list[var.n]`, `product({ a = var.list, b = keys(var.map) })`, `templatefile("t.tmpl", { n = var.secret })`, `file("a.txt")`, `tonumber(var.s)`, `step.k.one.out == step.k.one.report`,
		`jsonencode({ a = step.k.one })`, `coalesce(var.none, local.text)`, `merge(step.k.one, var.map)`, `regexall("(", var.secret)`,
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if strings.Contains(source, "q7hxw") || strings.Contains(source, place) {
			return
		}
		e, v, ds, awaits := evaluate(source)
		for _, d := range ds.List {
			if strings.Contains(strings.ToLower(d.Summary+d.Detail), secret) {
				t.Fatalf("it says the secret: %s", d.Detail)
			}
		}
		if e == nil {
			return
		}
		_, again, more, _ := evaluate(source)
		a, aerr := ds.MarshalJSON()
		b, berr := more.MarshalJSON()
		if aerr != nil || berr != nil || string(a) != string(b) || !v.RawEquals(again) {
			t.Fatalf("%#v, %s and then %#v, %s; %v, %v", v, a, again, b, aerr, berr)
		}
		if ds.HasErrors() {
			return
		}
		if !v.IsWhollyKnown() && !awaits {
			reason := false
			for _, tr := range e.Variables() {
				reason = reason || tr.RootName() == "local"
			}
			if !reason {
				t.Fatalf("without a reason it is %#v", v)
			}
		}
		if err := language.Measure(v); err != nil {
			t.Fatalf("a value beyond the limits: %s", err.Detail)
		}
		plain, _ := v.UnmarkDeep()
		hidden := language.SensitiveIn(v) != ""
		_ = cty.Walk(plain, func(_ cty.Path, x cty.Value) (bool, error) {
			if x.IsKnown() && !x.IsNull() && x.Type() == cty.String {
				switch text := strings.ToLower(x.AsString()); {
				case strings.Contains(text, place):
					t.Fatalf("a text says where an artifact is: %q", text)
				case strings.Contains(text, secret) && !hidden:
					t.Fatalf("a text has the secret: %q", text)
				}
			}
			return true, nil
		})
		if text := language.Text(v, nil); strings.Contains(strings.ToLower(text), secret) {
			t.Fatalf("the secret is shown: %s", text)
		}
	})
}

// A text is no data, or is a value that becomes JSON.
func FuzzDecoders(f *testing.F) {
	calls := []string{"yamldecode", "tomldecode", "jsondecode", "csvdecode", "pick", "dvcdecode"}
	for i := range calls {
		for _, text := range []string{"", "a: 1\nb: [x, {c: null}]\n", "a = 1\n[t]\nx = [true]\n", `{"a": [1, 1.50, "x"]}`, "a,b\n1,2\n", "a: &a [1]\nb: *a\n", "<<: {a: 1}\n", "a: 1e400", "? [a]\n: 1"} {
			f.Add(uint8(i), text)
		}
	}
	functions := func() map[string]function.Function {
		s := language.NewSession(nil, language.World{}, syntax.NewCollector(nil), func() error { return errors.New("enough") })
		return s.Functions(".", nil)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		name := calls[int(which)%len(calls)]
		args := []cty.Value{cty.StringVal(text)}
		if name == "pick" {
			args = append(args, cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b.0")}))
		}
		if name == "dvcdecode" {
			args = append(args, cty.StringVal([]string{"yaml", "json", "toml"}[len(text)%3]))
		}
		v, err := functions()[name].Call(args)
		if err != nil {
			return
		}
		if _, err := stdlib.JSONEncode(v); err != nil || !v.IsWhollyKnown() {
			t.Fatalf("%s is %#v: %v", name, v, err)
		}
		if err := language.Measure(v); err != nil {
			t.Fatalf("%s: a value beyond the limits: %s", name, err.Detail)
		}
	})
}

// Where nothing stands that gets another meaning, a rewritten expression means what it did.
func FuzzRewrite(f *testing.F) {
	expressions(f)
	for _, source := range []string{`"${x}-${y}"`, `[for v in l : upper(v) if v != ""]`, `{ for i, v in l : v => i... }`, `c ? x : y`, `try(m.nope, x)`, "<<EOT\n%{ for v in l }${v}%{ endfor }\nEOT\n", `m["k"]`, `l.0`, `(x)`, `-n + n % 2`} {
		f.Add(source)
	}
	values := map[string]cty.Value{
		"x": cty.StringVal("x"), "y": cty.StringVal(""), "n": cty.NumberIntVal(3), "c": cty.True, "none": cty.NullVal(cty.DynamicPseudoType), "u": cty.UnknownVal(cty.String),
		"l": cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}), "m": cty.ObjectVal(map[string]cty.Value{"k": cty.StringVal("v")}),
	}
	f.Fuzz(func(t *testing.T, source string) {
		if strings.Contains(source, "\r") {
			return // line ends become LF
		}
		c := syntax.NewCollector(nil)
		if !syntax.CheckSource("x", []byte(source), c) {
			return
		}
		before, wrong := hclsyntax.ParseExpression([]byte(source), "x", hcl.InitialPos)
		after, _ := hclsyntax.ParseExpression([]byte(source), "x", hcl.InitialPos)
		if wrong.HasErrors() || meansAnother(before) {
			return
		}
		s := language.NewSession(nil, language.World{}, c, func() error { return errors.New("enough") })
		ctx := &hcl.EvalContext{Variables: values, Functions: s.Functions(".", nil)}
		want, wrong := before.Value(ctx)
		s.ResetMeter()
		s.RewriteNode(after)
		got, ds := after.Value(ctx)
		if s.Ended() {
			return
		}
		if ds.HasErrors() != wrong.HasErrors() || !wrong.HasErrors() && !got.RawEquals(want) {
			t.Fatalf("%#v, %v; before %#v, %v", got, ds, want, wrong)
		}
	})
}

// meansAnother reports whether an expression has a part that rewriting is for.
func meansAnother(e hclsyntax.Expression) (yes bool) {
	hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.SplatExpr, *hclsyntax.IndexExpr:
			yes = true
		case *hclsyntax.BinaryOpExpr:
			yes = yes || n.Op == hclsyntax.OpEqual || n.Op == hclsyntax.OpNotEqual
		case *hclsyntax.FunctionCallExpr:
			yes = yes || n.Name == "product"
		case *hclsyntax.TemplateExpr:
			for _, part := range n.Parts {
				yes = yes || isNumber(part)
			}
		case *hclsyntax.TemplateWrapExpr:
			yes = yes || isNumber(n.Wrapped)
		}
		return nil
	})
	return yes
}

func isNumber(e hclsyntax.Expression) bool {
	lit, ok := e.(*hclsyntax.LiteralValueExpr)
	return ok && lit.Val.Type() == cty.Number
}
