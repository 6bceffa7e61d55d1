package kinds_test

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/testkit"
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
	file := study(t, map[string]string{
		"p.hcl":      figurePipeline,
		"a.json":     `{"parameters": 16000000, "mrr_at_10": 0.49, "invalid_at_40": 0.1}`,
		"b.json":     `{"parameters": 16000000, "mrr_at_10": 0.51, "invalid_at_40": 0.2}`,
		"curve.json": `{"select": "mrr_at_10", "points": [{"seconds": 3600, "metrics": {"mrr_at_10": 0.5}}, {"seconds": 5000}, {"seconds": 7200, "metrics": {"mrr_at_10": 0.58}}, {"seconds": 10800, "metrics": {"mrr_at_10": 0.6}}, {"seconds": 14400, "metrics": {"mrr_at_10": 0.59}}]}`,
	})
	l := newLocal(t)
	pl := l.plan(file, nil)
	got, checks := map[string]render.Figure{}, map[string][]render.Check{}
	for i, res := range l.run(pl) {
		if name, ok := strings.CutPrefix(pl.Steps[i].Address, "figure."); ok {
			f := readFigure(t, l, res)
			var err error
			checks[name], err = expect.Result(t.Context(), pl.Steps[i].Address, pl.Steps[i].Task.Config, res, l.Store.Open)
			testkit.None(t, err)
			got[name] = f
			if name == "training" && res.Counts["curve points without value"] != 2 {
				t.Errorf("counts %v", res.Counts)
			}
		}
	}
	scaling, training := got["scaling"], got["training"]
	for i, c := range append(checks["scaling"], checks["training"]...) {
		if want := []render.Verdict{render.Matches, render.Matches, render.Differs, render.Matches, render.Matches}[i]; c.Verdict != want {
			t.Errorf("%+v, want %v", c, want)
		}
	}
	tiny := scaling.Series[0].Points[0]
	if tiny.Y.N != 2 || tiny.Y.Std == nil || len(tiny.Y.Inputs) != 2 || tiny.Marker != "square" {
		t.Errorf("a point of two seeds: %+v", tiny)
	}
	testkit.Is(t, len(training.Series[0].Points), 4, "the curve has points")
	if marks := training.Series[1].Points; len(marks) != 2 || !marks[0].Hollow || marks[1].Hollow {
		t.Errorf("milestones %+v", marks)
	}
}

func readFigure(t *testing.T, l *local, res *artifacts.Result) (f render.Figure) {
	t.Helper()
	l.json(res.Outputs["json"], &f)
	return f
}

// TestFigureMistakes: what is wrong with a block is said when it is read.
func TestFigureMistakes(t *testing.T) {
	const axes = "x = { title = \"x\" }\ny = { title = \"y\" }\n"
	for body, want := range map[string]string{
		`x = { title = "x" }`:            "exactly one of series, panels, flow and image",
		axes + `series = [{ id = "a" }]`: "exactly one of points, curve and differences",
		axes + `series = [{ id = "a", points = [{ id = "p", x = { number = 1 }, y = {} }] }]`: "exactly one of number and value",
		axes + `series = [{ id = "a", color = "reddish", points = [] }]`:                      "color",
		axes + `series = [{ id = "a", points = [] }]` + "\n" + `expect "a.b.y" { value = 1 }`: `no point "b"`,
		axes + `curves = { y = "loss", of = {} }`:                                             "curves.of: has no curve",
		`curves = { y = "loss", of = { a = step.train.a.curve } }` + "\n" + `}
step "download" "x" { urls = ["x"] }
step "train" "a" {
  model     = step.download.x.files
  ids       = step.download.x.files
  corpus    = step.download.x.files
  queries   = step.download.x.files
  tokenizer = step.download.x.files`: "series need the axes x and y",
		`panels = [{ heading = "<b>", text = "x" }]`: "not closed",
	} {
		refused(t, "figure \"f\" {\n"+body+"\n}\n", want)
	}
}

// TestFigureOfCurves: curves of several runs are series of their own, in different colors and
// in the legend, beside those that are written out.
func TestFigureOfCurves(t *testing.T) {
	file := study(t, map[string]string{
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
	})
	l := newLocal(t)
	pl := l.plan(file, nil)
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
	testkit.Deep(t, got, want)
}

