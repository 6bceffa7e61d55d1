package render

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/redsi/redsi/internal/system/lists"
)

const (
	smallPt  = 8.0
	normalPt = 9.0
	markerPt = 3.4
	boxShare = 0.75 // of the room of a box
)

func (f *Figure) drawPlot(c draw.Canvas) error {
	p := plot.New()
	p.BackgroundColor = color.White
	spots := f.spots()
	xs, ys, rights := f.extent(spots)
	rows := f.legend(c.Size().X)
	low := vg.Length(len(rows)) * legendRow
	body := draw.Crop(c, 3, -8, low+3, -5)
	line := draw.LineStyle{Color: faint, Width: vg.Points(0.5)}
	lines := &plotter.Grid{Vertical: line, Horizontal: line}
	left, right := f.Y, f.Y2
	if f.Heat != nil {
		colors := *f.Y // from the least number to the greatest
		colors.Min, colors.Max = &rights.min, &rights.max
		left, right = &Axis{Title: f.Heat.Rows, Categories: lists.Map(f.Series, func(s Series) string { return cmp.Or(s.Title, s.ID) })}, &colors
		lines.Horizontal.Color = nil
		body = draw.Crop(body, 0, -colorBar, 0, 0)
	}
	setAxis(&p.X, f.X, xs)
	setAxis(&p.Y, left, ys)
	var beside plot.Axis
	if right != nil {
		setAxis(&beside, right, rights)
		body = draw.Crop(body, 0, -30, 0, 0)
	}
	titles := func(draw.Canvas) {}
	if f.X.Log10 || left.Log10 {
		body, titles = takeTitles(p, body)
	}
	if len(f.X.Categories) > 0 {
		lines.Vertical.Color = nil
		fitCategories(p, f.X.Categories, body)
	}
	p.Add(lines)
	if f.Heat != nil {
		p.Y.Scale = plot.InvertedScale{Normalizer: p.Y.Scale} // the first row on top
		f.addCells(p, spots, p.DataCanvas(body).Size(), &beside)
	} else if err := f.addSeries(p, spots, p.DataCanvas(body).Size().X, &beside); err != nil {
		return err
	}
	p.Draw(body)
	data := p.DataCanvas(body)
	titles(data)
	if f.Heat != nil {
		data = drawColors(data)
	}
	if right != nil {
		drawRight(data, &beside)
	}
	for i, row := range rows {
		drawLegend(c, row, c.Min.Y+low-vg.Length(i)*legendRow-legendRow/2)
	}
	return nil
}

type extent struct {
	min, max float64
	isOfBars bool // or of boxes; such axes end near the data
}

func (e *extent) add(v float64) { e.min, e.max = math.Min(e.min, v), math.Max(e.max, v) }

