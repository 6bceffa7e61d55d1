package kinds_test

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// The figures of model results: metrics of several seeds, a training curve, a
// second axis.
const figurePipeline = `
step "download" "m" { urls = ["a.json", "b.json", "curve.json"] }
step "download" "a" { urls = ["a.json"] }
step "download" "b" { urls = ["b.json"] }

figure "scaling" {
  paper = "fig:x"
  x     = { title = "Parameters (M)", scale = 0.000001 }
  y     = { title = "MRR@10", scale = 100, decimals = 1 }
  y2    = { title = "Invalid@40 (%)", scale = 100 }
  series = [
    { id = "atomic", title = "Atomic", color = "atomic", line = "dotted", marker = "square", points = [
      { id = "tiny", x = { value = step.download.a.files, field = "parameters" }, y = { value = [step.download.a.files, step.download.b.files], field = "mrr_at_10" } },
      { id = "paper", x = { number = 220 }, y = { number = 60.1 }, marker = "circle", hollow = true },
    ] },
    { id = "invalid", axis = "y2", points = [{ id = "tiny", x = { number = 1 }, y = { value = step.download.b.files, field = "invalid_at_40" } }] },
  ]
  expect "atomic.tiny.y" { value = 50 }
  expect "atomic.tiny.x" { value = 16 }
  expect "invalid.tiny.y" { value = 9 }
}

figure "training" {
  x = { title = "Hours", scale = 1 / 3600 }
  y = { title = "MRR@10", scale = 100, decimals = 2 }
  series = [
    { id = "all", curve = { value = step.download.m.files, list = "curve.json:points", x = "seconds", y = "metrics.mrr_at_10" } },
    { id = "marks", curve = { value = step.download.m.files, list = "curve.json:points", x = "seconds", y = "metrics.mrr_at_10", reach = 0.95 } },
  ]
  expect "marks.reach.x" { value = 2 }
  expect "marks.best.y" { value = 60 }
}
`

func TestFigureReadsMetricsAndCurves(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p.hcl":      figurePipeline,
		"a.json":     `{"parameters": 16000000, "mrr_at_10": 0.49, "invalid_at_40": 0.1}`,
		"b.json":     `{"parameters": 16000000, "mrr_at_10": 0.51, "invalid_at_40": 0.2}`,
		"curve.json": `{"select": "mrr_at_10", "points": [{"seconds": 3600, "metrics": {"mrr_at_10": 0.5}}, {"seconds": 5000}, {"seconds": 7200, "metrics": {"mrr_at_10": 0.58}}, {"seconds": 10800, "metrics": {"mrr_at_10": 0.6}}, {"seconds": 14400, "metrics": {"mrr_at_10": 0.59}}]}`,
	} {
		filetest.Write(t, filepath.Join(dir, name), text)
	}
	l := newLocal(t)
	pl := l.plan(filepath.Join(dir, "p.hcl"), nil)
	got := map[string]render.Figure{}
	for i, res := range l.run(pl) {
		if name, ok := strings.CutPrefix(pl.Steps[i].Address, "figure."); ok {
			f := readFigure(t, l, res)
			var err error
			if f.Checks, err = expect.Result(t.Context(), pl.Steps[i].Address, pl.Steps[i].Task.Config, res, l.Store.Open); err != nil {
				t.Fatal(err)
			}
			got[name] = f
			if name == "training" && res.Counts["curve points without value"] != 2 {
				t.Errorf("counts %v", res.Counts)
			}
		}
	}
	verdicts := func(f render.Figure) (out []render.Verdict) {
		for _, c := range f.Checks {
			out = append(out, c.Verdict)
		}
		return out
	}
	scaling, training := got["scaling"], got["training"]
	if v := verdicts(scaling); v[0] != render.Matches || v[1] != render.Matches || v[2] != render.Differs {
		t.Errorf("scaling: %v, %+v", v, scaling.Checks)
	}
	if v := verdicts(training); v[0] != render.Matches || v[1] != render.Matches {
		t.Errorf("training: %v, %+v", v, training.Checks)
	}
	tiny := scaling.Series[0].Points[0]
	if tiny.Y.N != 2 || tiny.Y.Std == nil || len(tiny.Y.Inputs) != 2 || tiny.Marker != "square" {
		t.Errorf("a point of two seeds: %+v", tiny)
	}
	if n := len(training.Series[0].Points); n != 4 {
		t.Errorf("the curve has %d points", n)
	}
	if marks := training.Series[1].Points; len(marks) != 2 || !marks[0].Hollow || marks[1].Hollow {
		t.Errorf("milestones %+v", marks)
	}
}