// TestFieldsOfTrainings: a field that no report of a training has is reported where it stands, of curves and of candidates.
func TestFieldsOfTrainings(t *testing.T) {
	for _, block := range []string{
		"figure \"f\" {\n  x = { title = \"x\" }\n  y = { title = \"y\" }\n  curves = { y = \"perplexity\", of = { a = step.train.t.curve } }\n}",
		`step "best" "b" {
  field      = "perplexity"
  candidates = { a = { dev = step.train.t.report, report = step.evaluate.e.report, run = step.evaluate.e.run } }
}`,
		`step "best_model" "b" {
  field      = "perplexity"
  candidates = { a = { dev = step.train.t.report, model = step.train.t.model, ids = step.atomic_ids.a.ids } }
}`,
	} {
		refused(t, `
step "download" "x" { urls = ["x"] }
step "import_corpus" "c" { files = step.download.x.files }
step "atomic_ids" "a" { documents = step.import_corpus.c.documents }
step "train" "t" {
  model     = step.download.x.files
  ids       = step.atomic_ids.a.ids
  corpus    = step.import_corpus.c.corpus
  queries   = step.import_corpus.c.queries
  tokenizer = step.download.x.files
}
step "evaluate" "e" {
  model     = step.train.t.model
  ids       = step.atomic_ids.a.ids
  queries   = step.import_corpus.c.queries
  tokenizer = step.download.x.files
}
`+block+"\n", "perplexity")
	}
}

const marksPipeline = `
step "download" "a" { urls = ["a.json"] }
step "download" "rows" { urls = ["rows.csv"] }

figure "bars" {
  x = { title = "", categories = ["BM25", "Dense", "=DSI"] }
  y = { title = "nDCG@10", scale = 100 }
  series = [
    { id = "dev", title = "dev", draw = "bars", points = [for n in ["BM25", "Dense", "=DSI"] : {
      id = n, x = { category = n }, y = { value = step.download.a.files, field = "dev.'${n}'.mean", low = "dev.'${n}'.low", high = "dev.'${n}'.high" } }] },
    { id = "test", title = "test", draw = "bars", curve = { value = step.download.rows.files, list = "rows.csv:.", x = "system", y = "score" } },
  ]
  expect "dev.BM25.low" { value = 30 }
}
figure "histogram" {
  x = { title = "Score" }
  y = { title = "Density" }
  series = [
    { id = "ten", draw = "histogram", points = [{ id = "all", x = { value = step.download.a.files, list = "sample" } }] },
    { id = "four", draw = "histogram", bins = 4, density = true, points = [{ id = "all", x = { value = step.download.a.files, list = "sample" } }] },
    { id = "own", draw = "histogram", edges = [2, 3, 7], points = [{ id = "all", x = { value = step.download.a.files, list = "objects", field = "v" } }] },
  ]
}
figure "boxes" {
  x = { title = "", categories = ["a", "b"] }
  y = { title = "Score", log10 = true }
  series = [{ id = "s", title = "s", draw = "box", points = [
    { id = "sample", x = { category = "a" }, y = { value = step.download.a.files, list = "sample" } },
    { id = "seeds", x = { category = "b" }, y = { value = [step.download.a.files, step.download.a.files], field = "one" } },
  ] }]
  expect "s.sample.q3" { value = 5.75 }
}
figure "heat" {
  x    = { title = "Predicted", categories = ["yes", "no"] }
  y    = { title = "Queries" }
  heat = { rows = "True", labels = true }
  series = [for i, name in ["yes", "no"] : { id = name, title = name, points = [for j, to in ["yes", "no"] : {
    id = to, x = { category = to }, y = { value = step.download.a.files, field = "matrix.${i}.${j}" } }] }]
}
`

