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
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// coordinates are the names of a point's numbers. Those after y belong to boxes and intervals.
var coordinates = []string{"x", "y", "low", "high", "q1", "q3"}

// number returns one of coordinates; it has no value if the point does not.
func (p Point) number(name string) Cell {
	switch name {
	case "x":
		return p.X
	case "y":
		return p.Y
	}
	return Cell{Value: map[string]*float64{"low": p.Low, "high": p.High, "q1": p.Q1, "q3": p.Q3}[name], N: p.Y.N, Inputs: p.Y.Inputs}
}

// whisker returns the ends of a drawn point's whisker: its value if the point has no whisker.
func (p Point) whisker() (low, high float64) {
	low, high = *p.Y.Value, *p.Y.Value
	if p.Low != nil {
		low, high = *p.Low, *p.High
	} else if p.Y.Std != nil {
		low, high = low-*p.Y.Std, high+*p.Y.Std
	}
	return low, high
}

// spread returns the numbers that a drawn point has on its axis.
func (p Point) spread() []float64 {
	low, high := p.whisker()
	return append([]float64{low, *p.Y.Value, high}, p.Outside...)
}

func (a *Axis) check(below bool) error {
	switch {
	case a == nil:
	case a.Log2 && a.Log10:
		return errors.New("is logarithmic by log2 or by log10, not both")
	case len(a.Categories) > 0 && !below:
		return errors.New("has numbers: only x has categories")
	case len(a.Categories) > 0 && (a.IsLog() || a.Min != nil || a.Max != nil || len(a.Ticks) > 0):
		return errors.New("has categories, which go without min, max, ticks, log2 and log10")
	case a.Min != nil && !a.reaches(*a.Min), a.Max != nil && !a.reaches(*a.Max):
		return errors.New("min and max must be numbers that it can show: above 0 if it is logarithmic, and below 1e300")
	default:
		for i, c := range a.Categories {
			if c == "" || slices.Contains(a.Categories[:i], c) {
				return fmt.Errorf("category %q is empty or there twice", c)
			}
		}
	}
	return nil
}

func (f *Figure) checkDraw(s Series) error {
	switch {
	case f.Heat != nil && (s.Draw != "" || f.Y2 != nil || len(f.X.Categories) == 0):
		return errors.New("is a row of a heat map, which has categories on x, y for its colors, and neither draw nor y2")
	case s.Draw == "bars" && f.axisOf(s).IsLog():
		return errors.New("bars begin at 0, which a logarithmic axis does not have: use line = \"none\" with a marker, or a linear axis")
	}
	return nil
}

