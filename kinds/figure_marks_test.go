package kinds_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/filetest"
)

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
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "p.hcl"), marksPipeline)
	filetest.Write(t, filepath.Join(dir, "a.json"), marksData)
	filetest.Write(t, filepath.Join(dir, "rows.csv"), "system,score\nDense,0.5\nBM25,0.25\n=DSI,-0.3\n")
	l := newLocal(t)
	pl := l.plan(filepath.Join(dir, "p.hcl"), nil)
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
		if got[name] != want {
			t.Errorf("%s:\n%swant:\n%s", name, got[name], want)
		}
	}
}

// TestFigureDifferences: what score leaves of two systems is a bar for each query, the best first.
func TestFigureDifferences(t *testing.T) {
	l := newLocal(t)
	draw := func(baseline string) (string, error) {
		res, err := l.do("render_figure", map[string]any{"x": map[string]any{"title": "Query"}, "y": map[string]any{"title": "Difference", "scale": 100.0},
			"series": []any{map[string]any{"id": "d", "differences": map[string]any{"measure": "RBP(p=0.5)",
				"system":   l.blob("score/queries", []byte("query\tRBP(p=0.5)\n7\t0.5\nb\t0.25\na%09c\t1\n")),
				"baseline": l.blob("score/queries", []byte("query\tRBP(p=0.5)\n"+baseline))}}}})
		if err != nil {
			return "", err
		}
		return l.text(res.Outputs["csv"].Digest), nil
	}
	got, err := draw("b\t0.5\n7\t0.5\na%09c\t0.25\n")
	if want := "series,point,x,y,y std,y n\nd,a%09c,1,75,,1\nd,7,2,0,,1\nd,b,3,-25,,1\n"; err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	for baseline, want := range map[string]string{
		"b\t0.5\n8\t1\n7\t1\n":  `lacks 2 queries that the other has, "8", "a%09c"`,
		"b\t\n7\t1\na%09c\t1\n": "query b: RBP(p=0.5) is null, not a finite number",
	} {
		if _, err := draw(baseline); err == nil || !strings.Contains(err.Error(), "series d: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
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
	data := l.blob("json", []byte(`{"none": [], "nan": [1, NaN], "text": ["a"], "number": 5, "nothing": null, "minus": [-1, 2], "rows": [{"x": "a", "y": 1}, {"x": "a", "y": 2}]}`))
	read := func(field, list string) map[string]any {
		n := map[string]any{"value": []any{data}, "field": field}
		if list != "" {
			n["list"] = list
		}
		return n
	}
	at := map[string]any{"category": "a"}
	for _, c := range []struct {
		draw  string
		x, y  map[string]any
		axis  string
		curve string
		want  string
	}{
		{"histogram", read("", "none"), nil, "", "", "series s: a histogram needs numbers, and there are none"},
		{"histogram", read("", "nan"), nil, "", "", `series s: nan, element 1: field "" is`},
		{"histogram", read("", "number"), nil, "", "", `series s: "number" is not a list`},
		{"box", at, read("", "none"), "", "", "series s: point p: box need a number"},
		{"box", at, read("", "text"), "", "", `series s: point p: text, element 0: field "" is a, not a finite number`},
		{"box", at, read("", "minus"), "log10", "", "series s: point p: it has no place on a logarithmic axis"},
		{"bars", at, read("nothing", ""), "", "", "series s: point p: bars need a number"},
		{"bars", at, map[string]any{"value": []any{data}, "field": "number", "low": "minus.0", "high": "minus.1"}, "", "", "series s: point p: its interval from -1 to 2 does not hold its value 5"},
		{"bars", nil, nil, "", "0", `series s: point 1: it stands where point 0 does`},
		{"bars", nil, nil, "", "2", `series s: point 0: there is no category "c" on the axis; it has "a", "b"`},
		{"heat", at, read("number", ""), "", "", `series s: the row has no cell at "b": a heat map has one at each category`},
	} {
		series := map[string]any{"id": "s", "draw": c.draw}
		config := map[string]any{"x": map[string]any{"title": "", "categories": []any{"a", "b"}}, "y": map[string]any{"title": ""}, "series": []any{series}}
		point := map[string]any{"id": "p", "x": c.x}
		if c.y != nil {
			point["y"] = c.y
		}
		if series["points"] = []any{point}; c.draw == "histogram" {
			delete(config["x"].(map[string]any), "categories")
		}
		if c.axis != "" {
			config["y"].(map[string]any)[c.axis] = true
		}
		if c.curve != "" {
			delete(series, "points")
			series["curve"] = map[string]any{"value": data, "list": "rows", "x": "x", "y": "y"}
			if c.curve == "2" {
				series["curve"] = map[string]any{"value": l.blob("json", []byte(`{"rows": [{"x": "c", "y": 1}]}`)), "list": "rows", "x": "x", "y": "y"}
			}
		}
		if c.draw == "heat" {
			delete(series, "draw")
			config["heat"] = map[string]any{}
		}
		if _, err := l.do("render_figure", config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.draw, err, c.want)
		}
	}
}
