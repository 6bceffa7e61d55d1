package render

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPowersOfTen: a logarithmic axis has labels at powers of ten, never many and never none.
func TestPowersOfTen(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
		small     int
	}{
		{0.01, 1000, "0.01 0.1 1 10 100 1000", 40},
		{0.02, 45, "0.1 1 10", 27},
		{1e-7, 1e-2, "1e−7 1e−6 1e−5 1e−4 1e−3 1e−2", 40},
		{1000, 2e7, "1e3 1e4 1e5 1e6 1e7", 33},
		{2, 8, "2 5", 5},
		{1.2, 1.9, "1.2 1.4 1.6 1.8", 0},
		{30, 200, "50 100 200", 6},
		{1e-20, 1e20, "1e−20 1e−14 1e−8 1e−2 1e4 1e10 1e16", 0},
	} {
		var labels []string
		small := 0
		for _, tick := range powersOfTen(c.low, c.high) {
			if tick.Value < c.low*0.999 || tick.Value > c.high*1.001 {
				t.Errorf("%v to %v: a tick at %v", c.low, c.high, tick.Value)
			}
			if tick.IsMinor() {
				small++
			} else {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want || small != c.small {
			t.Errorf("%v to %v: %s and %d small ones, want %s and %d", c.low, c.high, got, small, c.want, c.small)
		}
	}
}

// TestMarksStand: bars of several series share the room around a place, and the paper's mark of a bar stands on it.
func TestMarksStand(t *testing.T) {
	spots := figures()["bars"].spots()
	for _, c := range []struct {
		series, point int
		x, wide       float64
	}{{0, 0, -0.2, 0.4}, {0, 1, 0.8, 0.4}, {1, 0, 2.2, 0.4}, {2, 0, -0.2, 0}} {
		if p := spots[c.series][c.point]; fmt.Sprintf("%.6f %.6f", p.x, p.wide) != fmt.Sprintf("%.6f %.6f", c.x, c.wide) {
			t.Errorf("point %s of series %d stands at %v, %v wide", p.ID, c.series, p.x, p.wide)
		}
	}
	one := &Figure{X: &Axis{}, Y: &Axis{}, Series: []Series{{ID: "a", Draw: "bars", Points: []Point{at("p", 10, 1, "none", false), at("q", 14, 1, "none", false), at("r", 20, 1, "none", false)}}}}
	if p := one.spots()[0][0]; p.x != 10 || p.wide != 3.2 {
		t.Errorf("a bar over numbers stands at %v, %v wide", p.x, p.wide)
	}
}

// TestMarksAtLimits: marks of few numbers, of equal ones and of many are pictures too; data outside of an axis widen it.
func TestMarksAtLimits(t *testing.T) {
	var names []string
	var wide []Point
	for i := range 60 {
		names = append(names, fmt.Sprint("category number ", i))
		wide = append(wide, category(float64(i), names[i], 7, 0))
	}
	box := Point{ID: "p", X: Number(3), Y: Number(2), Marker: "none", Low: num(2), Q1: num(2), Q3: num(2), High: num(2)}
	for name, change := range map[string]func(f *Figure, s *Series){
		"no points":  func(f *Figure, s *Series) { s.Points = nil },
		"one point":  func(*Figure, *Series) {},
		"no numbers": func(f *Figure, s *Series) { s.Points = []Point{{ID: "a", Marker: "none"}} },
		"beyond its axes": func(f *Figure, s *Series) {
			f.X.Max, f.Y.Min, s.Points = num(320), num(45), []Point{at("a", -50, 3, "circle", false), at("b", 5000, 99, "circle", true)}
		},
		"no bars":         func(f *Figure, s *Series) { s.Draw, s.Points = "bars", nil },
		"bars of 0":       func(f *Figure, s *Series) { s.Draw, s.Points = "bars", []Point{at("p", 1, 0, "none", false)} },
		"bars below 0":    func(f *Figure, s *Series) { s.Draw, s.Points = "bars", []Point{at("p", 1, -2, "none", false)} },
		"bars at right":   func(f *Figure, s *Series) { s.Draw, s.Right, f.Y2 = "bars", true, &Axis{Title: "r"} },
		"a gap":           func(f *Figure, s *Series) { s.Draw, s.Points = "bars", []Point{{ID: "p", Marker: "none"}} },
		"one number":      func(f *Figure, s *Series) { s.Draw, s.Points = "box", []Point{box} },
		"one on log10":    func(f *Figure, s *Series) { s.Draw, s.Points, f.Y.Log10 = "box", []Point{box}, true },
		"equal cells":     func(f *Figure, s *Series) { f.Heat, f.X.Categories, s.Points = &Heat{Labels: true}, names, wide },
		"many categories": func(f *Figure, s *Series) { s.Draw, f.X.Categories, s.Points = "bars", names, wide },
		"no categories":   func(f *Figure, s *Series) { f.Heat, f.X.Categories, s.Points = &Heat{}, []string{"a"}, nil },
	} {
		f := &Figure{Width: 8.5, X: &Axis{Title: "x"}, Y: &Axis{Title: "y"}, Series: []Series{{ID: "s", Color: "atomic", Line: "solid", Points: []Point{at("p", 1, 3, "none", false)}}}}
		change(f, &f.Series[0])
		var svg, pdf bytes.Buffer
		testkit.None(t, errors.Join(f.Finish(), f.SVG(&svg), f.PDF(&pdf)))
		if checkSVG(t, svg.Bytes()); strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") || name == "beyond its axes" && !strings.Contains(svg.String(), "fill:#009E73") {
			t.Errorf("%s: %.2000s", name, svg.String())
		}
	}
}
