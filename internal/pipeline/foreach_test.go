package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

// TestForEachOfSet: toset() in a for_each, which need not be made, is what it is elsewhere, mistakes too.
func TestForEachOfSet(t *testing.T) {
	said := func(locals, forEach string) string {
		src := fmt.Sprintf("locals {\n%s}\nvariable \"s\" {\n  sensitive = true\n}\n"+
			"step \"download\" \"a\" {\n  url      = \"https://x/${each.key}/${each.value}\"\n  for_each = %s\n}\n", locals, forEach)
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"s": "x"}})
		var b strings.Builder
		for _, d := range ds.List {
			fmt.Fprintf(&b, "%s: %s\n", d.Summary, d.Detail)
		}
		if p != nil {
			for _, s := range p.Steps {
				fmt.Fprintf(&b, "%s %s\n", s.Address, s.Task.Config)
			}
		}
		return b.String()
	}
	for list, want := range map[string]string{
		`["b", "a", "b"]`:                 `step.download.a["a"]`,
		`["b", 1, true]`:                  `step.download.a["true"]`,
		`tolist(["b", "a", "b"])`:         `step.download.a["b"]`,
		`toset(["b", "a"])`:               `step.download.a["b"]`,
		`keys({ y = 1, x = 2 })`:          `step.download.a["y"]`,
		`[for i in range(3) : "k${i}"]`:   `step.download.a["k2"]`,
		`[]`:                              "",
		`["a", null]`:                     "an element that is null",
		`[1, 2]`:                          "an element that is a number",
		`["a", ["b"]]`:                    "Invalid function argument",
		`["a", "", "a"]`:                  "It has an empty key",
		`null`:                            "It is null",
		`"text"`:                          "Invalid function argument",
		`{ a = "b" }`:                     "Invalid function argument",
		`["a", var.s]`:                    "Sensitive value",
		`[for s in ["a", "b"] : no.such]`: "Unknown name",
	} {
		direct := said("", "toset("+list+")")
		if through := said("  k = toset("+list+")\n", "local.k"); !strings.Contains(direct, want) || direct != through {
			t.Errorf("%s is %s, and by a local %s; want %q", list, direct, through, want)
		}
	}
}