// marksData has a sample with numbers beyond the whiskers, whose sums below are of numpy 2 and
// matplotlib 3 (numpy.percentile, numpy.histogram, matplotlib.cbook.boxplot_stats).
const marksData = `{"dev": {"BM25": {"mean": 0.35, "low": 0.3, "high": 0.41}, "Dense": {"mean": 0.4, "low": 0.4, "high": 0.45}, "=DSI": {"mean": 0.2, "low": 0.1, "high": 0.2}},
 "sample": [1, 2, 3, 4, 5, 5.5, 6, 20, 0.5, 5], "objects": [{"v": 1}, {"v": 2}, {"v": 3}, {"v": 7}], "one": 3, "matrix": [[5, 1], [-2, 0]]}`

// TestFigureMarks: bars, histograms, boxes and heat maps are drawn of what the files have, and
// their numbers are those of the data.
func TestFigureMarks(t *testing.T) {
	l := newLocal(t)
	pl := l.plan(study(t, map[string]string{"p.hcl": marksPipeline, "a.json": marksData, "rows.csv": "system,score\nDense,0.5\nBM25,0.25\n=DSI,-0.3\n"}), nil)
	got := map[string]string{}
	for i, res := range l.run(pl) {
		if name, ok := strings.CutPrefix(pl.Steps[i].Address, "figure."); ok {
			got[name] = l.text(res.Outputs["csv"].Digest)
			svg := l.text(res.Outputs["svg"].Digest)
			if strings.Contains(svg, "NaN") || name == "bars" && !strings.Contains(svg, ">−20<") {
				t.Errorf("%s: %s", name, svg)
			}
			if name == "histogram" && res.Counts["numbers outside of the edges"] != 1 {
				t.Errorf("counts %v", res.Counts)
			}
		}
	}
	for name, want := range map[string]string{
		"bars": `series,point,x,y,y std,y n,low,high,q1,q3
dev,BM25,BM25,35,,1,30,41,,
dev,Dense,Dense,40,,1,40,45,,
dev,=DSI,=DSI,20,,1,10,20,,
test,0,Dense,50,,1,,,,
test,1,BM25,25,,1,,,,
test,2,=DSI,-30,,1,,,,
`,
		"histogram": `series,point,x,y,y std,y n
ten,0,1.475,3,,1
ten,1,3.4250000000000003,2,,1
ten,2,5.375,4,,1
ten,3,7.325,0,,1
ten,4,9.275,0,,1
ten,5,11.225,0,,1
ten,6,13.175,0,,1
ten,7,15.125,0,,1
ten,8,17.075000000000003,0,,1
ten,9,19.025,1,,1
four,0,2.9375,0.14358974358974358,,1
four,1,7.8125,0.041025641025641026,,1
four,2,12.6875,0,,1
four,3,17.5625,0.020512820512820513,,1
own,0,2.5,1,,1
own,1,5,2,,1
`,
		"boxes": `series,point,x,y,y std,y n,low,high,q1,q3
s,sample,a,4.5,,10,0.5,6,2.25,5.375
s,seeds,b,3,,2,3,3,3,3
`,
		"heat": `series,point,x,y,y std,y n
yes,yes,yes,5,,1
yes,no,no,1,,1
no,yes,yes,-2,,1
no,no,no,0,,1
`,
	} {
		testkit.Is(t, got[name], want, name)
	}
}

// TestFigureDifferences: what score leaves of two systems is a bar for each query, the best first.
func TestFigureDifferences(t *testing.T) {
	l := newLocal(t)
	differing := func(baseline string) map[string]any {
		return map[string]any{"x": map[string]any{"title": "Query"}, "y": map[string]any{"title": "Difference", "scale": 100.0},
			"series": []any{map[string]any{"id": "d", "differences": map[string]any{"measure": "RBP(p=0.5)",
				"system":   l.blob("score/queries", []byte("query\tRBP(p=0.5)\n7\t0.5\nb\t0.25\na%09c\t1\n")),
				"baseline": l.blob("score/queries", []byte("query\tRBP(p=0.5)\n"+baseline))}}}}
	}
	res := l.made("render_figure", differing("b\t0.5\n7\t0.5\na%09c\t0.25\n"))
	if got := l.text(res.Outputs["csv"].Digest); got != "series,point,x,y,y std,y n\nd,a%09c,1,75,,1\nd,7,2,0,,1\nd,b,3,-25,,1\n" {
		t.Errorf("drew %s", got)
	}
	for baseline, want := range map[string]string{
		"b\t0.5\n8\t1\n7\t1\n":  `series d: differences: one of the systems lacks 2 queries that the other has, "8", "a%09c"`,
		"b\t\n7\t1\na%09c\t1\n": "series d: query b: RBP(p=0.5) is null, not a finite number",
	} {
		l.refuses("render_figure", differing(baseline), want)
	}
}

