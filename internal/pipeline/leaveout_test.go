package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

// TestOnFailureMistakes: on_failure stands beside the for_each of a step, and at_least beside it.
func TestOnFailureMistakes(t *testing.T) {
	for body, want := range map[string]string{
		"on_failure = \"leave_out\"":                                    "",
		"on_failure = \"leave_out\"\n  at_least = 0.95":                 "",
		"on_failure = \"leave_out\"\n  at_least = 2":                    "",
		"on_failure = \"leave_out\"\n  at_least = 1.5":                  "at_least is a share above 0 and below 1",
		"on_failure = \"leave_out\"\n  at_least = 0":                    "at_least is a share above 0 and below 1",
		"on_failure = \"leave_out\"\n  at_least = var.none":             "at_least is a share above 0 and below 1",
		"on_failure = \"ignore\"":                                       `on_failure is "leave_out"`,
		"at_least   = 2":                                                `at_least stands beside on_failure = "leave_out"`,
		"on_failure = \"leave_out\"\n  for_each   = toset([\"again\"])": "",
	} {
		each := "  for_each = toset([\"a\", \"b\"])\n"
		if strings.Contains(body, "for_each") {
			each = ""
		}
		src := fmt.Sprintf("step \"download\" \"a\" {\n%s  url = \"https://x/${each.key}\"\n  %s\n}\n", each, body)
		_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds()})
		var said strings.Builder
		for _, d := range ds.List {
			said.WriteString(d.Detail)
		}
		if (want == "") != (said.Len() == 0) || !strings.Contains(said.String(), want) {
			t.Errorf("%s: %q, want %q", body, said.String(), want)
		}
	}
	_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("step \"download\" \"a\" {\n  url = \"https://x\"\n  on_failure = \"leave_out\"\n}\n")}, pipeline.Options{Registry: kinds()})
	if !strings.Contains(ds.Lines(), "on_failure stands beside the for_each of a step") {
		t.Error(ds.Lines())
	}
}
