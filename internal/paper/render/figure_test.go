package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

func num(v float64) *float64 { return &v }

func at(id string, x, y float64, marker string, hollow bool) Point {
	return Point{ID: id, X: Number(x), Y: Number(y), Marker: marker, Hollow: hollow}
}

// category is a point at the ith category, with an interval of y unless that is of no length.
func category(i float64, name string, y, around float64) Point {
	p := at(name, i, y, "none", false)
	if p.X.Typed = name; around > 0 {
		p.Low, p.High = num(y-around), num(y+around)
	}
	return p
}

// figures are the forms of the paper's figures, with its numbers.
func figures() map[string]*Figure {
	sizes := []string{"tiny", "small", "base"}
	shapes := []string{"square", "triangle", "circle"}
	line := func(id, title, line string, right bool, xy ...float64) Series {
		s := Series{ID: id, Title: title, Color: id, Line: line, Right: right}
		for i := range len(xy) / 2 {
			s.Points = append(s.Points, at(sizes[i], xy[2*i], xy[2*i+1], shapes[i], false))
		}
		return s
	}
	plain := func(id, title, color, style string, right bool, ys ...float64) Series {
		s := Series{ID: id, Title: title, Color: color, Line: style, Right: right}
		for i, x := range []float64{1, 2, 2.916, 4, 8, 16, 32} {
			s.Points = append(s.Points, at(strings.Repeat("i", i+1), x, ys[i], "none", false))
		}
		return s
	}
	keys := []Key{
		{Title: "T5-Efficient-Tiny", Color: "gray", Line: "none", Marker: "square"},
		{Title: "T5-Small", Color: "gray", Line: "none", Marker: "triangle"},
		{Title: "T5-Base", Color: "gray", Line: "none", Marker: "circle"},
	}
	seeds := Mean([]float64{46.1, 46.5, 47.2})
	withStd := line("naive", "Naive", "solid", false, 16, 46.5, 60, 56.2, 220, 60.1)
	withStd.Points[0].Y = seeds
	return map[string]*Figure{
		"scaling": {Paper: "fig:model-scaling", Width: 8.5, Keys: keys,
			X:      &Axis{Title: "Total trainable parameters (M)", Min: num(0), Max: num(320)},
			Y:      &Axis{Title: "MRR@10", Min: num(45), Max: num(70), Decimals: 1},
			Series: []Series{line("atomic", "Atomic", "dotted", false, 44.1, 62.2, 116.2, 65.5, 304.2, 68.8), withStd, line("semantic", "Semantic", "dashed", false, 16, 47.5, 60, 54.8, 220, 59.7)}},
		"training": {Paper: "fig:model-scaling-and-training", Width: 8.5,
			X: &Axis{Title: "Active wall-clock time (hours)", Min: num(0), Max: num(85)},
			Y: &Axis{Title: "MRR@10", Min: num(55), Max: num(70), Decimals: 2},
			Series: []Series{
				{ID: "atomic", Title: "Atomic", Color: "atomic", Line: "dotted", Points: []Point{at("reach", 2.3, 66.46, "circle", true), at("best", 6.8, 68.68, "circle", false)}},
				{ID: "naive", Title: "Naive", Color: "naive", Line: "solid", Points: []Point{at("reach", 7.6, 57.31, "circle", true), at("best", 74.5, 60.14, "circle", false)}},
			}},
		"budget": {Paper: "fig:budget-decoding", Width: 8.5,
			X:  &Axis{Title: "Identifier-space ratio b/|D|", Log2: true, Min: num(0.9), Max: num(36), Ticks: []Tick{{1, "1×"}, {2, "2×"}, {2.916, "\nDSI"}, {4, "4×"}, {8, "8×"}, {16, "16×"}, {32, "32×"}}},
			Y:  &Axis{Title: "MRR@10", Min: num(0.57), Max: num(0.61), Decimals: 4},
			Y2: &Axis{Title: "Invalid@40 (%)", Min: num(0), Max: num(60), Decimals: 2},
			Series: []Series{
				plain("raw", "Unconstrained", "naive_light", "dotted", false, .6007, .5974, .5981, .5999, .5738, .5774, .5902),
				plain("post", "Post-filtered", "naive_mid", "solid", false, .6010, .6009, .6037, .6053, .5811, .5853, .5973),
				plain("trie", "Trie-constrained", "naive_dark", "dashed", false, .6013, .6012, .6038, .6054, .5714, .5842, .5996),
				plain("invalid", "Invalid@40", "black", "dash-dot", true, 8.78, 28.45, 34.83, 37.54, 46.74, 51.52, 53.82),
			}},
		"bars": {Width: 8.5,
			X: &Axis{Title: "", Categories: []string{"BM25", "Dense", "DSI with semantic identifiers"}},
			Y: &Axis{Title: "nDCG@10, less the baseline's (%)"},
			Series: []Series{
				{ID: "dev", Title: "dev", Color: "naive", Line: "solid", Draw: "bars", Points: []Point{category(0, "BM25", 4, 1), category(1, "Dense", -3, 0.5)}},
				{ID: "test", Title: "test", Color: "semantic", Line: "solid", Draw: "bars", Points: []Point{category(2, "DSI with semantic identifiers", 2, 0.5)}},
				{ID: "paper of dev", Color: "naive", Line: "none", Over: "dev", Points: []Point{at("BM25", 0, 5, "diamond", true)}},
			}},
		"box": {Width: 8.5, X: &Axis{Title: "Depth"}, Y: &Axis{Title: "Seconds", Log10: true},
			Series: []Series{{ID: "s", Title: "Search", Color: "atomic", Line: "solid", Draw: "box", Points: []Point{
				{ID: "p", X: Number(10), Y: Number(0.2), Marker: "none", Low: num(0.1), Q1: num(0.15), Q3: num(0.5), High: num(0.9), Outside: []float64{0.0002, 30}}}}}},
		"heat": {Width: 8.5, X: &Axis{Title: "Predicted", Categories: []string{"yes", "no"}}, Y: &Axis{Title: "Queries", Decimals: 1}, Heat: &Heat{Rows: "True", Labels: true},
			Series: []Series{
				{ID: "yes", Title: "yes", Color: "black", Line: "solid", Points: []Point{category(0, "yes", 4, 0), category(1, "no", -1, 0)}},
				{ID: "no", Title: "no", Color: "black", Line: "solid", Points: []Point{category(0, "yes", 0, 0), category(1, "no", 9, 0)}},
			}},
		"panels": {Paper: "fig:nq-text-representation-example", Width: 16, Panels: []Panel{
			{Heading: "<sc>simplified</sc>", Text: "List of woods - wikipedia List of woods Jump to : navigation , search"},
			{Heading: "HtmlNorm", Text: "List of woods\n\n- Softwoods (coniferous)\n- Hardwoods /ˈhɑːrdwʊdz/ (angiosperms)\n" + strings.Repeat("x", 200) + " … [truncated]"},
		}},
		"flow": {Paper: "fig:naive-identifier-tokenization", Width: 8, Flow: []Stage{
			{Title: "Identifier space", Text: "{0, 1, …, b−1}, with b ≥ |D|"},
			{Title: "Random permutation with fixed seed", Items: []string{"0", "1", "…", "141913", "…", "b−1"}, Chosen: "141913", Round: true},
			{Title: "Decimal identifier", Text: "<tt>141913</tt>"},
			{Title: "T5 SentencePiece tokens", Items: []string{"▁14", "19", "13", "</s>"}},
			{Title: "T5 vocabulary ids", Items: []string{"968", "2294", "2368", "1"}},
		}},
	}
}