// Complete reports the numbers that bars, boxes, heat maps and intervals lack. A figure that lacks steps may have gaps.
func (f *Figure) Complete(lacks bool) error {
	for _, s := range f.Series {
		mark, at := s.Draw, map[string]string{}
		if f.Heat != nil {
			mark = "cells"
		}
		for _, p := range s.Points {
			bad, place := "", cmp.Or(p.X.Typed, number(p.X.Value))
			switch {
			case p.X.Value == nil || p.Y.Value == nil:
				if lacks || mark == "" {
					continue
				}
				bad = mark + " need a number, and it is missing, NaN or infinite"
			case p.Low != nil && (*p.Low > *p.Y.Value || *p.High < *p.Y.Value):
				bad = fmt.Sprintf("its interval from %v to %v does not hold its value %v", *p.Low, *p.High, *p.Y.Value)
			case mark == "":
			case !f.shows(s, p) || f.axisOf(s).IsLog() && slices.Min(p.spread()) <= 0:
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

// spot is a drawn point: its middle on x, and the width of its bar or box.
type spot struct {
	Point
	x, wide float64
}

// spots returns the drawn points by series. Bars and boxes share a place's room; points over a series stand on it.
func (f *Figure) spots() [][]spot {
	all := make([][]spot, len(f.Series))
	var sharing []string
	var xs []float64
	for i, s := range f.Series {
		shares := s.Draw != ""
		for _, p := range s.Points {
			if f.shows(s, p) {
				all[i] = append(all[i], spot{p, *p.X.Value, p.Width})
				shares = shares && p.Width == 0
			}
		}
		if shares {
			sharing = append(sharing, s.ID)
			xs = append(xs, lists.Map(all[i], func(p spot) float64 { return p.x })...)
		}
	}
	slices.Sort(xs)
	room := 1.0 // around a place: the smallest distance of two
	if xs = slices.Compact(xs); len(xs) > 1 && len(f.X.Categories) == 0 {
		room = slices.Min(lists.Map(lists.Places(len(xs)-1), func(i int) float64 { return xs[i+1] - xs[i] }))
	}
	const share = 0.8 // of the room, between gaps
	each := share * room / float64(len(sharing))
	for i, s := range f.Series {
		turn := slices.Index(sharing, cmp.Or(s.Over, s.ID))
		for j := range all[i] {
			if p := &all[i][j]; turn >= 0 {
				p.x += (float64(turn) - float64(len(sharing)-1)/2) * each
				if s.Draw != "" {
					p.wide = each
				}
			}
		}
	}
	return all
}

// bars returns bars as one area, without seams between neighbours. Several histograms shine through each other.
func (f *Figure) bars(spots []spot, place func(float64) float64, c color.RGBA) *plotter.Polygon {
	paint := color.NRGBA{c.R, c.G, c.B, 255}
	if spots[0].Width > 0 && len(f.Series) > 1 {
		paint.A = 150
	}
	var area plotter.XYs
	for _, q := range spots {
		left, right, base, top := q.x-q.wide/2, q.x+q.wide/2, place(0), place(*q.Y.Value)
		area = append(area, plotter.XY{X: left, Y: base}, plotter.XY{X: left, Y: top}, plotter.XY{X: right, Y: top}, plotter.XY{X: right, Y: base})
	}
	return &plotter.Polygon{XYs: []plotter.XYs{area}, Color: paint, LineStyle: draw.LineStyle{Color: paint}}
}

func (q spot) box(place func(float64) float64, c color.RGBA, width vg.Length) *plotter.BoxPlot {
	line := draw.LineStyle{Color: ink, Width: vg.Points(0.7)}
	b := &plotter.BoxPlot{Width: width, CapWidth: width / 2, BoxStyle: line, WhiskerStyle: line,
		FillColor:   color.RGBA{c.R/2 + 128, c.G/2 + 128, c.B/2 + 128, 255},
		MedianStyle: draw.LineStyle{Color: ink, Width: vg.Points(1.4)},
		GlyphStyle:  draw.GlyphStyle{Color: ink, Radius: vg.Points(1.6), Shape: mark{"circle", true}}}
	b.Location, b.Median, b.Quartile1, b.Quartile3 = q.x, place(*q.Y.Value), place(*q.Q1), place(*q.Q3)
	b.AdjLow, b.AdjHigh = place(*q.Low), place(*q.High)
	b.Min, b.Max = b.AdjLow, b.AdjHigh
	for i, v := range q.Outside {
		b.Values, b.Outside = append(b.Values, place(v)), append(b.Outside, i)
	}
	return b
}

const colorBar, colorBarGap = vg.Length(15), vg.Length(7) // width with the gap before it

// viridis are colors of rising lightness, which people with any color vision tell apart, and
// print in black and white does (Smith and van der Walt), at equal steps.
var viridis = []color.RGBA{{68, 1, 84, 255}, {71, 45, 123, 255}, {59, 82, 139, 255}, {44, 114, 142, 255}, {33, 145, 140, 255},
	{40, 174, 128, 255}, {94, 201, 98, 255}, {173, 220, 48, 255}, {253, 231, 37, 255}}

// colorAt returns the color of viridis at a place from 0 to 1.
func colorAt(at float64) color.RGBA {
	at = min(max(at, 0), 1) * float64(len(viridis)-1)
	i := min(int(at), len(viridis)-2)
	a, b, t := viridis[i], viridis[i+1], at-float64(i)
	between := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-t) + float64(b)*t)) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 255}
}

// addCells draws the cells of a heat map of a size in an axis's colors, with all numbers as large as fits.
func (f *Figure) addCells(p *plot.Plot, rows [][]spot, size vg.Point, scale *plot.Axis) {
	label := style("Sans", smallPt, false)
	label.XAlign, label.YAlign = draw.XCenter, draw.YCenter
	fits := min(smallPt, 0.8*size.Y/vg.Length(len(rows)))
	numbers := &plotter.Labels{}
	for i, row := range rows {
		for _, q := range row {
			y, paint := float64(i), colorAt(scale.Norm(*q.Y.Value))
			p.Add(&plotter.Polygon{Color: paint, LineStyle: draw.LineStyle{Color: paint, Width: 0.3},
				XYs: []plotter.XYs{{{X: q.x - 0.5, Y: y - 0.5}, {X: q.x + 0.5, Y: y - 0.5}, {X: q.x + 0.5, Y: y + 0.5}, {X: q.x - 0.5, Y: y + 0.5}}}})
			if label.Color = ink; paint.G < 160 {
				label.Color = color.White
			}
			number := Format{Style: "fixed", Decimals: f.Y.Decimals}.number(*q.Y.Value)
			fits = min(fits, 0.9*smallPt*size.X/vg.Length(len(f.X.Categories))/label.Width(number))
			numbers.XYs, numbers.Labels = append(numbers.XYs, plotter.XY{X: q.x, Y: y}), append(numbers.Labels, number)
			numbers.TextStyle = append(numbers.TextStyle, label)
		}
	}
	for i := range numbers.TextStyle {
		numbers.TextStyle[i].Font.Size = max(4, fits)
	}
	if f.Heat.Labels {
		p.Add(numbers)
	}
}

