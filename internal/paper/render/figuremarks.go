package render

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// coordinates are the numbers of a point by their names. Those after y are of boxes and intervals.
var coordinates = []string{"x", "y", "low", "high", "q1", "q3"}

// number is one of coordinates; empty if the point has no such number.
func (p Point) number(name string) Cell {
	v := map[string]*float64{"low": p.Low, "high": p.High, "q1": p.Q1, "q3": p.Q3}[name]
	switch {
	case name == "x":
		return p.X
	case name == "y":
		return p.Y
	case v == nil:
		return Cell{}
	}
	return Cell{Value: v, N: p.Y.N, Inputs: p.Y.Inputs}
}

// lowest is the least number that a drawn point has on its axis.
func (p Point) lowest() float64 {
	low, _ := p.whisker()
	return slices.Min(append([]float64{low}, p.Outside...))
}

// whisker is where the whisker of a drawn point ends: at its value if the point has none.
func (p Point) whisker() (low, high float64) {
	switch v := *p.Y.Value; {
	case p.Low != nil:
		return *p.Low, *p.High
	case p.Y.Std != nil:
		return v - *p.Y.Std, v + *p.Y.Std
	default:
		return v, v
	}
}

func (a *Axis) check(below bool) error {
	switch {
	case a == nil:
	case a.Log2 && a.Log10:
		return errors.New("is logarithmic by log2 or by log10, not both")
	case len(a.Categories) == 0:
	case !below:
		return errors.New("has numbers: only x has categories")
	case a.isLog() || a.Min != nil || a.Max != nil || len(a.Ticks) > 0:
		return errors.New("has categories, which go without min, max, ticks, log2 and log10")
	default:
		for i, c := range a.Categories {
			if c == "" || slices.Contains(a.Categories[:i], c) {
				return fmt.Errorf("category %q is empty or there twice", c)
			}
		}
	}
	return nil
}

// checkDraw says what a series cannot be drawn by.
func (f *Figure) checkDraw(s Series) error {
	switch {
	case f.Heat != nil && (s.Draw != "" || f.Y2 != nil || len(f.X.Categories) == 0):
		return errors.New("is a row of a heat map, which has categories on x, y for its colors, and neither draw nor y2")
	case !slices.Contains([]string{"", "bars", "box"}, s.Draw):
		return fmt.Errorf("there is no mark %q; there are bars and box", s.Draw)
	case s.Draw == "bars" && f.axisOf(s).isLog():
		return errors.New("bars begin at 0, which a logarithmic axis does not have: use line = \"none\" with a marker, or a linear axis")
	}
	return nil
}

// Complete says which numbers bars, boxes, heat maps and intervals need and the data do not have.
// A figure that lacks some steps may have gaps.
func (f *Figure) Complete(lacks bool) error {
	for _, s := range f.Series {
		mark, at := s.Draw, map[string]string{}
		if f.Heat != nil {
			mark = "cells"
		}
		for _, p := range s.Points {
			bad := ""
			place := cmp.Or(p.X.Typed, number(p.X.Value))
			switch there := p.X.Value != nil && p.Y.Value != nil; {
			case !there && (lacks || mark == ""):
				continue
			case !there:
				bad = mark + " need a number, and there is none, or one that is NaN or infinite"
			case p.Low != nil && (*p.Low > *p.Y.Value || *p.High < *p.Y.Value):
				bad = fmt.Sprintf("its interval from %v to %v does not hold its value %v", *p.Low, *p.High, *p.Y.Value)
			case mark == "":
			case !f.shows(s, p) || f.axisOf(s).isLog() && p.lowest() <= 0:
				bad = "it has no place on a logarithmic axis, which has nothing at or below 0, or is beyond 1e300"
			case at[place] != "":
				bad = fmt.Sprintf("it stands where point %s does: %s need one point at each place of a series", at[place], mark)
			}
			if bad != "" {
				return fmt.Errorf("series %s: point %s: %s", s.ID, p.ID, bad)
			}
			at[place] = p.ID
		}
		holes := lists.Filter(f.X.Categories, func(c string) bool { return at[c] == "" })
		switch {
		case lacks || mark == "":
		case len(at) == 0:
			return fmt.Errorf("series %s: %s need points, and it has none", s.ID, mark)
		case f.Heat != nil && holes != nil:
			return fmt.Errorf("series %s: the row has no cell at %s: a heat map has one at each category", s.ID, words.Quoted(holes, mostNamed))
		}
	}
	return nil
}

