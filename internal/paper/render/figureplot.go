package render

import (
	"errors"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	smallPt  = 8.0
	normalPt = 9.0
	markerPt = 3.4
)

// drawPlot draws series over axes, with a legend in rows below.
func (f *Figure) drawPlot(c draw.Canvas) error {
	p := plot.New()
	p.BackgroundColor = color.White
	xs, ys, rights := f.extent()
	left, right := f.Y, f.Y2
	if f.Heat != nil {
		left, right = f.rows(), f.colors(rights)
	}
	setAxis(&p.X, f.X, xs)
	setAxis(&p.Y, left, ys)
	lines := &plotter.Grid{}
	if len(f.X.Categories) == 0 {
		lines.Vertical = grid()
	}
	if f.Heat == nil {
		lines.Horizontal = grid()
	} else {
		p.Y.Scale = plot.InvertedScale{Normalizer: p.Y.Scale} // the first row on top
	}
	p.Add(lines)
	place := func(s Series, y float64) float64 { return math.Max(y, p.Y.Min) } // which only a whisker is below
	if f.Y2 != nil {
		var right plot.Axis
		setAxis(&right, f.Y2, rights)
		left := place
		place = func(s Series, y float64) float64 {
			if !s.Right {
				return left(s, y)
			}
			at := right.Norm(math.Max(y, right.Min)) // from zero to one
			if f.Y.isLog() {
				return p.Y.Min * math.Pow(p.Y.Max/p.Y.Min, at)
			}
			return p.Y.Min + at*(p.Y.Max-p.Y.Min)
		}
	}
	rows := f.legend(c.Size().X)
	low := vg.Length(len(rows)) * legendRow
	body := draw.Crop(c, 3, -8, low+3, -5)
	if right != nil {
		body = draw.Crop(body, 0, -30, 0, 0)
	}
	if f.Heat != nil {
		body = draw.Crop(body, 0, -colorBar, 0, 0)
	}
	titles := func(draw.Canvas) {}
	if f.X.Log10 || left.Log10 {
		body, titles = takeTitles(p, body)
	}
	f.fitCategories(p, body)
	size := p.DataCanvas(body).Size()
	series, err := f.Series, error(nil)
	if f.Heat != nil {
		series, err = nil, f.addCells(p, rights, size)
	}
	for _, s := range series {
		err = errors.Join(err, f.addSeries(p, s, place, size.X))
	}
	if err != nil {
		return err
	}
	p.Draw(body)
	titles(p.DataCanvas(body))
	if data := p.DataCanvas(body); right != nil {
		if f.Heat != nil {
			data = drawColors(data)
		}
		drawRight(data, right, rights)
	}
	for i, row := range rows {
		drawLegend(c, row, c.Min.Y+low-vg.Length(i)*legendRow-legendRow/2)
	}
	return nil
}

func grid() draw.LineStyle { return draw.LineStyle{Color: faint, Width: vg.Points(0.5)} }

// extent is the range of the numbers on an axis.
type extent struct {
	min, max float64
	isOfBars bool // or boxes, whose axes end near the data
}

func (e *extent) add(v float64) { e.min, e.max = math.Min(e.min, v), math.Max(e.max, v) }

// extent is what the axes x, y and y2 must show.
func (f *Figure) extent() (x, y, right extent) {
	all := [3]extent{}
	for i, a := range []*Axis{f.X, f.Y, f.Y2} {
		all[i] = extent{min: math.Inf(1), max: math.Inf(-1), isOfBars: slices.ContainsFunc(f.Series, func(s Series) bool { return s.Draw != "" })}
		if a != nil && a.Min != nil {
			all[i].add(*a.Min)
		}
		if a != nil && a.Max != nil {
			all[i].add(*a.Max)
		}
	}
	stand := f.stands()
	for _, s := range f.Series {
		for _, p := range s.Points {
			if !f.shows(s, p) {
				continue
			}
			x, wide := stand(s, p)
			all[0].add(x - wide/2)
			all[0].add(x + wide/2)
			at := 1
			if s.Right || f.Heat != nil {
				at = 2
			}
			low, high := p.whisker()
			if f.axisOf(s).isLog() && low <= 0 {
				low = *p.Y.Value / 2 // the whisker ends at the edge
			}
			for _, y := range append([]float64{low, high, *p.Y.Value}, p.Outside...) {
				all[at].add(y)
			}
			if s.Draw == "bars" {
				all[at].add(0)
			}
		}
	}
	for i := range all {
		if all[i].min > all[i].max {
			all[i].min, all[i].max = 0, 1 // nothing to show yet
		}
	}
	return all[0], all[1], all[2]
}

func setAxis(a *plot.Axis, of *Axis, e extent) {
	a.Label.Text = drawn(of.Title)
	a.Label.TextStyle = style("Sans", normalPt, false)
	a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	a.Label.Padding = 3
	label := style("Sans", smallPt, false)
	label.XAlign, label.YAlign, label.Rotation = a.Tick.Label.XAlign, a.Tick.Label.YAlign, a.Tick.Label.Rotation
	a.Tick.Label = label
	a.LineStyle = draw.LineStyle{Color: edge, Width: vg.Points(0.7)}
	a.Tick.LineStyle, a.Tick.Length = a.LineStyle, vg.Points(3)
	a.Padding = 0
	if n := len(of.Categories); n > 0 {
		a.Min, a.Max = -0.5, float64(n)-0.5
		a.Tick.Marker = plot.ConstantTicks(categoryTicks(of.Categories))
		return
	}
	a.Min, a.Max = e.min, e.max
	if around := math.Abs(a.Max) * 1e-9; a.Max-a.Min < math.Max(around*1e-6, 1e-300) { // too near for ticks between them
		a.Min, a.Max = a.Min-math.Max(around, 0.5), a.Max+math.Max(around, 0.5)
	}
	a.Scale = plot.LinearScale{}
	if of.isLog() {
		a.Scale = plot.LogScale{}
		if a.Min <= 0 { // of one value, or of none
			a.Min = a.Max / 1024
		}
		if of.Log10 {
			of.widenNear(a, e)
		}
	} else {
		of.widen(a, e)
	}
	a.Tick.Marker = plot.ConstantTicks(of.ticks(a.Min, a.Max))
}