// TestFigureFiles checks each picture's form, that it is drawn the same twice, and its data against goldens.
func TestFigureFiles(t *testing.T) {
	for name, f := range figures() {
		t.Run(name, func(t *testing.T) {
			testkit.None(t, f.Finish())
			files := map[string]func(io.Writer) error{"svg": f.SVG, "pdf": f.PDF, "png": f.PNG, "csv": f.CSV, "json": f.JSON}
			got := map[string][]byte{}
			for ext, write := range files {
				var a, b bytes.Buffer
				testkit.None(t, errors.Join(write(&a), write(&b)))
				if !bytes.Equal(a.Bytes(), b.Bytes()) {
					t.Errorf("%s: two drawings differ", ext)
				}
				got[ext] = a.Bytes()
				if dir := os.Getenv("REDSI_FIGURES"); dir != "" {
					testkit.Write(t, filepath.Join(dir, name+"."+ext), a.Bytes())
				}
			}
			checkSVG(t, got["svg"])
			if !bytes.HasPrefix(got["pdf"], []byte("%PDF")) || !bytes.Contains(got["pdf"], []byte("D:19700101000000")) {
				t.Error("the PDF has no head, or the time it was made at")
			}
			checkPNG(t, got["png"])
			for _, ext := range []string{"csv", "json"} {
				goldens.Same(t, "testdata/figures/"+name+"."+ext, string(got[ext]))
			}
		})
	}
}