// stands says where the middle of a point's mark is on x, and how wide its bar or box is: those of
// several series share the room around a place. A line's point has no width.
func (f *Figure) stands() func(Series, Point) (x, wide float64) {
	sharing := lists.Filter(f.Series, func(o Series) bool {
		return o.Draw != "" && !slices.ContainsFunc(o.Points, func(p Point) bool { return p.Width > 0 })
	})
	var xs []float64
	for _, o := range sharing {
		for _, q := range o.Points {
			if q.X.Value != nil {
				xs = append(xs, *q.X.Value)
			}
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	room := math.Inf(1) // around a place: the smallest distance of two
	for i := 1; i < len(xs); i++ {
		room = min(room, xs[i]-xs[i-1])
	}
	if len(xs) < 2 || len(f.X.Categories) > 0 {
		room = 1
	}
	const share = 0.8 // of the room, between gaps
	each := share * room / float64(len(sharing))
	return func(s Series, p Point) (x, wide float64) {
		i := slices.IndexFunc(sharing, func(o Series) bool { return o.ID == s.ID || o.ID == s.Over })
		switch x = *p.X.Value; {
		case p.Width > 0:
			return x, p.Width
		case i < 0:
			return x, 0
		case s.Draw != "":
			wide = each
		}
		return x + (float64(i)-float64(len(sharing)-1)/2)*each, wide
	}
}

// addBars draws the bars of a series as one area, so that no seam is between neighbours. Bars
// that have a width, as of histograms, let those behind them be seen.
func (f *Figure) addBars(p *plot.Plot, s Series, place func(Series, float64) float64, c color.RGBA) error {
	stand := f.stands()
	var area plotter.XYs
	paint := color.NRGBA{c.R, c.G, c.B, 255}
	base := place(s, 0)
	for _, q := range lists.Filter(s.Points, func(q Point) bool { return f.shows(s, q) }) {
		x, wide := stand(s, q)
		y, left, right := place(s, *q.Y.Value), x-wide/2, x+wide/2
		area = append(area, plotter.XY{X: left, Y: base}, plotter.XY{X: left, Y: y}, plotter.XY{X: right, Y: y}, plotter.XY{X: right, Y: base})
		if q.Width > 0 && len(f.Series) > 1 {
			paint.A = 150
		}
	}
	if p.Y.Min < base && base < p.Y.Max { // else it is an axis
		zero, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: base}, {X: p.X.Max, Y: base}})
		if err != nil {
			return err
		}
		zero.LineStyle = draw.LineStyle{Color: edge, Width: vg.Points(0.7)}
		p.Add(zero)
	}
	return addArea(p, area, paint, 0)
}

// addArea fills a polygon, and draws its edge in the same color.
func addArea(p *plot.Plot, corners plotter.XYs, paint color.Color, rim vg.Length) error {
	if len(corners) == 0 {
		return nil
	}
	area, err := plotter.NewPolygon(corners)
	if err != nil {
		return err
	}
	area.Color, area.LineStyle = paint, draw.LineStyle{Color: paint, Width: rim}
	p.Add(area)
	return nil
}

// addBoxes draws boxes on a canvas of a width.
func (f *Figure) addBoxes(p *plot.Plot, s Series, place func(Series, float64) float64, c color.RGBA, width vg.Length) {
	line := draw.LineStyle{Color: ink, Width: vg.Points(0.7)}
	const ofRoom = 0.75
	stand := f.stands()
	for _, q := range s.Points {
		if !f.shows(s, q) || q.Low == nil || q.Q1 == nil {
			continue
		}
		x, wide := stand(s, q)
		b := &plotter.BoxPlot{Width: width * vg.Length(ofRoom*wide/(p.X.Max-p.X.Min)), BoxStyle: line, WhiskerStyle: line, FillColor: color.RGBA{c.R/2 + 128, c.G/2 + 128, c.B/2 + 128, 255},
			MedianStyle: draw.LineStyle{Color: ink, Width: vg.Points(1.4)},
			GlyphStyle:  draw.GlyphStyle{Color: ink, Radius: vg.Points(1.6), Shape: mark{"circle", true}}}
		b.CapWidth = b.Width / 2
		b.Location, b.Median, b.Quartile1, b.Quartile3 = x, place(s, *q.Y.Value), place(s, *q.Q1), place(s, *q.Q3)
		b.AdjLow, b.AdjHigh = place(s, *q.Low), place(s, *q.High)
		b.Min, b.Max = b.AdjLow, b.AdjHigh
		for i, v := range q.Outside {
			b.Values, b.Outside = append(b.Values, place(s, v)), append(b.Outside, i)
			b.Min, b.Max = min(b.Min, b.Values[i]), max(b.Max, b.Values[i])
		}
		p.Add(b)
	}
}

