package kinds_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/errtest"
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
    { id = "dots", titles = ["Dots"], value = step.download.m.files, at = "m.json:'map@0.5'", fields = { acc = "'lr=0.1'" }, texts = { loss = "x" } },
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
		"m.json":   `{"acc": 0.91, "loss": NaN, "map@0.5": {"lr=0.1": 0.95}, "summary": {"mean": Infinity, "std": NaN, "n": 3}}`,
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
	for i, want := range []struct{ acc, loss float64 }{{0.91, 0}, {0.92, 0}, {0.93, 0.25}, {0.94, 0}, {0.95, 0}} {
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
		"b.json:a":     "row r, column a: b.json: not JSON: invalid character 'a' looking for beginning of value; JSON, JSON lines, YAML, CSV, Parquet and a single number are read",
		"log.txt:acc":  `log.txt: it begins with "all went well"; JSON, JSON lines, YAML, CSV, Parquet and a single number are read`,
		"n.txt:acc":    `n.txt: there is no field "acc": it is of type number and has no "acc"; it is a single value: write "." for the field`,
		"m.csv:acc":    `m.csv: there is no field "acc": it is a list, and "acc" is not the number of an element; rows are named by number, from 0: "0.acc"`,
		"roc.json:x.y": `roc.json: there is no field "x.y": beside "x" there is points`,
		"m.json:a.b":   `m.json: there is no field "a.b": beside "a" there is acc, loss, 'map@0.5', summary`,
	} {
		bad := write(t, dir, "bad.hcl", strings.ReplaceAll(strings.Split(valuesPipeline, "table")[0], "DIR", dir)+`
table "t" {
  stubs   = ["Run"]
  columns = [{ id = "a", title = "A", format = "fixed" }]
  rows    = [{ id = "r", titles = ["R"], value = step.download.m.files, fields = { a = "`+field+`" } }]
}
`)
		errtest.Says(t, errtest.Of(l.try(l.plan(bad, nil))), want)
	}
}

// TestCellsAsTyped: a column of text shows cells of CSV as they are, and all digits of whole
// numbers; so do columns of integers, and what is expected of them.
func TestCellsAsTyped(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"v.csv":  "code,ver,under,hex,plus,big,n\n007,1.10,1_000,0x1p4,+5,9007199254740993,0.93\nnan,1e400,Inf,-Infinity,NaN,5,0.5\n",
		"v.json": `{"code": "007", "ver": 1.10, "big": 9007199254740993, "near": 9007199254740992, "n": 12}`,
		"v.yaml": "code: 0123\nunder: 1_000\nbig: 1234567890123456789\n",
	} {
		write(t, dir, name, text)
	}
	const pipeline = `
step "download" "m" { urls = ["DIR/v.csv", "DIR/v.json", "DIR/v.yaml"] }
table "t" {
  stubs   = ["File"]
  columns = concat([for c in ["code", "ver", "under", "hex", "plus", "big", "near", "n"] : { id = c, title = c, format = "text" }],
    [{ id = "whole", title = "whole", format = "integer", field = "big", best = "max" }, { id = "less", title = "less", format = "integer", minus = ["big", "near"] }])
  rows = [
    { id = "csv", titles = ["CSV"], value = step.download.m.files, at = "v.csv:0", texts = { near = "x" } },
    { id = "odd", titles = ["odd"], value = step.download.m.files, at = "v.csv:1", texts = { near = "x" } },
    { id = "json", titles = ["JSON"], value = step.download.m.files, at = "v.json:", texts = { under = "x", hex = "x", plus = "x" } },
    { id = "yaml", titles = ["YAML"], value = step.download.m.files, at = "v.yaml:", texts = { ver = "x", hex = "x", plus = "x", n = "x", near = "x" } },
  ]
  expect "csv.n" { value = 0.93 }
  expect "json.big" { value = 9007199254740992 }
  expect "json.whole" { value = 9007199254740992 }
  expect "csv.whole" { text = "9,007,199,254,740,993" }
}
figure "text" { panels = [{ heading = "h", value = step.download.m.files, field = "v.json:big" }] }
figure "points" {
  x      = { title = "x" }
  y      = { title = "y" }
  series = [
    { id = "p", points = [{ id = "p", x = { number = 1 }, y = { value = [step.download.m.files], field = "v.csv:0.big" } }] },
    { id = "c", curve = { value = step.download.m.files, list = "v.csv:.", x = "code", y = "big" } },
  ]
}
`
	l := newLocal(t)
	file := write(t, dir, "p.hcl", strings.ReplaceAll(pipeline, "DIR", dir))
	out := l.outputs(file, nil)
	if got, want := l.text(out["table.t.csv"].Digest), `File,code,ver,under,hex,plus,big,near,n,whole,less
CSV,007,1.10,1_000,0x1p4,+5,9007199254740993,x,0.93,9007199254740993,
odd,nan,1e400,Inf,-Infinity,NaN,5,x,0.5,5,
JSON,007,1.1,x,x,x,9007199254740993,9007199254740992,12,9007199254740993,1
YAML,123,x,1_000,x,x,1234567890123456789,x,x,1234567890123456789,
`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for figure, want := range map[string]string{"text": "heading,text\nh,9007199254740993\n", "points": "series,point,x,y,y std,y n\np,p,1,9007199254740993,,1\nc,0,7,9007199254740993,,1\n"} {
		if got := l.text(out["figure."+figure+".csv"].Digest); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	markdown := strings.Join(strings.Fields(l.text(out["table.t.markdown"].Digest)), " ")
	for _, want := range []string{"| CSV | 007 | 1.10 | 1\\_000 | 0x1p4 | +5 | 9007199254740993 | x | 0.93 | 9,007,199,254,740,993 |", "| **1,234,567,890,123,456,789** |"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("%s\nwant %s", markdown, want)
		}
	}
	refused(t, strings.ReplaceAll(strings.Replace(pipeline, "value = 0.93", "value = 9007199254740993", 1), "DIR", dir), "the number 9007199254740993 has more digits than are calculated with, 53 bits: compare it as a text")
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

