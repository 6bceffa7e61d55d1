package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/step"
)

// TestPublish: a publish block names outputs and a folder beside the pipeline, and makes no step.
func TestPublish(t *testing.T) {
	const head = `variable "folder" { default = "results/plots" }
step "command" "plot" { argv = ["plot"] }
`
	for body, want := range map[string]string{
		"files = step.command.plot.out\n to = var.folder":                                                              "[{a results/plots [step.command.plot.out] dir/p.hcl:3}]",
		"files = [step.command.plot.out, step.command.plot.stdout]\n to = \"x/\"":                                      "[{a x/ [step.command.plot.out step.command.plot.stdout] dir/p.hcl:3}]",
		"files = step.command.plot.out":                                                                                "Missing attribute",
		"files = step.command.plot\n to = \"x\"":                                                                       "Step instead of an output",
		"files = \"out\"\n to = \"x\"":                                                                                 "files: want artifacts",
		"files = step.command.nope.out\n to = \"x\"":                                                                   `There is no step.command.nope. Did you mean "step.command.plot"?`,
		"files = step.command.plot.out\n to = \"../x\"":                                                                "it is a folder below",
		"files = step.command.plot.out\n to = \"/x\"":                                                                  "it is a folder below",
		"files = step.command.plot.out\n to = \".\"":                                                                   "it is a folder below",
		"files = step.command.plot.out\n to = \"x/.git/hooks\"":                                                        "no part of it begins with a dot",
		"files = step.command.plot.out\n to = 1":                                                                       "[{a 1 [step.command.plot.out] dir/p.hcl:3}]",
		"files = step.command.plot.out\n to = \"x\"\n mode = 1":                                                        `The publish block has no attribute "mode"`,
		"files = step.command.plot.out\n to = \"x\"\n}\npublish \"a\" {\n files = 1\n to = 2":                          "Declared twice",
		"files = step.command.plot.out\n to = \"x\"\n}\npublish \"b\" {\n files = step.command.plot.out\n to = \"x/\"": `The block publish "a" writes step.command.plot.out into x/, too.`,
	} {
		p, ds := pipeline.Load(map[string][]byte{"dir/p.hcl": []byte(head + "publish \"a\" {\n" + body + "\n}\n")}, pipeline.Options{Registry: kinds()})
		got := fmt.Sprint(ds)
		if p != nil {
			got = fmt.Sprint(p.Publish)
		}
		if !strings.Contains(got, want) || p != nil && len(p.Steps) != 1 {
			t.Errorf("%s: %s", body, got)
		}
	}
	type source struct {
		Path string `hcl:"path" help:"x"`
	}
	folders := step.NewRegistry(*kinds().Lookup("command"), step.Define(step.Kind[source]{Name: "source", Version: 1, Doc: "Reads.", Block: true, Run: noRun[source],
		Outputs: []step.Output{{Name: "files", Type: "files", Tree: true}}}))
	if path, _, ok := pipeline.SourceOf(step.Task{Kind: declare.SourceKind, Config: []byte(`{"ignore": true}`)}, pipeline.Pos{File: "p.hcl"}); ok {
		t.Errorf("a source whose path a step decides reads %q", path)
	}
	for source, to := range map[string][2]string{"data": {"data/derived", "data2"}, ".": {"results", ""}, "**": {"results", ""}, "data/*": {"data", "data/derived"}, "d/**/*": {"d/x", "e"}, "d/**/*.csv": {"", "d"}, "*.csv": {"", "x"}, "x.csv": {"", "x"}} {
		for i, to := range to {
			_, ds := pipeline.Load(map[string][]byte{"dir/p.hcl": []byte(fmt.Sprintf("source \"s\" { path = %q }\n%spublish \"a\" {\n  files = step.command.plot.out\n  to = %q\n}\n", source, head, to))}, pipeline.Options{Registry: folders})
			text, err := ds.MarshalJSON()
			if warned := err == nil && strings.Contains(string(text), "source.s reads dir"); to != "" && warned != (i == 0) {
				t.Errorf("%s into %s: %v", to, source, ds)
			}
		}
	}
}