// rows is the axis of a heat map's rows.
func (f *Figure) rows() *Axis {
	return &Axis{Title: f.Heat.Rows, Categories: lists.Map(f.Series, func(s Series) string { return cmp.Or(s.Title, s.ID) })}
}

// colors is the axis of a heat map's colors, which ends where the numbers do.
func (f *Figure) colors(e extent) *Axis {
	a := *f.Y
	if a.Min, a.Max = &e.min, &e.max; !a.isLog() && len(a.Ticks) == 0 && e.min < e.max {
		for _, t := range linearTicks(e.min, e.max, 8) {
			a.Ticks = append(a.Ticks, Tick{t.Value, t.Label})
		}
	}
	return &a
}

const (
	colorBar    = vg.Length(15) // with the gap before it
	colorBarGap = vg.Length(7)
)

// viridis are colors of rising lightness, which people with any colour vision tell apart, and
// print in black and white does (Smith and van der Walt), at equal steps.
var viridis = []color.RGBA{{68, 1, 84, 255}, {71, 45, 123, 255}, {59, 82, 139, 255}, {44, 114, 142, 255}, {33, 145, 140, 255},
	{40, 174, 128, 255}, {94, 201, 98, 255}, {173, 220, 48, 255}, {253, 231, 37, 255}}

// colorAt is the color between those of viridis at a place from 0 to 1.
func colorAt(at float64) color.RGBA {
	at = min(max(at, 0), 1) * float64(len(viridis)-1)
	i := min(int(at), len(viridis)-2)
	a, b, t := viridis[i], viridis[i+1], at-float64(i)
	between := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-t) + float64(b)*t)) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 255}
}

// addCells draws the cells of a heat map on a canvas of a size, with all numbers as large as fits.
func (f *Figure) addCells(p *plot.Plot, e extent, size vg.Point) error {
	var scale plot.Axis
	setAxis(&scale, f.colors(e), e)
	label := style("Sans", smallPt, false)
	label.XAlign, label.YAlign = draw.XCenter, draw.YCenter
	wide, high := size.X/vg.Length(len(f.X.Categories)), size.Y/vg.Length(len(f.Series))
	fits := min(smallPt, 0.8*high)
	var numbers plotter.XYLabels
	var styles []text.Style
	for i, s := range f.Series {
		for _, q := range lists.Filter(s.Points, func(q Point) bool { return f.shows(s, q) }) {
			x, y, paint := *q.X.Value, float64(i), colorAt(scale.Norm(*q.Y.Value))
			corners := plotter.XYs{{X: x - 0.5, Y: y - 0.5}, {X: x + 0.5, Y: y - 0.5}, {X: x + 0.5, Y: y + 0.5}, {X: x - 0.5, Y: y + 0.5}}
			if err := addArea(p, corners, paint, 0.3); err != nil {
				return err
			}
			number := Format{Style: "fixed", Decimals: f.Y.Decimals}.number(*q.Y.Value)
			fits = min(fits, 0.9*smallPt*wide/label.Width(number))
			if label.Color = ink; paint.G < 160 {
				label.Color = color.White
			}
			numbers.XYs, numbers.Labels, styles = append(numbers.XYs, plotter.XY{X: x, Y: y}), append(numbers.Labels, number), append(styles, label)
		}
	}
	if !f.Heat.Labels || len(styles) == 0 {
		return nil
	}
	labels, err := plotter.NewLabels(numbers)
	if err != nil {
		return err
	}
	for i := range styles {
		styles[i].Font.Size = max(4, fits)
	}
	labels.TextStyle = styles
	p.Add(labels)
	return nil
}

// drawColors draws the bar of colors at the right of the data. The axis goes at the right edge of
// what it returns.
func drawColors(c draw.Canvas) draw.Canvas {
	left := c.Max.X + colorBarGap
	c.Max.X += colorBar
	const steps = 128
	for i := range steps { // each over all that is above, so that there are no seams
		y := c.Y(float64(i) / steps)
		c.FillPolygon(colorAt(float64(i)/(steps-1)), []vg.Point{{X: left, Y: y}, {X: c.Max.X, Y: y}, {X: c.Max.X, Y: c.Max.Y}, {X: left, Y: c.Max.Y}})
	}
	return c
}

func categoryTicks(categories []string) (ticks []plot.Tick) {
	for i, c := range categories {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: drawn(c)})
	}
	return ticks
}