// TestMeansOfAll: a mean over seeds is of all of them. One that is null, or beyond the end of a
// list, leaves the cell and the point empty and is counted; texts have no mean.
func TestMeansOfAll(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.json": `{"x": 1, "none": null, "list": [1, 2], "same": "s", "word": "a"}`,
		"b.json": `{"x": null, "none": null, "list": [1], "same": "s", "word": 2}`,
		"c.json": `{"x": 3, "none": null, "list": [1, 2], "same": "s", "word": "a"}`,
	} {
		write(t, dir, name, text)
	}
	const pipeline = `
step "download" "s" {
  for_each = toset(["DIR/a", "DIR/b", "DIR/c"])
  urls     = ["${each.key}.json"]
}
locals { seeds = [for k in ["DIR/a", "DIR/b", "DIR/c"] : step.download.s[k].files] }
table "t" {
  stubs   = ["S"]
  columns = [for c in ["x", "none", "list.0", "list.1", "same"] : { id = replace(c, ".", "_"), title = c, field = c, format = "fixed", decimals = 1, std = true }]
  rows    = [{ id = "r", titles = ["three"], value = local.seeds }]
  expect "r.x" { value = 2 }
  expect "r.none" { value = 2 }
}
figure "f" {
  x      = { title = "x", log2 = true }
  y      = { title = "y" }
  series = [{ id = "s", points = [
    { id = "p", x = { number = 1 }, y = { value = local.seeds, field = "x" } },
    { id = "q", x = { number = 0 }, y = { value = local.seeds, field = "list.0" } },
    { id = "one", x = { number = 1 }, y = { value = [local.seeds[0], local.seeds[0]], field = "x" } },
  ] }]
}
`
	l := newLocal(t)
	results := l.results(write(t, dir, "p.hcl", strings.ReplaceAll(pipeline, "DIR", dir)), nil)
	if got, want := strings.Join(strings.Fields(l.text(results["table.t"].Outputs["markdown"].Digest)), " "), "| three | – | – | 1.0 ± 0.0 | – | s |"; !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	if n := results["table.t"].Counts["values null, beside values of other artifacts"]; n != 2 {
		t.Errorf("counts %v", results["table.t"].Counts)
	}
	f, counts := readFigure(t, l, results["figure.f"]), results["figure.f"].Counts
	if f.Series[0].Points[0].Y.Value != nil || counts["points without value"] != 1 || counts["notes on points"] != 2 || len(f.Notes()) != 2 {
		t.Errorf("%+v, %v, %q", f.Series, counts, f.Notes())
	}
	bad := write(t, dir, "bad.hcl", strings.ReplaceAll(strings.Replace(pipeline, `"same"]`, `"word"]`, 1), "DIR", dir))
	errtest.Says(t, errtest.Of(l.try(l.plan(bad, nil))), `row r, column word: field "word" is the text "a" in one of the 3 artifacts and something else in another: only numbers have a mean`)
}