func readFigure(t *testing.T, l *local, res *artifacts.Result) (f render.Figure) {
	t.Helper()
	r, err := l.Store.Open(context.Background(), res.Outputs["json"].Digest)
	errtest.None(t, err)
	defer r.Close()
	b, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFigureMistakes: what is wrong with a block is said when it is read.
func TestFigureMistakes(t *testing.T) {
	for body, want := range map[string]string{
		`x = { title = "x" }`: "exactly one of series, panels, flow and image",
		`x = { title = "x" }
y = { title = "y" }
series = [{ id = "a" }]`: "exactly one of points, curve and differences",
		`x = { title = "x" }
y = { title = "y" }
series = [{ id = "a", points = [{ id = "p", x = { number = 1 }, y = {} }] }]`: "exactly one of number and value",
		`x = { title = "x" }
y = { title = "y" }
series = [{ id = "a", color = "reddish", points = [] }]`: "color",
		`x = { title = "x" }
y = { title = "y" }
series = [{ id = "a", points = [] }]
expect "a.b.y" { value = 1 }`: `no point "b"`,
		`panels = [{ heading = "<b>", text = "x" }]`: "not closed",
	} {
		refused(t, "figure \"f\" {\n"+body+"\n}\n", want)
	}
}

// TestFigureOfCurves: curves of several runs are series of their own, in different colors and
// in the legend, beside those that are written out.
func TestFigureOfCurves(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p.hcl": `
step "download" "run" {
  for_each = toset(["0.001", "0.01"])
  urls     = ["${each.key}.json"]
}

figure "grid" {
  x      = { title = "Updates" }
  y      = { title = "MRR@10 (%)", scale = 100 }
  series = [{ id = "line", points = [{ id = "p", x = { number = 0 }, y = { number = 50 } }] }]
  curves = { y = "metrics.MRR@10", of = { for rate, d in step.download.run : rate => d.files } }
}

figure "losses" {
  x      = { title = "Seconds" }
  y      = { title = "Loss" }
  curves = { x = "seconds", y = "loss", of = { run = step.download.run["0.01"].files } }
}`,
		"0.001.json": `{"select": "MRR@10", "points": [{"step": 5, "seconds": 1, "loss": 4, "metrics": {"MRR@10": 0.5}}, {"step": 10, "seconds": 2, "loss": 3, "metrics": {"MRR@10": 0.25}}]}`,
		"0.01.json":  `{"select": "MRR@10", "points": [{"step": 5, "seconds": 1.5, "loss": 2, "metrics": {"MRR@10": 0.75}}]}`,
	} {
		filetest.Write(t, filepath.Join(dir, name), text)
	}
	l := newLocal(t)
	pl := l.plan(filepath.Join(dir, "p.hcl"), nil)
	type shown struct {
		ID, Title, Color, Line string
		X, Y                   []float64
	}
	got := map[string][]shown{}
	for i, res := range l.run(pl) {
		name, ok := strings.CutPrefix(pl.Steps[i].Address, "figure.")
		if !ok {
			continue
		}
		for _, s := range readFigure(t, l, res).Series {
			one := shown{s.ID, s.Title, s.Color, s.Line, nil, nil}
			for _, p := range s.Points {
				one.X, one.Y = append(one.X, *p.X.Value), append(one.Y, *p.Y.Value)
			}
			got[name] = append(got[name], one)
		}
		if svg := l.text(res.Outputs["svg"].Digest); name == "grid" && (!strings.Contains(svg, ">0.001<") || !strings.Contains(svg, ">0.01<")) {
			t.Errorf("the legend has not both runs:\n%s", svg)
		}
	}
	want := map[string][]shown{
		"grid": {{"line", "", "black", "solid", []float64{0}, []float64{50}},
			{"0_001", "0.001", "#0072b2", "solid", []float64{5, 10}, []float64{50, 25}}, {"0_01", "0.01", "#d55e00", "solid", []float64{5}, []float64{75}}},
		"losses": {{"run", "run", "#0072b2", "solid", []float64{1.5}, []float64{2}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	axes := "x = { title = \"x\" }\ny = { title = \"y\" }\n"
	for body, want := range map[string]string{
		axes + `curves = { y = "loss", of = {} }`: "curves.of: has no curve",
		`curves = { y = "loss", of = { a = step.train.a.curve } }` + "\n" + `}
step "download" "x" { urls = ["x"] }
step "train" "a" {
  model     = step.download.x.files
  ids       = step.download.x.files
  corpus    = step.download.x.files
  queries   = step.download.x.files
  tokenizer = step.download.x.files`: "series need the axes x and y",
	} {
		refused(t, "figure \"f\" {\n"+body+"\n}\n", want)
	}
}

// TestCurveFields: a field that training curves do not have is reported where it stands.
func TestCurveFields(t *testing.T) {
	refused(t, `
step "random_t5" "m" {
  layers  = 1
  d_model = 8
  d_kv    = 8
  d_ff    = 8
  heads   = 1
}
step "download" "tokenizer" { urls = ["t.json"] }
step "import_corpus" "c" { files = step.download.tokenizer.files }
step "atomic_ids" "c" { documents = step.import_corpus.c.documents }
step "train" "c" {
  model     = step.random_t5.m.model
  ids       = step.atomic_ids.c.ids
  corpus    = step.import_corpus.c.corpus
  queries   = step.import_corpus.c.queries
  tokenizer = step.download.tokenizer.files
}
figure "f" {
  x      = { title = "x" }
  y      = { title = "y" }
  curves = { y = "perplexity", of = { a = step.train.c.curve } }
}
`, "perplexity")
}
