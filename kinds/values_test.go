package kinds_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
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
	writeAll(t, dir, map[string]string{
		"m.json":   `{"acc": 0.91, "loss": NaN, "map@0.5": {"lr=0.1": 0.95}, "summary": {"mean": Infinity, "std": NaN, "n": 3}}`,
		"m.yaml":   "scores:\n  acc: 0.92\n  loss: .inf\n",
		"m.csv":    "model,acc,loss\nx,0.5,inf\ny,0.93,0.25\n",
		"n.txt":    "0.94\n",
		"roc.json": `{"points": [{"threshold": Infinity, "fpr": 0.0, "tpr": 0.0}, {"threshold": 0.5, "fpr": 1.0, "tpr": 1.0}]}`,
		"b.json":   "a: 1\n",
		"log.txt":  "all went well\n",
	})
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
	l.counted(results["table.t"], map[string]int64{"values NaN or infinite": 3})
	f := readFigure(t, l, results["figure.roc"])
	if len(f.Series[0].Points) != 2 || len(f.Series[1].Points) != 1 || f.Series[2].Points[0].Y.Value != nil {
		t.Errorf("%+v", f.Series)
	}
	l.counted(results["figure.roc"], map[string]int64{"values NaN or infinite": 2})
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
		l.fails(bad, want)
	}
}

// TestCellsAsTyped: a column of text shows cells of CSV as they are, and all digits of whole
// numbers; so do columns of integers, and what is expected of them.
func TestCellsAsTyped(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"v.csv":  "code,ver,under,hex,plus,big,n\n007,1.10,1_000,0x1p4,+5,9007199254740993,0.93\nnan,1e400,Inf,-Infinity,NaN,5,0.5\n",
		"v.json": `{"code": "007", "ver": 1.10, "big": 9007199254740993, "near": 9007199254740992, "n": 12}`,
		"v.yaml": "code: 0123\nunder: 1_000\nbig: 1234567890123456789\n",
	})
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
		testkit.Is(t, l.text(out["figure."+figure+".csv"].Digest), want)
	}
	markdown := strings.Join(strings.Fields(l.text(out["table.t.markdown"].Digest)), " ")
	for _, want := range []string{"| CSV | 007 | 1.10 | 1\\_000 | 0x1p4 | +5 | 9007199254740993 | x | 0.93 | 9,007,199,254,740,993 |", "| **1,234,567,890,123,456,789** |"} {
		testkit.Says(t, markdown, want)
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
		testkit.Is(t, table.Rows[i].Cells["acc"].One, want, "row", table.Rows[i].ID)
	}
	if text := string(l.bytes(out["markdown"])); !strings.HasSuffix(text, "\n\n- x\\_1.acc: the ± is of one result several times, since all that the mean is over has the same bytes\n") {
		t.Errorf("%q", text)
	}
}

// TestMeansOfAll: a mean over seeds is of all of them. One that is null, or beyond the end of a
// list, leaves the cell and the point empty and is counted; texts have no mean.
func TestMeansOfAll(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"a.json": `{"x": 1, "none": null, "list": [1, 2], "same": "s", "word": "a"}`,
		"b.json": `{"x": null, "none": null, "list": [1], "same": "s", "word": 2}`,
		"c.json": `{"x": 3, "none": null, "list": [1, 2], "same": "s", "word": "a"}`,
	})
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
	l.counted(results["table.t"], map[string]int64{"values null, beside values of other artifacts": 2})
	l.counted(results["figure.f"], map[string]int64{"points without value": 1, "notes on points": 2})
	if f := readFigure(t, l, results["figure.f"]); f.Series[0].Points[0].Y.Value != nil || len(f.Notes()) != 2 {
		t.Errorf("%+v, %q", f.Series, f.Notes())
	}
	bad := write(t, dir, "bad.hcl", strings.ReplaceAll(strings.Replace(pipeline, `"same"]`, `"word"]`, 1), "DIR", dir))
	l.fails(bad, `row r, column word: field "word" is the text "a" in one of the 3 artifacts and something else in another: only numbers have a mean`)
}

