package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestUnread: a type of block that nothing here reads is a mistake in this program, and no block without effect.
func TestUnread(t *testing.T) {
	known := declare.Types
	defer func() { declare.Types = known }()
	for makes, src := range map[declare.Makes]string{declare.MakesNode: `new "a" {}`, declare.MakesOnce: "new {}"} {
		typ := declare.Type{Name: "new", Makes: makes, Form: &step.Spec{}}
		if makes == declare.MakesNode {
			typ.Labels = []string{"NAME"}
		}
		declare.Types = append(slices.Clone(known), typ)
		sources := map[string][]byte{"p.hcl": []byte(src)}
		s := language.NewSession(sources, language.World{}, syntax.NewCollector(sources), nil)
		func() {
			defer func() {
				testkit.Is(t, fmt.Sprint(recover()), "evaluate: no case reads a new block", src)
			}()
			Evaluate(s, declare.Declare(s, sources, declare.Options{Registry: step.NewRegistry()}), Given{}, Options{})
		}()
	}
}

// TestUnexplained: what is not known, and waits for nothing, is an error with its line wherever it stands.
func TestUnexplained(t *testing.T) {
	type echo struct {
		Words []string `hcl:"words" help:"What it says."`
	}
	run := func(context.Context, *step.IO, echo) error { return nil }
	registry := step.NewRegistry(step.Define(step.Kind[echo]{Name: "echo", Version: 1, Doc: "Says words.", Outputs: []step.Output{{Name: "out"}}, Run: run}))
	unanswered := function.New(&function.Spec{
		Type: function.StaticReturnType(cty.Bool),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.UnknownVal(cty.Bool), nil },
	})
	load := func(src string) (*Result, *Opened, syntax.Diagnostics) {
		sources := map[string][]byte{"p.hcl": []byte(src)}
		s := language.NewSession(sources, language.World{}, syntax.NewCollector(sources), nil)
		s.Functions(".", func() bool { return false })["unanswered"] = unanswered
		r, o := Evaluate(s, declare.Declare(s, sources, declare.Options{Registry: registry}), Given{}, Options{})
		return r, o, s.Diags.Done()
	}
	const plain = "step \"echo\" \"a\" {\n words = [\"b\"]\n"
	for name, src := range map[string]string{
		"attribute": "step \"echo\" \"a\" {\n\n words = unanswered() ? [\"b\"] : []\n}",
		"element":   "step \"echo\" \"a\" {\n\n words = [\"b\", unanswered() ? \"c\" : \"d\"]\n}",
		"for_each":  plain + " for_each = unanswered() ? [\"b\"] : []\n}",
		"keys":      plain + " for_each = { for x in [\"b\"] : (unanswered() ? \"c\" : x) => x }\n}",
		"when":      plain + " when = unanswered()\n}",
		"keep":      plain + " keep = unanswered()\n}",
		"local":     "locals {\n\n a = { b = unanswered() }\n}",
		"try":       "locals {\n\n a = try(unanswered(), true)\n}",
		"publish":   "publish \"a\" {\n to = \"b\"\n files = unanswered() ? [] : []\n}",
		"resources": plain + "\n resources {\n cpus = unanswered() ? 1 : 2\n}\n}",
		"variable":  "variable \"a\" {\n default = 1\n validation {\n condition = unanswered()\n error_message = \"no\"\n }\n}",
		"limits":    "limits {\n\n a = unanswered() ? 1 : 2\n}",
		"console":   "",
	} {
		_, o, ds := load(src)
		if name == "console" {
			_, ds = o.Value(WholeExpression("<test>", []byte("!unanswered()")))
		}
		if text := ds.Lines(); !strings.Contains(text, "This has no value, though") || strings.Contains(text, ":1:") != (name == "console") {
			t.Errorf("%s: %s", name, text)
		}
	}
	// What is not known because of a mistake that is reported is not what a step decides.
	_, _, ds := load("variable \"v\" {\n default = \"x\"\n validation {\n condition = var.v == \"y\"\n error_message = \"no\"\n }\n}\n" +
		plain + " when = var.v == \"y\"\n}\nlocals {\n a = step.echo.a.out\n}")
	if n, _ := ds.Count(); n != 1 {
		t.Errorf("a wrong variable: %v", ds.Err())
	}
	// What waits for a step does so still, and its dependents are not blamed.
	r, _, ds := load(`step "echo" "a" {
  words = ["b"]
}
step "echo" "c" {
  words = [json(step.echo.a.out, "x") == 1 ? "y" : "z"]
}
`)
	testkit.That(t, !ds.HasErrors() && len(r.Steps) == 2 && r.Steps[1].Pending(), "a step that waits", ds.Err())
}
