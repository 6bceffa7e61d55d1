package kinds_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/nq"
)

const hubPipeline = `
variable "dir" { type = string }
locals {
  files = { lines = "hub.jsonl.gz", hub = "hub.parquet" }
}
step "extract" "nq" {
  for_each = local.files
  files    = step.download.nq[each.key].files
  split    = "dev"
  require  = ["title", "oldid"]
}
step "download" "nq" {
  for_each = merge(local.files, { simplified = "nq-simplified-walking-dead.jsonl.gz" })
  urls     = ["${var.dir}/${each.value}"]
}
step "format_fields" "nq" {
  for_each = local.files
  full     = step.download.nq[each.key].files
}
step "format_example" "nq" {
  for_each   = local.files
  full       = step.download.nq[each.key].files
  simplified = step.download.nq["simplified"].files
}
`

// TestExtractFromTheHub: of Parquet as datasets writes it the artifacts are those of the original lines, by name and byte; only the
// report's bytes tell which was read.
func TestExtractFromTheHub(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	out := l.outputs(write(t, t.TempDir(), "p.hcl", hubPipeline), map[string]string{"dir": testdata(t, "corpora", "nq", "testdata")})
	of := func(step, key, output string) artifacts.Artifact { return out["step."+step+`["`+key+`"].`+output] }
	for _, c := range []struct{ step, output string }{
		{"extract.nq", "records"}, {"extract.nq", "headers"}, {"format_fields.nq", "report"}, {"format_example.nq", "report"},
	} {
		lines, hub := of(c.step, "lines", c.output), of(c.step, "hub", c.output)
		if d := cmp.Diff(lines, hub); d != "" || lines.Size == 0 {
			t.Errorf("%s.%s: %s", c.step, c.output, d)
		}
	}
	var lines, hub nq.Counts
	l.json(of("extract.nq", "lines", "report"), &lines)
	l.json(of("extract.nq", "hub", "report"), &hub)
	lines.BytesIn, lines.BytesOut = hub.BytesIn, hub.BytesOut
	if d := cmp.Diff(lines, hub); d != "" || hub.Records != 5 {
		t.Error(d, hub.Records)
	}
}