// TestTableChecks: mistakes in a table are told before anything runs.
func TestTableChecks(t *testing.T) {
	row := map[string]any{"id": "r", "titles": []any{"Row"}, "numbers": map[string]any{"c": 1.5}}
	for name, c := range map[string]struct {
		column, row map[string]any
		want        string // "" if nothing is wrong
	}{
		"sound":            {map[string]any{"id": "c", "title": "C", "format": "fixed", "decimals": int64(1)}, nil, ""},
		"no format":        {map[string]any{"id": "c", "title": "C"}, nil, `columns[0].format: is needed: "integer", "fixed"`},
		"rows have one":    {map[string]any{"id": "c", "title": "C"}, map[string]any{"format": "fixed"}, ""},
		"unknown format":   {map[string]any{"id": "c", "title": "C", "format": "percent"}, nil, `columns[0].format: "percent" is not one of`},
		"minus of nothing": {map[string]any{"id": "c", "title": "C", "format": "fixed", "minus": []any{"c", "d"}}, nil, `columns[0].minus: there is no column "d"`},
		"second alone":     {map[string]any{"id": "c", "title": "C", "format": "fixed", "second": true}, nil, "rows: column c: second needs best"},
		"mark of nothing":  {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"marks": map[string]any{"d": "*"}}, `rows[0].marks: there is no column "d"`},
		"no superscript":   {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"marks": map[string]any{"c": "a b"}}, `rows[0].marks: "a b" cannot be a superscript`},
		"decimal texts":    {map[string]any{"id": "c", "title": "C", "format": "text", "align": "decimal"}, nil, `align = "decimal" is for numbers`},
		"prefix alone":     {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"prefix": "n ="}, "rows[0].prefix: is for rows with format"},
		"two in one":       {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"rule": true}, "rows[0]: is exactly one of"},
		"a prefix of TeX":  {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"format": "fixed", "prefix": `}\input{x}`}, `rows[0].format: prefix "}\\input{x}" may have only`},
	} {
		t.Run(name, func(t *testing.T) {
			config := map[string]any{"caption": "C", "stubs": []any{"S"}, "columns": []any{c.column}, "rows": []any{changed(row, c.row)}}
			mistakes(t, "render_table", config, map[string]map[string]any{c.want: nil})
		})
	}
}

// TestLabelChecks: what is not a label of LaTeX is told before anything runs; formulas
// are quoted on request, and nothing else can be requested.
func TestLabelChecks(t *testing.T) {
	table := map[string]any{"stubs": []any{"S"}, "columns": []any{}, "rows": []any{}}
	figure := map[string]any{"flow": []any{map[string]any{"title": "T"}}}
	for kind, config := range map[string]map[string]any{"render_table": table, "render_figure": figure} {
		for _, c := range []struct{ attribute, value, want string }{
			{"paper", "tab:dedup-counts", ""},
			{"paper", "sec:a_b.c/d", ""},
			{"paper", `tab:x}\input{/etc/passwd}`, "paper: "},
			{"paper", "tab:x\n", "paper: "},
			{"csv_formulas", "quote", ""},
			{"csv_formulas", "keep", "csv_formulas: "},
		} {
			mistakes(t, kind, config, map[string]map[string]any{c.want: {c.attribute: c.value}})
		}
	}
}

