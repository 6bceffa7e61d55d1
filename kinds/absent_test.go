package kinds_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/errtest"
)

// renderedTable is what the tests read of a table's or figure's JSON.
type renderedTable struct {
	Rows []struct {
		ID    string
		Cells map[string]struct {
			Value  *float64
			Text   string
			Absent string
		}
	}
	Panels []struct{ Text string }
	Checks []render.Check
}

func (r renderedTable) value(t *testing.T, row, column string) float64 {
	t.Helper()
	for _, have := range r.Rows {
		if have.ID == row && have.Cells[column].Value != nil {
			return *have.Cells[column].Value
		}
	}
	t.Errorf("the table has no number at %s.%s", row, column)
	return 0
}

// TestOtherPeoplesFiles: the whole of pipelines.hcl that needs no model, at full
// scale, on real records that have none of the paper's examples. Tables of counts have
// their counts, and where an example would stand it says that it is not in these
// files.
func TestOtherPeoplesFiles(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	pl := l.exact(filepath.Join("..", "pipelines.hcl"), realData(t), "step.download.bert[", "step.download.t5[")
	tables, counts := map[string]renderedTable{}, map[string]int64{}
	markdown := map[string]string{}
	for i, res := range l.run(pl) {
		name := pl.Steps[i].Address
		counts[name] = res.Counts["examples_not_in_these_files"]
		if a, ok := res.Outputs["json"]; ok {
			var r renderedTable
			l.json(a, &r)
			if block := address.Of(name).Type(); block != "step" {
				var err error
				if r.Checks, err = expect.Result(t.Context(), name, pl.Steps[i].Task.Config, res, l.Store.Open); err != nil {
					t.Fatal(err)
				}
			}
			tables[name] = r
		}
		if a, ok := res.Outputs["markdown"]; ok {
			markdown[name] = string(l.bytes(a))
		}
	}
	for address, n := range map[string]int64{"step.format_example.nq": 2, "step.dedup_diagnostics.nq": 2, "step.revision_variation.nq": 4,
		"step.first_tokens.title": 2, "step.text_examples.woods": 1} {
		if counts[address] != n {
			t.Errorf("%s: %d examples are not in these files, want %d", address, counts[address], n)
		}
	}
	if n := tables["table.grouping_effects"].value(t, "fragmented", "n"); n != 1 {
		t.Errorf("%v fragmented pages", n)
	}
	if n := tables["table.revision_texts"].value(t, "revisions", "n"); n != 13 {
		t.Errorf("%v revisions", n)
	}
	tables["table.document_text_construction"].value(t, "differ", "n")
	for _, address := range []string{"table.title_grouping_examples", "table.shared_title_revision_variation", "table.fixed_revision_variation", "table.ipa_tokenization_example"} {
		for _, r := range tables[address].Rows {
			for column, c := range r.Cells {
				if c.Text != "not in these files" && strings.TrimSpace(c.Text) != "" || c.Text != " " && c.Absent == "" {
					t.Errorf("%s, %s.%s: %+v", address, r.ID, column, c)
				}
			}
		}
		if !strings.Contains(markdown[address], "- not in these files: ") {
			t.Errorf("%s does not say why:\n%s", address, markdown[address])
		}
	}
	for _, address := range []string{"figure.naive_identifier_tokenization", "figure.semantic_identifier_tokenization", "table.nq_format_fields"} {
		for _, k := range tables[address].Checks {
			if k.Verdict != "match" { // which needs no example
				t.Errorf("%s, %s: %s", address, k.Cell, k.Verdict)
			}
		}
	}
	for _, k := range tables["table.title_grouping_examples"].Checks {
		if k.Verdict != "not in these files" {
			t.Errorf("%s: %s", k.Cell, k.Verdict)
		}
	}
	if s := render.Count(tables["table.title_grouping_examples"].Checks).Sentence("cells"); s != "0 of 8 cells match, 0 differ, 0 not run, 8 not in these files" {
		t.Error(s)
	}
	for _, address := range []string{"figure.nq_format_example", "figure.nq_text_representation_example"} {
		for _, p := range tables[address].Panels {
			if !strings.HasPrefix(p.Text, "not in these files: ") {
				t.Errorf("%s: %q", address, p.Text)
			}
		}
	}
}

// TestCurveOfNoField: a figure whose field no point has is an error that lists those
// in its place, and not an empty picture.
func TestCurveOfNoField(t *testing.T) {
	dir := t.TempDir()
	curve := func(points string) string { return write(t, dir, "curve.json", `{"points":`+points+`}`) }
	file := write(t, dir, "p.hcl", `
variable "file" {}
variable "y" {}
step "download" "curve" { urls = [var.file] }
figure "f" {
  x      = { title = "s" }
  y      = { title = "m" }
  series = [{ id = "a", curve = { value = step.download.curve.files, list = "curve.json:points", x = "seconds", y = var.y } }]
}
`)
	points := `[{"seconds":1,"metrics":{"MRR@10":0.5,"Hits@1":0.25}},{"seconds":2,"metrics":{"MRR@10":null}}]`
	l := newLocal(t)
	_, err := l.try(l.plan(file, map[string]string{"file": curve(points), "y": "metrics.mrr_at_10"}))
	errtest.Says(t, err, `none of the 2 points has it: there is no field "metrics.mrr_at_10": beside "mrr_at_10" there is Hits@1, MRR@10`)
	var drawn struct {
		Series []struct{ Points []json.RawMessage }
	}
	res := l.results(file, map[string]string{"file": curve(points), "y": "metrics.MRR@10"})["figure.f"]
	if l.json(res.Outputs["json"], &drawn); len(drawn.Series[0].Points) != 1 || res.Counts["curve points without value"] != 1 {
		t.Errorf("%+v, %v", drawn, res.Counts)
	}
	if res := l.results(file, map[string]string{"file": curve("[]"), "y": "metrics.MRR@10"})["figure.f"]; res.Counts["curves without points"] != 1 {
		t.Errorf("counts %v", res.Counts)
	}
}