// TestSmallCaps: a picture has no small caps; it writes capitals.
func TestSmallCaps(t *testing.T) {
	f := &Figure{Width: 8, Panels: []Panel{{Heading: "a <sc>Title</sc> <b>x</b>", Text: "<sc>t</sc>"}}}
	var b strings.Builder
	testkit.None(t, errors.Join(f.Finish(), f.SVG(&b)))
	testkit.Says(t, b.String(), ">a TITLE x<", "&lt;sc&gt;t&lt;") // a panel's text is data
}

// TestMissingGlyphs: a character that the font lacks is seen in the PNG.
func TestMissingGlyphs(t *testing.T) {
	var pictures []string
	for _, text := range []string{"()", "(語語)", "(□□)"} {
		f := &Figure{Width: 8, Panels: []Panel{{Heading: "h", Text: text}}}
		var b bytes.Buffer
		testkit.None(t, errors.Join(f.Finish(), f.PNG(&b)))
		pictures = append(pictures, b.String())
	}
	if pictures[1] == pictures[0] || pictures[1] != pictures[2] {
		t.Error("characters without a glyph are not drawn as boxes")
	}
}

func checkSVG(t *testing.T, b []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the SVG is not XML: %v", err)
		}
	}
}

func checkPNG(t *testing.T, b []byte) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	testkit.None(t, err)
	colors := map[[3]uint32]int{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 2 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 2 {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[[3]uint32{r, g, b}]++
		}
	}
	if len(colors) < 8 {
		t.Errorf("the PNG has only %d colours", len(colors))
	}
}

func TestFigureExpect(t *testing.T) {
	for _, c := range []struct {
		cell    string
		value   float64
		scale   string
		verdict Verdict
		err     string
	}{
		{"atomic.tiny.y", 62.2, "", Matches, ""},
		{"atomic.tiny.y", 62.24, "full", Matches, ""},
		{"atomic.tiny.y", 62.3, "", IsNear, ""},
		{"atomic.tiny.y", 62.5, "", Differs, ""},
		{"atomic.tiny.y", 62.2, "toy", NotComparable, ""},
		{"atomic.tiny.x", 44, "", Matches, ""},
		{"atomic.huge.y", 1, "", "", "no point"},
		{"none.tiny.y", 1, "", "", "no series"},
		{"atomic.tiny", 1, "", "", "SERIES.POINT"},
		{"atomic.tiny.z", 1, "", "", "SERIES.POINT"},
	} {
		f := figures()["scaling"]
		f.Scale, f.PaperScale = c.scale, "full"
		checks, err := f.Expect(Expectation{Cell: c.cell, Value: &c.value})
		switch {
		case c.err != "":
			testkit.That(t, err != nil && strings.Contains(err.Error(), c.err), c.cell, "error", err, "want", c.err)
		case err != nil || checks[0].Verdict != c.verdict:
			t.Errorf("%s = %v: %+v, %v; want %s", c.cell, c.value, checks, err, c.verdict)
		}
	}
	f := figures()["training"]
	f.Curves = []string{"atomic"}
	if checks, err := f.Expect(Expectation{Cell: "atomic.later.y", Value: new(1.0)}); err != nil || checks[0].Verdict != Differs {
		t.Errorf("a point that a curve does not have: %+v, %v", checks, err)
	}
}