// extent returns the ranges that the axes x, y and y2 must show.
func (f *Figure) extent(spots [][]spot) (x, y, right extent) {
	all := [3]extent{}
	for i, a := range []*Axis{f.X, f.Y, f.Y2} {
		all[i] = extent{math.Inf(1), math.Inf(-1), slices.ContainsFunc(f.Series, func(s Series) bool { return s.Draw != "" })}
		if a != nil && a.Min != nil {
			all[i].add(*a.Min)
		}
		if a != nil && a.Max != nil {
			all[i].add(*a.Max)
		}
	}
	for i, s := range f.Series {
		at := &all[1]
		if s.Right || f.Heat != nil {
			at = &all[2]
		}
		for _, p := range spots[i] {
			all[0].add(p.x - p.wide/2)
			all[0].add(p.x + p.wide/2)
			for _, y := range p.spread() {
				if f.axisOf(s).IsLog() && y <= 0 {
					y = *p.Y.Value / 2 // the whisker ends at the edge
				}
				at.add(y)
			}
			if s.Draw == "bars" {
				at.add(0)
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
	if of.IsLog() {
		a.Scale = plot.LogScale{}
		if a.Min <= 0 { // for one value, or none
			a.Min = a.Max / 1024
		}
	}
	of.widen(a, e)
	a.Tick.Marker = plot.ConstantTicks(of.ticks(a.Min, a.Max))
}

// widen moves the ends of an axis that the data decide outwards to a round number, so that no mark stands on an edge; on
// an axis by powers of ten, or of bars and boxes, by a part of its length, and then not over 0, where bars begin.
func (a *Axis) widen(to *plot.Axis, e extent) {
	low, high := to.Min, to.Max
	switch step := RoundStep((high - low) / 5); {
	case a.Log2:
	case a.Log10:
		part := math.Pow(high/low, 0.04)
		low, high = low/part, high*part
	case e.isOfBars:
		low, high = low-0.05*(to.Max-to.Min), high+0.05*(to.Max-to.Min)
		if e.max <= 0 && e.min < 0 {
			high = min(high, 0)
		}
	default:
		low, high = math.Floor(low/step-0.2)*step, math.Ceil(high/step+0.2)*step
	}
	if !a.IsLog() && e.min >= 0 && (e.max > 0 || !e.isOfBars) {
		low = max(low, 0)
	}
	if a.Min == nil || e.min < *a.Min {
		to.Min = low
	}
	if a.Max == nil || e.max > *a.Max {
		to.Max = high
	}
}

// ticks returns the figure's own ticks if they reach over the data; else powers of two or ten, or round numbers.
func (a *Axis) ticks(low, high float64) (out []plot.Tick) {
	isInside := (a.Min == nil || low >= *a.Min) && (a.Max == nil || high <= *a.Max)
	switch {
	case len(a.Ticks) > 0 && isInside:
		for _, t := range a.Ticks {
			if t.At >= low && t.At <= high {
				out = append(out, plot.Tick{Value: t.At, Label: drawn(t.Label)})
			}
		}
	case a.Log2:
		for e := math.Ceil(math.Log2(low)); e <= math.Log2(high); e++ {
			out = append(out, plot.Tick{Value: math.Exp2(e), Label: strconv.FormatFloat(math.Exp2(e), 'g', -1, 64)})
		}
	case a.Log10:
		return powersOfTen(low, high)
	default:
		return linearTicks(low, high)
	}
	return out
}

func linearTicks(low, high float64) (out []plot.Tick) {
	step := RoundStep((high - low) / 5)
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

// RoundStep returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is not below v.
func RoundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 2.5, 5} {
		if v <= k*power*(1+1e-9) {
			return k * power
		}
	}
	return 10 * power
}

// addSeries draws all series on a canvas of a width, and the series of the right axis by their place beside it.
func (f *Figure) addSeries(p *plot.Plot, spots [][]spot, width vg.Length, right *plot.Axis) error {
	for i, s := range f.Series {
		c, err := parseColor(s.Color)
		if err != nil {
			return err
		}
		if len(spots[i]) == 0 {
			continue
		}
		place := func(y float64) float64 { return math.Max(y, p.Y.Min) } // only a whisker may be below
		if s.Right {
			place = func(y float64) float64 {
				at := right.Norm(math.Max(y, right.Min)) // from zero to one
				if f.Y.IsLog() {
					return p.Y.Min * math.Pow(p.Y.Max/p.Y.Min, at)
				}
				return p.Y.Min + at*(p.Y.Max-p.Y.Min)
			}
		}
		whisker := c
		switch s.Draw {
		case "bars":
			whisker = ink
			if base := place(0); p.Y.Min < base && base < p.Y.Max { // else the base is an axis
				p.Add(joined(draw.LineStyle{Color: edge, Width: vg.Points(0.7)}, plotter.XY{X: p.X.Min, Y: base}, plotter.XY{X: p.X.Max, Y: base}))
			}
			p.Add(f.bars(spots[i], place, c))
		case "":
			p.Add(joined(lineStyle(s.Line, c), lists.Map(spots[i], func(q spot) plotter.XY { return plotter.XY{X: q.x, Y: place(*q.Y.Value)} })...))
		}
		for _, q := range spots[i] {
			if low, high := q.whisker(); s.Draw != "box" && (q.Y.Std != nil || q.Low != nil) {
				p.Add(joined(draw.LineStyle{Color: whisker, Width: vg.Points(0.9)}, plotter.XY{X: q.x, Y: place(low)}, plotter.XY{X: q.x, Y: place(high)}))
			}
			switch s.Draw {
			case "box":
				p.Add(q.box(place, c, width*vg.Length(boxShare*q.wide/(p.X.Max-p.X.Min))))
			case "":
				p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: q.x, Y: place(*q.Y.Value)}},
					GlyphStyle: draw.GlyphStyle{Color: c, Radius: vg.Points(markerPt), Shape: mark{q.Marker, q.Hollow}}})
			}
		}
	}
	return nil
}

func joined(by draw.LineStyle, points ...plotter.XY) plot.Plotter {
	return &plotter.Line{XYs: points, LineStyle: by}
}

func drawRight(c draw.Canvas, a *plot.Axis) {
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
	title := a.Label.TextStyle
	title.Rotation, title.YAlign = math.Pi/2, draw.YTop
	c.FillText(title, vg.Point{X: x + a.Tick.Length + 5 + wide, Y: (c.Min.Y + c.Max.Y) / 2}, a.Label.Text)
}
