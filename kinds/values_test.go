package kinds_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/paper/render"
)

const valuesPipeline = `
step "download" "m" { urls = ["DIR/m.json", "DIR/m.yaml", "DIR/m.csv", "DIR/n.txt", "DIR/roc.json", "DIR/b.json", "DIR/log.txt"] }
table "t" {
  stubs   = ["Run"]
  columns = [{ id = "acc", title = "Accuracy", format = "fixed", decimals = 2 }, { id = "loss", title = "Loss", format = "fixed", decimals = 2 }]
  rows = [
    { id = "json", titles = ["JSON"], value = step.download.m.files, at = "m.json:" },
    { id = "yaml", titles = ["YAML"], value = step.download.m.files, at = "m.yaml:scores" },
    { id = "csv", titles = ["CSV"], value = step.download.m.files, at = "m.csv:1" },
    { id = "number", titles = ["Number"], value = step.download.m.files, fields = { acc = "n.txt:.", loss = "m.json:summary" } },
  ]
}
figure "roc" {
  x      = { title = "FPR" }
  y      = { title = "TPR" }
  series = [
    { id = "a", curve = { value = step.download.m.files, list = "roc.json:points", x = "fpr", y = "tpr" } },
    { id = "b", curve = { value = step.download.m.files, list = "m.csv:.", x = "acc", y = "loss" } },
    { id = "c", points = [{ id = "p", x = { number = 1 }, y = { value = [step.download.m.files, step.download.m.files], field = "m.json:loss" } }] },
  ]
}
`

// TestValuesOfOtherFormats: cells and points come from JSON as Python writes it, YAML, CSV and
// single numbers; NaN and Infinity are missing and leave the other cells alone.
func TestValuesOfOtherFormats(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.json":   `{"acc": 0.91, "loss": NaN, "summary": {"mean": Infinity, "std": NaN, "n": 3}}`,
		"m.yaml":   "scores:\n  acc: 0.92\n  loss: .inf\n",
		"m.csv":    "model,acc,loss\nx,0.5,inf\ny,0.93,0.25\n",
		"n.txt":    "0.94\n",
		"roc.json": `{"points": [{"threshold": Infinity, "fpr": 0.0, "tpr": 0.0}, {"threshold": 0.5, "fpr": 1.0, "tpr": 1.0}]}`,
		"b.json":   "a: 1\n",
		"log.txt":  "all went well\n",
	} {
		write(t, dir, name, text)
	}
	file := write(t, dir, "p.hcl", strings.ReplaceAll(valuesPipeline, "DIR", dir))
	l := newLocal(t)
	results := l.results(file, nil)
	var table render.Table
	l.json(results["table.t"].Outputs["json"], &table)
	for i, want := range []struct{ acc, loss float64 }{{0.91, 0}, {0.92, 0}, {0.93, 0.25}, {0.94, 0}} {
		row := table.Rows[i]
		if acc := row.Cells["acc"].Value; acc == nil || *acc != want.acc {
			t.Errorf("row %s: %+v", row.ID, row.Cells)
		}
		if loss := row.Cells["loss"].Value; want.loss == 0 && loss != nil || want.loss != 0 && (loss == nil || *loss != want.loss) {
			t.Errorf("row %s: %+v", row.ID, row.Cells)
		}
	}
	if n := results["table.t"].Counts["values NaN or infinite"]; n != 3 {
		t.Errorf("%d of the table: %v", n, results["table.t"].Counts)
	}
	f := readFigure(t, l, results["figure.roc"])
	if len(f.Series[0].Points) != 2 || len(f.Series[1].Points) != 1 || f.Series[2].Points[0].Y.Value != nil {
		t.Errorf("%+v", f.Series)
	}
	if n := results["figure.roc"].Counts["values NaN or infinite"]; n != 2 {
		t.Errorf("%d of the figure: %v", n, results["figure.roc"].Counts)
	}
	for field, want := range map[string]string{
		"b.json:a":     "row r, column a: b.json: not JSON: invalid character 'a' looking for beginning of value; JSON, YAML, CSV and a single number are read",
		"log.txt:acc":  `log.txt: it begins with "all went well"; JSON, YAML, CSV and a single number are read`,
		"n.txt:acc":    `n.txt: there is no field "acc": it is of type number and has no "acc"; it is a single value: write "." for the field`,
		"m.csv:acc":    `m.csv: there is no field "acc": it is a list, and "acc" is not the number of an element; rows are named by number, from 0: "0.acc"`,
		"roc.json:x.y": `roc.json: there is no field "x.y": beside "x" there is points`,
	} {
		bad := write(t, dir, "bad.hcl", strings.ReplaceAll(strings.Split(valuesPipeline, "table")[0], "DIR", dir)+`
table "t" {
  stubs   = ["Run"]
  columns = [{ id = "a", title = "A", format = "fixed" }]
  rows    = [{ id = "r", titles = ["R"], value = step.download.m.files, fields = { a = "`+field+`" } }]
}
`)
		if _, err := l.try(l.plan(bad, nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", field, err, want)
		}
	}
}

// TestOfOne: a ± whose results have the same bytes is said to be none, under the table and in its JSON;
// that of other results that are equal is not.
func TestOfOne(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.json", `{"acc": 1}`)
	write(t, dir, "b.json", `{"acc": 1.0}`)
	file := write(t, dir, "p.hcl", `
step "download" "a" { urls = ["a.json"] }
step "download" "b" { urls = ["b.json"] }
table "t" {
  stubs   = ["Run"]
  columns = [{ id = "acc", title = "Accuracy", format = "fixed", std = true }, { id = "mean", title = "Mean", format = "fixed", field = "acc" }]
  rows = [
    { id = "x_1", titles = ["X"], value = [step.download.a.files, step.download.a.files], at = "a.json:" },
    { id = "y", titles = ["Y"], value = [step.download.a.files["a.json"], step.download.b.files["b.json"]] },
    { id = "z", titles = ["Z"], value = step.download.b.files["b.json"] },
  ]
}
`)
	l := newLocal(t)
	out := l.results(file, nil)["table.t"].Outputs
	var table render.Table
	l.json(out["json"], &table)
	for i, want := range []bool{true, false, false} {
		if got := table.Rows[i].Cells["acc"].One; got != want {
			t.Errorf("row %s: %t", table.Rows[i].ID, got)
		}
	}
	if text := string(l.bytes(out["markdown"])); !strings.HasSuffix(text, "\n\n- x\\_1.acc: the ± is of one result several times, since all that the mean is over has the same bytes\n") {
		t.Errorf("%q", text)
	}
}