func TestFigureFinishRefuses(t *testing.T) {
	for name, change := range map[string]func(*Figure){
		"two forms":     func(f *Figure) { f.Panels = []Panel{{}} },
		"no form":       func(f *Figure) { f.Series = nil },
		"no axis":       func(f *Figure) { f.X = nil },
		"color":         func(f *Figure) { f.Series[0].Color = "reddish" },
		"line":          func(f *Figure) { f.Series[0].Line = "wavy" },
		"marker":        func(f *Figure) { f.Series[0].Points[0].Marker = "star" },
		"no right axis": func(f *Figure) { f.Series[0].Right = true },
		"same series":   func(f *Figure) { f.Series[1].ID = f.Series[0].ID },
		"same point":    func(f *Figure) { f.Series[0].Points[1].ID = "tiny" },
		"dot":           func(f *Figure) { f.Series[0].ID = "a.b" },
		"size":          func(f *Figure) { f.Width = 0 },
		"key":           func(f *Figure) { f.Keys[0].Marker = "star" },
	} {
		f := figures()["scaling"]
		change(f)
		if f.Finish() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCut(t *testing.T) {
	if s, n := Cut("ˈhɑːrd", 3); s != "ˈhɑ … [truncated]" || n != 3 {
		t.Errorf("%q, %d", s, n)
	}
	if s, n := Cut("abc", 0); s != "abc" || n != 0 {
		t.Errorf("%q, %d", s, n)
	}
}

// TestLogarithmicAxes names what a logarithmic axis has no place for; whiskers end at its edge.
func TestLogarithmicAxes(t *testing.T) {
	whisker := func(v, std float64) Point {
		p := at("p", 1, v, "circle", false)
		p.Y.Std = &std
		return p
	}
	for _, c := range []struct {
		name  string
		axes  [3]bool // which of x, y and y2 are logarithmic
		first Point
		right bool
		notes string
	}{
		{"y is 0", [3]bool{false, true, false}, at("p", 1, 0, "circle", false), false, "a.p"},
		{"x is 0", [3]bool{true, false, false}, at("p", 0, 1, "circle", false), false, "a.p"},
		{"y is negative", [3]bool{false, true, true}, at("p", 1, -1, "circle", false), true, "a.p"},
		{"a whisker to below 0", [3]bool{false, true, false}, whisker(1, 2), false, ""},
		{"and at the right", [3]bool{false, false, true}, whisker(1, 2), true, ""},
		{"linear", [3]bool{}, whisker(-1, 2), false, ""},
		{"large values", [3]bool{}, at("p", 1e17, 1e18, "circle", false), false, ""},
		{"too large a value", [3]bool{}, at("p", 1, -1.7e308, "circle", false), false, "a.p"},
	} {
		f := &Figure{Width: 8, X: &Axis{Log2: c.axes[0]}, Y: &Axis{Log2: c.axes[1]}, Y2: &Axis{Log2: c.axes[2]}}
		points := []Point{c.first, at("q", 4, 4, "circle", false)}
		if *c.first.Y.Value == 1e18 {
			points = points[:1]
		}
		f.Series = []Series{{ID: "a", Color: "black", Line: "solid", Right: c.right, Points: points}}
		var b bytes.Buffer
		if err := errors.Join(f.Finish(), f.SVG(&b)); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s: %v\n%.200s", c.name, err, b.String())
		}
		const why = ": not drawn, since a logarithmic axis has nothing at or below 0, and no axis what is beyond 1e300"
		if got := strings.Join(f.Notes(), ""); strings.TrimSuffix(got, why) != c.notes || c.notes != "" && !strings.HasSuffix(got, why) {
			t.Errorf("%s: %q, want %q", c.name, got, c.notes)
		}
	}
	f := &Figure{Width: 8, X: &Axis{Log2: true, Min: num(0)}, Y: &Axis{}, Series: []Series{{ID: "a", Color: "black", Line: "solid"}}}
	if err := f.Finish(); err == nil || err.Error() != "axis x: min and max must be numbers that it can show: above 0 if it is logarithmic, and below 1e300" {
		t.Error(err)
	}
}