// TestFigureMarkMistakes: what bars, histograms, boxes and heat maps cannot be of is said when
// the block is read, or where the data have it.
func TestFigureMarkMistakes(t *testing.T) {
	const number = `{ number = 1 }`
	block := func(x, y, series string) string {
		return "figure \"f\" {\nx = { title = \"\", " + x + " }\ny = { title = \"\", " + y + " }\nseries = [{ id = \"s\", " + series + " }]\n}\n"
	}
	point := func(x, y string) string { return `points = [{ id = "p", x = ` + x + `, y = ` + y + ` }]` }
	for body, want := range map[string]string{
		block(`categories = ["a", "a"]`, ``, point(`{ category = "a" }`, number)):                                                                 `axis x: category "a" is empty or there twice`,
		block(`categories = ["a"], log10 = true`, ``, point(`{ category = "a" }`, number)):                                                        "axis x: has categories, which go without",
		block(`log2 = true, log10 = true`, ``, point(number, number)):                                                                             "axis x: is logarithmic by log2 or by log10",
		block(``, `categories = ["a"]`, point(number, number)):                                                                                    "axis y: has numbers",
		block(`categories = ["a"]`, ``, point(`{ category = "b" }`, number)):                                                                      `series[0].points[0].x: there is no category "b" on the axis; it has "a"`,
		block(`categories = ["a"]`, ``, point(number, number)):                                                                                    "series[0].points[0].x: has a category instead of number",
		block(``, ``, point(`{ category = "b" }`, number)):                                                                                        "there is no category",
		block(``, ``, point(number, `{ category = "b" }`)):                                                                                        "has a category instead of",
		block(``, `log10 = true`, `draw = "bars", `+point(number, number)):                                                                        "series s: bars begin at 0",
		block(``, ``, `bins = 3, `+point(number, number)):                                                                                         `series[0]: has bins, edges or density, which are of a histogram`,
		block(``, ``, `draw = "histogram", edges = [1, 1], points = [{ id = "p", x = { value = step.download.a.files, list = "a" } }]`):           "each greater than the one before it, not [1 1]",
		block(``, ``, `draw = "histogram", edges = [1], points = [{ id = "p", x = { value = step.download.a.files, list = "a" } }]`):              "edges are at least two numbers",
		block(``, ``, `draw = "histogram", bins = -1, points = [{ id = "p", x = { value = step.download.a.files, list = "a" } }]`):                "series[0].bins",
		block(``, ``, `draw = "histogram", bins = 2, edges = [1, 2], points = [{ id = "p", x = { value = step.download.a.files, list = "a" } }]`): "both bins and edges",
		block(`log10 = true`, ``, `draw = "histogram", points = [{ id = "p", x = { value = step.download.a.files, list = "a" } }]`):               "edges if x is logarithmic",
		block(``, ``, `draw = "histogram", points = []`):                                                                                          "a histogram, which has one point",
		block(``, ``, `draw = "histogram", `+point(number, number)):                                                                               "is of several numbers",
		block(``, ``, point(number, `{ number = 1, list = "a" }`)):                                                                                "has a list, which only",
		block(``, ``, point(number, `{ number = 1, low = "a" }`)):                                                                                 "has both low and high, or neither",
		block(``, ``, point(`{ value = step.download.a.files, field = "a", low = "b", high = "c" }`, number)):                                     "series[0].points[0].x: has low and high, which are of the y",
		block(``, ``, point(number, number)+"}]\nheat = {}\nkeys = [{ title = \"k\""):                                                             "series s: is a row of a heat map, which has categories on x",
		block(``, ``, point(number, number)+`, curve = { value = step.download.a.files, x = "x", y = "y" }`):                                      "exactly one of points, curve and differences",
	} {
		refused(t, "step \"download\" \"a\" { urls = [\"a.json\"] }\n"+body, want)
	}
	l := newLocal(t)
	data := l.blob("json", []byte(`{"none": [], "nan": [1, NaN], "text": ["a"], "number": 5, "nothing": null, "minus": [-1, 2], "rows": [{"x": "a", "y": 1}, {"x": "a", "y": 2}], "others": [{"x": "c", "y": 1}]}`))
	read := func(field, list string) map[string]any {
		return map[string]any{"value": []any{data}, "field": field, "list": list}
	}
	points := func(draw string, x, y map[string]any) map[string]any {
		return map[string]any{"id": "s", "draw": draw, "points": []any{map[string]any{"id": "p", "x": x, "y": y}}}
	}
	curve := func(list string) map[string]any {
		return map[string]any{"id": "s", "draw": "bars", "curve": map[string]any{"value": data, "list": list, "x": "x", "y": "y"}}
	}
	at, linear, named := map[string]any{"category": "a"}, map[string]any{"title": ""}, map[string]any{"title": "", "categories": []any{"a", "b"}}
	for want, c := range map[string]struct {
		series, x map[string]any
		more      map[string]any
	}{
		"series s: a histogram needs numbers, and there are none":                   {points("histogram", read("", "none"), nil), linear, nil},
		`series s: nan, element 1: field "" is`:                                     {points("histogram", read("", "nan"), nil), linear, nil},
		`series s: "number" is not a list`:                                          {points("histogram", read("", "number"), nil), linear, nil},
		"series s: point p: box need a number":                                      {points("box", at, read("", "none")), named, nil},
		`series s: point p: text, element 0: field "" is a, not a finite number`:    {points("box", at, read("", "text")), named, nil},
		"series s: point p: it has no place on a logarithmic axis":                  {points("box", at, read("", "minus")), named, map[string]any{"y": map[string]any{"title": "", "log10": true}}},
		"series s: point p: bars need a number":                                     {points("bars", at, read("nothing", "")), named, nil},
		"series s: point p: its interval from -1 to 2 does not hold its value 5":    {points("bars", at, changed(read("number", ""), map[string]any{"low": "minus.0", "high": "minus.1"})), named, nil},
		`series s: point 1: it stands where point 0 does`:                           {curve("rows"), named, nil},
		`series s: point 0: there is no category "c" on the axis; it has "a", "b"`:  {curve("others"), named, nil},
		`series s: the row has no cell at "b": a heat map has one at each category`: {points("", at, read("number", "")), named, map[string]any{"heat": map[string]any{}}},
	} {
		l.refuses("render_figure", changed(map[string]any{"x": c.x, "y": linear, "series": []any{c.series}}, c.more), want)
	}
}

