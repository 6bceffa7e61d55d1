package testfile_test

import (
	"context"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/testfile"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

type fitConfig struct {
	Rate float64 `hcl:"rate,optional" help:"Rate."`
	Name string  `hcl:"name,optional" help:"Name."`
}

func registry() *step.Registry {
	return step.NewRegistry(step.Define(step.Kind[fitConfig]{Name: "fit", Version: 1, Doc: "Fits.", Outputs: []step.Output{{Name: "out"}},
		Run: func(context.Context, *step.IO, fitConfig) error { return nil }}))
}

func TestParseMistakes(t *testing.T) {
	for source, want := range map[string]string{
		`run {}`:                                             "label",
		`runs "x" {}`:                                        "Did you mean",
		`run "x" { command = "plan" }`:                       "command is plan or apply",
		`run "x" { command = destroy }`:                      "command is plan or apply",
		`run "x" { targets = "a" }`:                          "list of texts",
		`run "x" { targets = [null] }`:                       "list of texts",
		`run "x" { pipeline = 1 }`:                           "is a text",
		`run "x" { pipeline = var.x }`:                       "ariables",
		"run \"x\" {\n  assert { condition = 1 }\n}":         "error_message",
		"run \"x\" {}\nrun \"x\" {}":                         "another run",
		"run \"x\" {\n  variables {\n    v \"x\" {}\n  }\n}": "lock",
		`run "x" {`:                                          "Unclosed",
	} {
		_, ds := testfile.Parse("x.test.hcl", []byte(source))
		testkit.ErrSays(t, ds.Err(), want)
	}
}

const paper = `
variable "n" { default = 1 }
step "fit" "a" { rate = var.n / 2 }
step "fit" "all" {
  for_each = ["x", "y"]
  name     = each.key
}
`

// check evaluates a condition after a plan in which all must run.
func check(t *testing.T, condition string) ([]testfile.Failure, error) {
	t.Helper()
	f, ds := testfile.Parse("x.test.hcl", []byte("variables { n = 1 }\nrun \"x\" {\n  variables { n = 3 }\n  assert {\n    condition = "+condition+"\n    error_message = \"n is ${var.n}\"\n  }\n}\n"))
	testkit.None(t, ds.Err())
	s, p, ds := pipeline.Open(map[string][]byte{"p.hcl": []byte(paper)}, pipeline.Options{Registry: registry(), VarFiles: f.Runs[0].Variables})
	testkit.None(t, ds.Err())
	w := testfile.World{Scope: s}
	for _, x := range p.Steps {
		tree, err := x.Task.Tree()
		testkit.None(t, err)
		w.Steps = append(w.Steps, testfile.Step{Address: x.Address, Block: x.Block, Kind: x.Kind, Name: x.Name, Key: x.Key, Outcome: "RUN", Config: tree})
	}
	w.Steps = append(w.Steps, testfile.Step{Address: "module.m.step.fit.a", Block: "step", Kind: "fit", Name: "a", Outcome: "HIT", Config: map[string]any{}})
	w.Outputs = func(address string) (map[string]any, error) {
		return map[string]any{"out": map[string]any{"text": "left by " + address}}, nil
	}
	return f.Runs[0].Check(w)
}

func TestCheck(t *testing.T) {
	for _, condition := range []string{
		`var.n == 3`,
		`length(plan.steps) == 4 && plan.run == 3 && plan.hit == 1 && plan.kinds.fit == 4`,
		`step.fit.a.config.rate == 1.5`,
		`keys(step.fit.all) == keys({ x = 1, y = 1 })`,
		`step.fit.all["y"].config.name == "y"`,
		`step.fit.a.outcome == "RUN" && step.fit.a.kind == "fit"`,
		`step.fit.a.outputs.out.text == "left by step.fit.a"`,
		`!can(step.fit.none)`,
		`plan.steps[0] == "step.fit.a"`,
		`length(table) == 0`,
	} {
		if f, err := check(t, condition); err != nil || len(f) > 0 {
			t.Errorf("%s: %+v, %v", condition, f, err)
		}
	}
	f, err := check(t, `length(plan.steps) == 5 || (var.n > 3)`)
	if err != nil || len(f) != 1 {
		t.Fatal(f, err)
	}
	want := testfile.Failure{File: "x.test.hcl", Line: 5, Message: "n is 3", Condition: `length(plan.steps) == 5 || (var.n > 3)`,
		Values: []testfile.Value{{"length(plan.steps)", "4"}, {"5", "5"}, {"var.n", "3"}, {"3", "3"}}}
	testkit.Deep(t, f[0], want)
	for condition, want := range map[string]string{
		`"text"`:        "true or false",
		`step.fit.none`: "x.test.hcl:5",
		`locl.x`:        `Did you mean "local"`,
		`null`:          "true or false",
	} {
		testkit.ErrSays(t, testkit.Err(check(t, condition)), want)
	}
}