// drawColors draws the bar of colors beside the data; the axis goes at the right edge of the canvas that it returns.
func drawColors(c draw.Canvas) draw.Canvas {
	left := c.Max.X + colorBarGap
	c.Max.X += colorBar
	const steps = 128
	for i := range steps { // each up to the top, so that there are no seams
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

// fitCategories breaks names of categories that are wider than their room at blanks, and turns them if a word is wider.
func fitCategories(p *plot.Plot, names []string, body draw.Canvas) {
	room := 0.95 * p.DataCanvas(body).Size().X / vg.Length(len(names))
	fits := func(text string) bool { return p.X.Tick.Label.Width(text) <= room }
	ticks, most := categoryTicks(names), 0
	rows := make([][]string, len(ticks))
	for i, t := range ticks {
		for _, word := range strings.Fields(t.Label) {
			if !fits(word) {
				p.X.Tick.Label.Rotation = math.Pi / 4
				p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YTop
				return
			}
			if last := len(rows[i]) - 1; last >= 0 && fits(rows[i][last]+" "+word) {
				rows[i][last] += " " + word
			} else {
				rows[i] = append(rows[i], word)
			}
		}
		most = max(most, len(rows[i]))
	}
	for i := range ticks { // with as many lines each, so that they begin at one height
		ticks[i].Label = strings.Join(rows[i], "\n") + strings.Repeat("\n ", most-len(rows[i]))
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
}

// takeTitles removes the titles of the axes from a plot, which would put them around the axes' middle number: near its
// end on a logarithmic axis. It returns the rest of the canvas, and a function that draws the titles.
func takeTitles(p *plot.Plot, c draw.Canvas) (body draw.Canvas, titles func(data draw.Canvas)) {
	below, beside := p.X.Label, p.Y.Label
	p.X.Label.Text, p.Y.Label.Text = "", ""
	if body = c; below.Text != "" {
		body.Min.Y += below.TextStyle.Height(below.Text) + below.Padding
	}
	if beside.Text != "" {
		body.Min.X += beside.TextStyle.Height(beside.Text) + beside.Padding
	}
	beside.TextStyle.Rotation, beside.TextStyle.YAlign = math.Pi/2, draw.YTop
	return body, func(data draw.Canvas) {
		c.FillText(below.TextStyle, vg.Point{X: data.Center().X, Y: c.Min.Y + below.TextStyle.FontExtents().Descent}, below.Text)
		c.FillText(beside.TextStyle, vg.Point{X: c.Min.X, Y: data.Center().Y}, beside.Text)
	}
}

// powersOfTen returns the ticks of a logarithmic axis: at most eight with labels and, where each power has one, small
// ticks between them, of which 2 and 5 have labels if there are few powers. A shorter axis has round numbers.
func powersOfTen(low, high float64) (out []plot.Tick) {
	first, last := math.Ceil(math.Log10(low)-1e-9), math.Floor(math.Log10(high)+1e-9)
	every, labels := max(1, math.Ceil((last-first+1)/8)), 0
	for e := first - 1; e <= last; e++ {
		for k := 1.0; k < 10; k++ {
			v, label := k*math.Pow(10, e), ""
			if k == 1 && math.Mod(e-first, every) == 0 || last <= first && (k == 2 || k == 5) {
				if label = fmt.Sprintf("%ve%v", k, e); first >= -4 && last <= 5 {
					label = strconv.FormatFloat(v, 'f', int(max(0, -e)), 64)
				}
			}
			if v >= low*(1-1e-9) && v <= high*(1+1e-9) && (label != "" || every == 1) {
				out = append(out, plot.Tick{Value: v, Label: minus(label)})
				labels += min(1, len(label))
			}
		}
	}
	if labels < 2 {
		return linearTicks(low, high)
	}
	return out
}

// minus writes a number with the minus sign of print.
func minus(number string) string { return strings.ReplaceAll(number, "-", "−") }