// widen moves the ends of a linear axis that the data decide outwards to a round
// number, so that no mark stands on an edge.
func (a *Axis) widen(to *plot.Axis, e extent) {
	if e.isOfBars {
		a.widenNear(to, e)
		return
	}
	step := RoundStep((to.Max - to.Min) / 5)
	if a.Min == nil || e.min < *a.Min {
		to.Min = math.Floor(to.Min/step-0.2) * step
		if e.min >= 0 {
			to.Min = max(to.Min, 0)
		}
	}
	if a.Max == nil || e.max > *a.Max {
		to.Max = math.Ceil(to.Max/step+0.2) * step
	}
}

// ticks are those that the figure names, if they reach over the data; else
// powers of two or ten, or round numbers.
func (a *Axis) ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	inside := a.Min == nil || low >= *a.Min
	inside = inside && (a.Max == nil || high <= *a.Max)
	if len(a.Ticks) > 0 && inside {
		for _, t := range a.Ticks {
			if t.At >= low && t.At <= high {
				out = append(out, plot.Tick{Value: t.At, Label: drawn(t.Label)})
			}
		}
		return out
	}
	if a.Log2 {
		for e := math.Ceil(math.Log2(low)); e <= math.Log2(high); e++ {
			out = append(out, plot.Tick{Value: math.Exp2(e), Label: strconv.FormatFloat(math.Exp2(e), 'g', -1, 64)})
		}
		return out
	}
	if a.Log10 {
		return powersOfTen(low, high)
	}
	return append(out, linearTicks(low, high, 5)...)
}

// linearTicks are at most one more than most round numbers.
func linearTicks(low, high float64, most int) (out []plot.Tick) {
	step := RoundStep((high - low) / float64(most))
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if step*math.Pow(10, float64(decimals)) != math.Trunc(step*math.Pow(10, float64(decimals))) {
		decimals++ // 0.25
	}
	for n := int(math.Ceil(low/step - 1e-9)); float64(n)*step <= high+step*1e-9; n++ {
		v := float64(n) * step
		out = append(out, plot.Tick{Value: v, Label: minus(strconv.FormatFloat(v, 'f', decimals, 64))})
	}
	return out
}

// RoundStep is the smallest of 1, 2, 2.5 and 5 times a power of ten that is not
// below v.
func RoundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 2.5, 5} {
		if v <= k*power*(1+1e-9) {
			return k * power
		}
	}
	return 10 * power
}

func (f *Figure) addSeries(p *plot.Plot, s Series, place func(Series, float64) float64, width vg.Length) error {
	c, err := parseColor(s.Color)
	if err != nil {
		return err
	}
	switch s.Draw {
	case "bars":
		if err := f.addBars(p, s, place, c); err != nil {
			return err
		}
	case "box":
		f.addBoxes(p, s, place, c, width)
		return nil
	}
	var line plotter.XYs
	stand := f.stands()
	for _, q := range s.Points {
		if !f.shows(s, q) {
			continue
		}
		x, _ := stand(s, q)
		line = append(line, plotter.XY{X: x, Y: place(s, *q.Y.Value)})
	}
	if len(line) == 0 {
		return nil
	}
	if s.Draw == "" {
		l, err := plotter.NewLine(line)
		if err != nil {
			return err
		}
		l.LineStyle = lineStyle(s.Line, c)
		p.Add(l)
	} else {
		c = ink // of the whiskers over bars
	}
	for _, q := range s.Points {
		if !f.shows(s, q) {
			continue
		}
		x, _ := stand(s, q)
		if low, high := q.whisker(); q.Y.Std != nil || q.Low != nil {
			whisker, err := plotter.NewLine(plotter.XYs{{X: x, Y: place(s, low)}, {X: x, Y: place(s, high)}})
			if err != nil {
				return err
			}
			whisker.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(0.9)}
			p.Add(whisker)
		}
		if s.Draw != "" {
			continue
		}
		dots, err := plotter.NewScatter(plotter.XYs{{X: x, Y: place(s, *q.Y.Value)}})
		if err != nil {
			return err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(markerPt), Shape: mark{q.Marker, q.Hollow}}
		p.Add(dots)
	}
	return nil
}

// drawRight draws an axis at the right edge of the data.
func drawRight(c draw.Canvas, of *Axis, e extent) {
	var a plot.Axis
	setAxis(&a, of, e)
	x := c.Max.X
	c.StrokeLine2(a.LineStyle, x, c.Min.Y, x, c.Max.Y)
	label := style("Sans", smallPt, false)
	label.XAlign, label.YAlign = draw.XLeft, draw.YCenter
	wide := vg.Length(0)
	for _, t := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		y := c.Y(a.Norm(t.Value))
		c.StrokeLine2(a.LineStyle, x, y, x+a.Tick.Length, y)
		c.FillText(label, vg.Point{X: x + a.Tick.Length + 2, Y: y}, t.Label)
		wide = max(wide, label.Width(t.Label))
	}
	title := style("Sans", normalPt, false)
	title.Rotation = math.Pi / 2
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	c.FillText(title, vg.Point{X: x + a.Tick.Length + 5 + wide, Y: (c.Min.Y + c.Max.Y) / 2}, drawn(of.Title))
}