const (
	svgFile  = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>`
	pdfFile  = "%PDF-1.4\n1 0 obj\n%%EOF\n"
	vegaFile = `{"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": "bar"}`
	htmlFile = "<!doctype html><script>alert(2)</script>"
)

// pictureFiles writes files for downloads into a new folder.
func pictureFiles(t *testing.T, pipeline string) string {
	t.Helper()
	var small, large bytes.Buffer
	testkit.None(t, png.Encode(&small, image.NewGray(image.Rect(0, 0, 9, 9))))
	noise := image.NewRGBA(image.Rect(0, 0, 1200, 1200))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise.Pix)
	testkit.None(t, png.Encode(&large, noise))
	return study(t, map[string]string{"p.hcl": pipeline, "a.svg": svgFile, "a.pdf": pdfFile, "b.svg": svgFile, "chart.json": vegaFile, "chart.html": htmlFile, "page.html": "<!doctype html><p>still",
		"small.png": small.String(), "large.png": large.String(), "cut.png": small.String()[:small.Len()-9], "text.png": "Traceback (most recent call last):", "m.json": `{"accuracy": 1}`})
}

// TestFigureImage: a step's pictures are in the page only as images, in a LaTeX document as they are,
// and what neither can show is named.
func TestFigureImage(t *testing.T) {
	t.Parallel()
	file := pictureFiles(t, `
step "download" "tree" { urls = ["a.svg", "a.pdf", "m.json"] }
step "download" "svg" { urls = ["b.svg"] }
step "download" "png" { urls = ["small.png"] }
step "download" "large" { urls = ["large.png"] }
step "download" "html" { urls = ["chart.html"] }
step "download" "still" { urls = ["page.html"] }
step "download" "vega" { urls = ["chart.json"] }
figure "both" {
  image   = step.download.tree.files
  caption = "Both"
  paper   = "fig:both"
}
figure "svg" { image = step.download.svg.files }
figure "png" { image = step.download.png.files }
figure "large" { image = step.download.large.files }
figure "still" { image = step.download.still.files }
figure "chart" { image = [step.download.html.files, step.download.vega.files] }
`)
	l := newLocal(t)
	pl := l.plan(file, nil)
	v := &plan.Preview{Plan: pl, Items: make([]plan.Item, len(pl.Steps))}
	g := report.Gather(pl, nil)
	for i, res := range l.run(pl) {
		v.Items[i] = plan.Item{Key: res.Key, Result: res, Outcome: plan.Hit}
		g.Keep(i, &v.Items[i])
		if pl.Steps[i].Address == "figure.both" && res.Counts["files beside the picture"] != 1 {
			t.Errorf("counts %v", res.Counts)
		}
	}
	r := testkit.Value(g.Build(t.Context(), v, l.Store.Open, report.Options{}))(t)
	var page bytes.Buffer
	testkit.None(t, r.HTML(&page))
	for text, n := range map[string]int{"alert(": 0, `<img src="data:image/svg`: 2, `<img src="data:image/png`: 1, `is too large for this page. To have its files`: 1, `redsi artifacts get figure.large pictures`: 1,
		"a file that this page does not show: SVG, PNG and HTML without scripts are shown": 1, `download="chart.html"`: 1, `download="chart.vl.json"`: 1, `download="both.pdf"`: 1, "<iframe": 1, `sandbox title="Page of figure.still" srcdoc="&lt;!doctype html&gt;&lt;p&gt;still`: 1, "<object": 0} {
		testkit.Is(t, strings.Count(page.String(), text), n, text)
	}
	files := testkit.Value(r.Bundle(t.Context(), l.Store.Open))(t)
	bundle := map[string]string{}
	for _, f := range files {
		bundle[f.Name] = string(f.Data)
	}
	if !strings.Contains(bundle["figures/both.tex"], "{figures/both.pdf}\n\\caption{Both}\n\\label{fig:both}") || bundle["figures/both.pdf"] != pdfFile || !strings.Contains(bundle["figures/png.tex"], "{figures/png.png}") ||
		!strings.Contains(bundle["figures/svg.tex"], "needs this picture as PDF or PNG") {
		t.Errorf("bundle %q", bundle)
	}
	testkit.Is(t, strings.Join(r.WithoutLaTeX(), " "), "figure.svg figure.still figure.chart", "without LaTeX")
	if p := r.Numbers().Pictures; len(p) != 3 || p[0].Name != "figures/both.pdf" || !strings.HasPrefix(p[0].Digest, "sha256:") {
		t.Errorf("pictures %+v", p)
	}
}

// TestFigureImageMistakes: what is not one picture is an error that names the file.
func TestFigureImageMistakes(t *testing.T) {
	t.Parallel()
	for urls, want := range map[string]string{
		`"cut.png"`:           "image: cut.png: it begins as PNG and is cut off",
		`"text.png"`:          `image: text.png is not a picture: it begins with "Traceback (most recent call last):"; PNG, SVG`,
		`"m.json"`:            `image: m.json is not a picture: it begins with "{\"accuracy\"`,
		`"a.svg", "b.svg"`:    `the tree has 2 pictures: a.svg, b.svg; name one: step.KIND.NAME.out["a.svg"]`,
		`"a.svg", "text.png"`: "text.png is not a picture",
	} {
		newLocal(t).fails(pictureFiles(t, `step "download" "f" { urls = [`+urls+`] }`+"\n"+`figure "f" { image = step.download.f.files }`), want)
	}
}