// TestExpectMistakes: an expectation of no form, or about a cell that there is not, is a
// mistake of the pipeline, at its place.
func TestExpectMistakes(t *testing.T) {
	const table = `
  stubs   = [""]
  columns = [{ id = "a", title = "A", format = "fixed" }, { id = "b", title = "B", format = "fixed" }]
  rows    = [{ id = "r", titles = ["r"] }]
`
	for expect, want := range map[string]string{
		`expect "r.a" {}`: "is exactly one of value, text,",
		"expect \"r.a\" {\nvalue = 1\ntext = \"x\"\n}":                        "text takes no value",
		`expect = [{ cell = "r.a", value = 1 }, { cell = "r.z", value = 1 }]`: "expect[1]",
		`expect = [{ cell = "r.z", value = 1 }]`:                              `no column "z"`,
		`expect = [{ cell = "r.z", value = 1, scale = "toy" }]`:               `no column "z"`,
		`expect = [{ cell = "r.a", above = ["r.b"] }]`:                        `no attribute "above"`,
		`expect = [{ cell = "r.a", value = 1, std = 1, std_factor = 0.5 }]`:   "std_factor is at least 1",
		`expect = [{ cell = "r.a", value = 1, shown = true, tolerance = 1 }]`: "numbers that are compared",
		`expect = [{ cell = "r.a", value = 1, severity = "fatal" }]`:          `"fatal" is not one of`,
		`expect = [{ cell = "r.a", value = 1, at = { full = 2 } }]`:           "value is the paper's, and so is at.full",
		`expect = [{ cell = "r.a", at = { toy = 2 }, scale = "toy" }]`:        "scale is for an expectation that is about one",
		`expect = [{ cell = "r.a", text = "x", near = 2 }]`:                   "near is for numbers",
		`expect = [{ cell = "r.a", value = 1, tolerance = 3, near = 2 }]`:     "near is wider than tolerance",
	} {
		refused(t, "table \"t\" {\n"+table+expect+"\n}\n", want)
	}
	for claim, want := range map[string]string{
		``:                       "what holds where the sentence is true",
		`expect {}`:              "is exactly one of value, text,",
		"expect {\nvalue = 1\n}": "needs the cell that value is about",
		"expect {\ncell = table.t[\"r.a\"]\norder = [table.t[\"r.a\"], table.t[\"r.b\"]]\n}":         "is for value, text, sign, above and below",
		"expect {\ncell = table.t[\"r.aa\"]\nsign = \"positive\"\n}":                                 `table.t has no cell "r.aa". Did you mean "r.a"?`,
		"expect {\ncell = table.u[\"r.a\"]\nsign = \"positive\"\n}":                                  `There is no table.u`,
		"expect {\ncell = \"r.a\"\nsign = \"positive\"\n}":                                           `"r.a" is not a cell. Write table.NAME`,
		"expect {\ncell = \"${table.t[\"r.a\"]}x\"\nsign = \"positive\"\n}":                          `table.t has no such cell`,
		"expect {\nminus = [table.t[\"r.a\"]]\nvalue = 1\n}":                                         "minus needs two cells",
		"expect {\nratio = [table.t[\"r.a\"], table.t[\"r.b\"]]\n}":                                  "ratio needs the value",
		"severity = \"deadly\"\nexpect {\ncell = table.t[\"r.a\"]\nsign = \"positive\"\n}":           `"deadly" is not one of`,
		"resources {\nqueue = \"gpu\"\n}\nexpect {\ncell = table.t[\"r.a\"]\nsign = \"positive\"\n}": "A claim does no work",
	} {
		refused(t, "table \"t\" {\n"+table+"}\nclaim \"a claim\" {\ntext = \"It is so.\"\n"+claim+"\n}\n", want)
	}
	const claim = "{\ntext = \"x\"\nexpect {\ncell = table.t[\"r.a\"]\nsign = \"positive\"\n}\n}\n"
	for label, want := range map[string]string{``: "is written claim", `""`: "a few words on one line", `"a" "b"`: "is written claim", "\"x\" " + claim + "claim \"x\"": "Declared twice"} {
		refused(t, "table \"t\" {\n"+table+"}\nclaim "+label+" "+claim, want)
	}
}

// refused loads a pipeline whose mistakes are told by a text.
func refused(t *testing.T, source, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.hcl")
	testkit.Write(t, path, source)
	src := readPipeline(t, path)
	_, ds := pipeline.Load(src, pipeline.Options{Registry: newLocal(t).Registry})
	testkit.That(t, ds.HasErrors() && strings.Contains(ds.Err().Error(), want), source, "says", ds.Err(), "want", want)
}

// chosen is a best step's report.
type chosen struct {
	Chosen string
	Value  float64
	Values map[string]float64
	Equals []string
	Report struct{ Percent map[string]float64 }
}

// TestBest: the highest or the lowest development value chooses, of equals the first by
// name, and the chosen one's run and report are passed on as they are. Test scores, which
// are the other way round here, choose nothing, and those of the others are not read.
func TestBest(t *testing.T) {
	l := newLocal(t)
	candidates := map[string]any{}
	runs := map[string]step.Input{}
	for i, name := range []string{"c", "b", "a", "d"} {
		dev := []float64{0.4, 0.5, 0.5, 0.1}[i]
		runs[name] = l.blob("trec/run", fmt.Appendf(nil, "q Q0 %s 1 1 redsi\n", name))
		candidates[name] = map[string]any{
			"dev":    l.blob("train/report", fmt.Appendf(nil, `{"metrics":{"MRR@10":%v},"note":"x"}`, dev)),
			"report": l.blob("evaluate/report", fmt.Appendf(nil, `{"percent":{"mrr_10":%v}}`, 100-100*dev)),
			"run":    runs[name],
		}
	}
	config := map[string]any{"candidates": candidates, "field": "metrics.MRR@10"}
	for order, want := range map[string]struct {
		name   string
		value  float64
		equals string
	}{"max": {"a", 0.5, "[b]"}, "min": {"d", 0.1, "[]"}} {
		res := l.made("best", changed(config, map[string]any{"order": order}))
		var r chosen
		l.json(res.Outputs["report"], &r)
		if r.Chosen != want.name || r.Value != want.value || fmt.Sprint(r.Equals) != want.equals || len(r.Values) != 4 || r.Values["c"] != 0.4 || r.Report.Percent["mrr_10"] != 100-100*want.value {
			t.Errorf("%s: %+v", order, r)
		}
		if got := res.Outputs["run"]; got.Digest != runs[want.name].Artifact.Digest || got.Type != "trec/run" {
			t.Errorf("%s: the run is %v", order, got)
		}
	}
	candidates["d"].(map[string]any)["report"] = l.blob("evaluate/report", []byte("no JSON"))
	testkit.None(t, testkit.Err(l.do("best", config))) // a report that is not chosen is not read
	for want, change := range map[string]map[string]any{
		"report of candidate d: input is not the expected JSON": {"order": "min"},
		`there is no field "metrics.nDCG@10"`:                   {"field": "metrics.nDCG@10"},
		`candidate a: field "note" is not a number`:             {"field": "note"},
	} {
		l.refuses("best", changed(config, change), want)
	}
	mistakes(t, "best", config, map[string]map[string]any{
		"candidates: there are no candidates; field: names no number to choose by": {"candidates": map[string]any{}, "field": ""},
		`order: "most" is not one of "max", "min"`:                                 {"order": "most"},
	})
}