// fitCategories breaks the names of categories at blanks where they are wider than their room, and
// turns them if that is not enough.
func (f *Figure) fitCategories(p *plot.Plot, body draw.Canvas) {
	ticks, lines, room := categoryTicks(f.X.Categories), 0, vg.Length(0)
	wide := func(label string) bool { return p.X.Tick.Label.Width(label) > room }
	fits := func() bool {
		p.X.Tick.Marker = plot.ConstantTicks(ticks)
		room = 0.95 * p.DataCanvas(body).Size().X / vg.Length(len(ticks))
		return !slices.ContainsFunc(ticks, func(t plot.Tick) bool { return wide(t.Label) })
	}
	if len(ticks) == 0 || fits() {
		return
	}
	for i := range ticks {
		label := ""
		for _, word := range strings.Fields(ticks[i].Label) {
			if label += " " + word; wide(label[strings.LastIndex(label, "\n")+1:]) {
				label = strings.TrimSuffix(label, " "+word) + "\n" + word
			}
		}
		ticks[i].Label = strings.TrimSpace(label)
		lines = max(lines, strings.Count(ticks[i].Label, "\n"))
	}
	for i, t := range ticks { // of as many lines each: they begin at one height
		ticks[i].Label += strings.Repeat("\n ", lines-strings.Count(t.Label, "\n"))
	}
	if fits() {
		return
	}
	ticks = categoryTicks(f.X.Categories)
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Tick.Label.Rotation = math.Pi / 4
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YTop
}

// takeTitles takes the titles of the axes from a plot, which leaves room for them around their middle
// number, on a logarithmic axis near its end. It returns what is left of the canvas, and what draws them.
func takeTitles(p *plot.Plot, c draw.Canvas) (draw.Canvas, func(data draw.Canvas)) {
	below, beside, x, y := p.X.Label.TextStyle, p.Y.Label.TextStyle, p.X.Label.Text, p.Y.Label.Text
	beside.Rotation, beside.YAlign = math.Pi/2, draw.YTop
	room := func(s text.Style, title string) vg.Length {
		if title == "" {
			return 0
		}
		return s.Height(title) + p.X.Label.Padding
	}
	p.X.Label.Text, p.Y.Label.Text = "", ""
	return draw.Crop(c, room(p.Y.Label.TextStyle, y), 0, room(below, x), 0), func(data draw.Canvas) {
		c.FillText(below, vg.Point{X: data.Center().X, Y: c.Min.Y + below.FontExtents().Descent}, x)
		c.FillText(beside, vg.Point{X: c.Min.X, Y: data.Center().Y}, y)
	}
}

// widenNear moves the ends of an axis that the data decide outwards by a part of its length, and
// not over 0, where bars begin.
func (a *Axis) widenNear(to *plot.Axis, e extent) {
	below, above := a.Min == nil || e.min < *a.Min, a.Max == nil || e.max > *a.Max
	by, times := (to.Max-to.Min)*0.05, math.Pow(to.Max/to.Min, 0.04)
	switch {
	case a.isLog() && below:
		to.Min /= times
	case below && e.min >= 0 && e.max > 0:
		to.Min = max(to.Min-by, 0)
	case below:
		to.Min -= by
	}
	switch {
	case a.isLog() && above:
		to.Max *= times
	case above && e.max <= 0 && e.min < 0:
		to.Max = min(to.Max+by, 0)
	case above:
		to.Max += by
	}
}

// powersOfTen are the ticks of a logarithmic axis: at most eight with labels, and where each power
// has one, small ticks between them, of which 2 and 5 have labels where there are few powers. An
// axis that is shorter than that has round numbers.
func powersOfTen(low, high float64) (out []plot.Tick) {
	first, last := math.Ceil(math.Log10(low)-1e-9), math.Floor(math.Log10(high)+1e-9)
	every, labels := max(1, math.Ceil((last-first+1)/8)), 0
	for e := first - 1; e <= last; e++ {
		for k := 1.0; k < 10; k++ {
			v, label := k*math.Pow(10, e), ""
			if k == 1 && math.Mod(e-first, every) == 0 || last-first < 1 && (k == 2 || k == 5) {
				if label = fmt.Sprintf("%ve%v", k, e); first >= -4 && last <= 5 {
					label = strconv.FormatFloat(v, 'f', int(max(0, -e)), 64)
				}
			}
			if v < low*(1-1e-9) || v > high*(1+1e-9) || label == "" && every > 1 {
				continue
			}
			if out = append(out, plot.Tick{Value: v, Label: minus(label)}); label != "" {
				labels++
			}
		}
	}
	if labels < 2 {
		return linearTicks(low, high, 5)
	}
	return out
}

// minus writes a number with the sign that print has for less than zero.
func minus(number string) string { return strings.ReplaceAll(number, "-", "−") }