// TestBestModel: the chosen model's files and identifiers are passed on, none is copied.
func TestBestModel(t *testing.T) {
	l := newLocal(t)
	candidates := map[string]any{}
	models := map[string]artifacts.Artifact{}
	for i, name := range []string{"low", "high"} {
		file := l.blob("files", fmt.Appendf(nil, `{"model":%q}`, name)).Artifact
		tree := testkit.Value(artifacts.Tree("dsi/model", []artifacts.File{{Name: "config.json", Digest: file.Digest, Size: file.Size}}))(t)
		models[name] = tree
		report := testkit.Value(json.Marshal(map[string]any{"metrics": map[string]any{"MRR@10": float64(i)}}))(t)
		candidates[name] = map[string]any{"dev": l.blob("train/report", report), "model": step.In(tree), "ids": l.blob("docid/ids", []byte(name))}
	}
	res := l.made("best_model", map[string]any{"candidates": candidates})
	var r chosen
	l.json(res.Outputs["report"], &r)
	if r.Chosen != "high" || r.Values["low"] != 0 || res.Outputs["model"].Digest != models["high"].Digest || l.text(res.Outputs["ids"].Digest) != "high" {
		t.Errorf("%+v: %+v", r, res.Outputs)
	}
}

// TestEffectsOfNumbers: what is compared is a number in every run; a text or a truth is
// not taken for 0.
func TestEffectsOfNumbers(t *testing.T) {
	l := newLocal(t)
	config := func(last string) map[string]any {
		run := func(level, report string) map[string]any {
			return map[string]any{"group": "atomic", "level": level, "other": "title", "seed": json.Number("42"), "report": l.blob("file", []byte(report))}
		}
		return map[string]any{"runs": []any{run("without", `{"mrr":0}`), run("with", last)}, "field": "mrr", "from": "without", "to": "with"}
	}
	testkit.None(t, testkit.Err(l.do("effects", config(`{"mrr":10}`))))
	for text, want := range map[string]string{
		`{"mrr":"10"}`:   `with, title, seed 42: field "mrr" is not a number`,
		`{"mrr":true}`:   `with, title, seed 42: field "mrr" is not a number`,
		`{"mrr":null}`:   `with, title, seed 42: field "mrr" is not a number`,
		`{"mrr":[1, 2]}`: `with, title, seed 42: field "mrr" is [1,2], not a number or a text`,
	} {
		l.refuses("effects", config(text), want)
	}
}

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
				r.Checks, err = expect.Result(t.Context(), name, pl.Steps[i].Task.Config, res, l.Store.Open)
				testkit.None(t, err)
			}
			tables[name] = r
		}
		if a, ok := res.Outputs["markdown"]; ok {
			markdown[name] = string(l.bytes(a))
		}
	}
	for address, n := range map[string]int64{"step.format_example.nq": 2, "step.dedup_diagnostics.nq": 2, "step.revision_variation.nq": 4,
		"step.first_tokens.title": 2, "step.text_examples.woods": 1} {
		testkit.Is(t, counts[address], n, address)
	}
	testkit.Is(t, tables["table.grouping_effects"].value(t, "fragmented", "n"), 1, "fragmented pages")
	testkit.Is(t, tables["table.revision_texts"].value(t, "revisions", "n"), 13, "revisions")
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
		testkit.Is(t, k.Verdict, "not in these files", k.Cell)
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
	testkit.ErrSays(t, err, `none of the 2 points has it: there is no field "metrics.mrr_at_10": beside "mrr_at_10" there is Hits@1, MRR@10`)
	res := l.results(file, map[string]string{"file": curve(points), "y": "metrics.MRR@10"})["figure.f"]
	l.says(res.Outputs["json"], map[string]any{"series.0.points.0.y.value": 0.5, "series.0.points.1": nil})
	l.counted(res, map[string]int64{"curve points without value": 1})
	l.counted(l.results(file, map[string]string{"file": curve("[]"), "y": "metrics.MRR@10"})["figure.f"], map[string]int64{"curves without points": 1})
}
