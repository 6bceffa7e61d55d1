package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// layout is the figure without its data, which can be checked before a run.
func (c figureConfig) layout() *render.Figure {
	f := &render.Figure{Paper: c.Paper, Caption: render.Incomplete(c.Caption, c.Lacks), Scale: c.Scale, PaperScale: c.AtScale, QuoteFormulas: c.CSV == "quote", Width: c.Width, Height: c.Height,
		X: c.X.axis(), Y: c.Y.axis(), Y2: c.Y2.axis(), Heat: (*render.Heat)(c.Heat), Curves: c.curves()}
	if c.Image != nil {
		f.Image = map[string]render.ImageFile{}
	}
	for i, s := range c.Series {
		out := render.Series{ID: s.ID, Title: s.Title, Color: cmp.Or(s.Color, "black"), Line: cmp.Or(s.Line, "solid"), Draw: s.mark(), Right: s.Axis == "y2", Points: []render.Point{}}
		if out.Draw != "" && s.Color == "" {
			out.Color = curveColors[i%len(curveColors)]
		}
		for _, p := range s.Points {
			out.Points = append(out.Points, render.Point{ID: p.ID, Marker: cmp.Or(p.Marker, cmp.Or(s.Marker, "none")), Hollow: p.Hollow || s.Hollow})
		}
		f.Series = append(f.Series, out)
	}
	for _, k := range c.Keys {
		f.Keys = append(f.Keys, render.Key{Title: k.Title, Color: cmp.Or(k.Color, "gray"), Line: cmp.Or(k.Line, "none"), Marker: cmp.Or(k.Marker, "none"), Hollow: k.Hollow})
	}
	for _, p := range c.Panels {
		out := render.Panel{Heading: p.Heading}
		out.Text, out.Cut = render.Cut(p.Text, p.Budget)
		f.Panels = append(f.Panels, out)
	}
	for _, s := range c.Flow {
		f.Flow = append(f.Flow, render.Stage{Title: s.Title, Text: s.Text, Items: s.Items, Chosen: s.Chosen, Round: s.Round})
	}
	return f
}

func (a *figureAxis) axis() *render.Axis {
	if a == nil {
		return nil
	}
	out := &render.Axis{Title: a.Title, Min: a.Min, Max: a.Max, Log2: a.Log2, Log10: a.Log10, Decimals: a.Decimals, Categories: a.Category}
	out.Ticks = lists.Map(a.Ticks, func(t figureTick) render.Tick { return render.Tick(t) })
	return out
}

// factor returns the axis's factor on the numbers of artifacts.
func (a *figureAxis) factor() float64 {
	if a == nil || a.Scale == 0 {
		return 1
	}
	return a.Scale
}

// buildFigure fills the layout with the numbers and texts of the inputs.
func buildFigure(x *step.IO, c figureConfig) (*render.Figure, error) {
	f := c.layout()
	docs := cells{inout.NewJSONInputs(x), x}
	for i, s := range c.Series {
		y := c.Y
		if s.Axis == "y2" {
			y = c.Y2
		}
		var err error
		switch {
		case s.Curve != nil:
			f.Series[i].Points, err = docs.curve(s, c.X, y.factor())
		case s.Differences != nil:
			f.Series[i].Points, err = docs.differences(*s.Differences, y.factor())
		case s.Draw == histogram:
			f.Series[i].Points, err = docs.histogram(s, c.X.factor())
		default:
			err = docs.points(s, f.Series[i].Points, c.X, y)
		}
		if err != nil {
			return nil, step.Permanent(fmt.Errorf("series %s: %w", s.ID, err))
		}
	}
	for i, p := range c.Panels {
		if err := docs.panel(p, &f.Panels[i]); err != nil {
			return nil, step.Permanent(fmt.Errorf("panel %s: %w", p.Heading, err))
		}
		x.Count("characters cut", int64(f.Panels[i].Cut))
	}
	for i, s := range c.Flow {
		if err := docs.stage(s, &f.Flow[i]); err != nil {
			return nil, step.Permanent(fmt.Errorf("stage %s: %w", s.Title, err))
		}
	}
	err := f.Finish()
	if err == nil {
		err = f.Complete(c.Lacks > 0)
	}
	if err != nil {
		return nil, step.Permanent(err)
	}
	for _, note := range f.Notes() {
		x.Count("notes on points", 1)
		x.Log.Warn(note)
	}
	_, err = f.Expect(expectations(c.Expect)...)
	return f, step.Permanent(err)
}

type cells struct {
	*inout.JSONInputs
	x *step.IO
}

func (d cells) points(s figureSeries, out []render.Point, x, y *figureAxis) (err error) {
	for i, p := range s.Points {
		if out[i].X, err = d.number(p.X, x); err == nil && s.Draw == "box" {
			err = d.box(p.Y, y.factor(), &out[i])
		} else if err == nil {
			out[i].Y, err = d.number(p.Y, y)
		}
		if err == nil && p.Y.Low != "" {
			err = d.interval(p.Y, y.factor(), &out[i])
		}
		if err != nil {
			return fmt.Errorf("point %s: %w", p.ID, err)
		}
	}
	return nil
}

// number reads a constant, a category, or the mean over the inputs of a field.
func (d cells) number(n figureNumber, on *figureAxis) (render.Cell, error) {
	switch {
	case n.Number != nil:
		return render.Number(*n.Number), nil
	case n.Category != "":
		return on.place(n.Category)
	}
	cell, err := d.read(n.Value, n.Field, on.factor(), false, false)
	switch {
	case err != nil:
	case cell.Text != "":
		err = fmt.Errorf("field %q is the text %.40q, not a number", n.Field, cell.Text)
	case cell.Value == nil:
		d.x.Count("points without value", 1)
	}
	return cell, err
}

// curve reads the points of a curve or, with reach, its two milestones.
func (d cells) curve(s figureSeries, on *figureAxis, fy float64) ([]render.Point, error) {
	fx := on.factor()
	list, err := d.pointsOf(*s.Curve)
	if err != nil {
		return nil, err
	}
	inputs := []string{s.Curve.Value.Artifact.Digest.String()}
	var out []render.Point
	for i, o := range list {
		x, okX := inout.Float(o[0])
		y, okY := inout.Float(o[1])
		p := render.Point{ID: strconv.Itoa(i), X: render.Number(x * fx), Y: render.Number(y * fy), Marker: cmp.Or(s.Marker, "none"), Hollow: s.Hollow}
		p.X.Typed, p.Y.Typed = allDigits(o[0], fx), allDigits(o[1], fy)
		if on.Category != nil {
			if p.X, err = on.place(plainText(o[0])); err != nil {
				return nil, fmt.Errorf("point %d: %w", i, err)
			}
			okX = true
		}
		if !okX || !okY {
			d.x.Count("curve points without value", 1)
			continue
		}
		p.X.Inputs, p.Y.Inputs = inputs, inputs
		out = append(out, p)
	}
	if s.Curve.Reach == 0 || len(out) == 0 {
		return out, nil
	}
	best := slices.MaxFunc(out, func(a, b render.Point) int { return cmp.Compare(*a.Y.Value, *b.Y.Value) })
	first := best
	if at := slices.IndexFunc(out, func(p render.Point) bool { return *p.Y.Value >= s.Curve.Reach**best.Y.Value }); at >= 0 {
		first = out[at]
	}
	first.ID, first.Hollow, first.Marker = "reach", true, cmp.Or(s.Marker, "circle")
	best.ID, best.Marker = "best", cmp.Or(s.Marker, "circle")
	return []render.Point{first, best}, nil
}

// allDigits returns the text of an integer that has more digits than a float64, unless a factor changes it; else "".
func allDigits(v any, factor float64) string {
	if t, ok := v.(inout.Typed); ok && factor == 1 && values.Inexact(t.Text) {
		return t.Text
	}
	return ""
}

func (c figureCurve) list() string { return cmp.Or(c.List, "points") }

// pointsOf reads x and y of each point; nil where one lacks it. If all lack it, it is an error, not an empty figure.
func (d cells) pointsOf(c figureCurve) ([][2]any, error) {
	at, err := d.Find(c.Value, c.list())
	if err != nil {
		return nil, err
	}
	list, ok := at.([]any)
	if _, absent := at.(inout.Absent); !ok && !absent && at != nil {
		return nil, fmt.Errorf("%q is not a list", c.list())
	}
	if len(list) == 0 {
		d.x.Count("curves without points", 1)
		return nil, nil
	}
	out := make([][2]any, len(list))
	for k, path := range []string{c.X, c.Y} {
		var lost error
		found := false
		for i, o := range list {
			if out[i][k], err = inout.Follow(o, path); err == nil {
				found = true
				if _, ok := out[i][k].(inout.NotFinite); ok {
					d.Told(c.Value, c.list()+"[]."+path, inout.IsNotFinite)
				}
			} else if lost == nil {
				lost = err
			}
		}
		if !found {
			return nil, fmt.Errorf("none of the %d points has it: %w", len(list), lost)
		}
	}
	return out, nil
}

func (d cells) panel(p figurePanel, out *render.Panel) error {
	if !p.Value.Set() {
		return nil
	}
	at, err := d.Find(p.Value, p.Field)
	_, text, ok, errScalar := inout.Scalar(at, p.Field)
	if err = cmp.Or(err, errScalar); err != nil {
		return err
	}
	if ok && text == "" {
		text = plainText(at) // a number
	}
	if a, ok := at.(inout.Absent); ok {
		d.x.Count("panels "+render.AbsentText, 1)
		text = render.AbsentText + ": " + a.Why
	}
	out.Text, out.Cut = render.Cut(text, p.Budget)
	out.Inputs = []string{p.Value.Artifact.Digest.String()}
	return nil
}

func (d cells) stage(s figureStage, out *render.Stage) error {
	if !s.Value.Set() {
		return nil
	}
	out.Inputs = []string{s.Value.Artifact.Digest.String()}
	at, err := d.Find(s.Value, s.Field)
	if err != nil {
		return err
	}
	switch v := at.(type) {
	case inout.Absent:
		d.x.Count("stages "+render.AbsentText, 1)
		out.Text = render.AbsentText
	case nil, inout.NotFinite:
		d.x.Count("stages without value", 1)
	case []any:
		out.Items = append(out.Items, lists.Map(v, plainText)...)
	default:
		out.Text = "<tt>" + plainText(at) + "</tt>"
	}
	return nil
}

func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case inout.Typed:
		return v.Text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // a list with NaN
	}
	return string(b)
}

// histogram is a value of figureSeries.Draw for which bars are drawn.
const histogram = "histogram"

func (s figureSeries) mark() string {
	if s.Draw == histogram || s.Differences != nil {
		return "bars"
	}
	return s.Draw
}

func (s figureSeries) check(ps *step.Problems, at string, x *figureAxis) {
	hist, categories := s.Draw == histogram, x != nil && x.Category != nil
	ascending := slices.Compact(slices.Sorted(slices.Values(s.Edges)))
	inout.Check(ps, at, hist || s.Bins == 0 && s.Edges == nil && !s.Dense, "has bins, edges or density, which are of a histogram: set draw = \"histogram\"")
	inout.Check(ps, at, !hist || len(s.Points) == 1, "is a histogram, which has one point: its x is the numbers")
	inout.Check(ps, at, s.Bins == 0 || s.Edges == nil, "has both bins and edges: give one of them")
	inout.Check(ps, at, len(s.Edges) != 1 && slices.Equal(ascending, s.Edges), "edges are at least two numbers, each greater than the one before it, not %v", s.Edges)
	inout.Check(ps, at, !hist || !categories && (s.Edges != nil || !x.axis().IsLog()), "is a histogram, which needs numbers on x, and edges if x is logarithmic")
	inout.Check(ps, at, (s.Draw != "box" || s.Curve == nil) && (s.Differences == nil || s.mark() == "bars" && !hist && !categories),
		"has a box for each point and no curve, or bars for differences over numbers")
}

// check adds what is wrong with a number or, with several, with numbers of artifacts; on may have categories.
func (n figureNumber) check(ps *step.Problems, at string, several bool, on *figureAxis, mayLack bool) {
	if n.Category != "" || on != nil && on.Category != nil && !several {
		if inout.Check(ps, at, on != nil && n.Number == nil && n.Value == nil, "has a category instead of number and value, and its axis categories"); on != nil {
			_, err := on.place(n.Category)
			inout.CheckError(ps, at, err)
		}
		return
	}
	inout.Check(ps, at, (n.Low == "") == (n.High == "") && (n.Low == "" || len(n.Value) == 1), "has both low and high, or neither, and they are of one artifact")
	inout.Check(ps, at, n.Low == "" || !several && on == nil, "has low and high, which are of the y of lines and bars")
	inout.Check(ps, at, n.List == "" || several, "has a list, which only the x of a histogram and the y of a box take")
	inout.Check(ps, at, n.Number == nil || !several, "is of several numbers: give value, with list or several artifacts")
	inout.Check(ps, at, (n.Number != nil) != (n.Value != nil) || mayLack && n.Number == nil, "has exactly one of number and value")
	inout.Check(ps, at, n.Value == nil || n.Field != "" || n.List != "", "needs the field of the value")
}

func (a *figureAxis) place(category string) (render.Cell, error) {
	i := slices.Index(a.Category, category)
	if i < 0 {
		return render.Cell{}, fmt.Errorf("there is no category %q on the axis; it has %s", category, words.Quoted(a.Category, 6))
	}
	return render.Cell{Value: new(float64(i)), N: 1, Typed: category}, nil
}

func (d cells) interval(n figureNumber, factor float64, out *render.Point) error {
	low, err := d.Number(n.Value[0], n.Low)
	high, other := d.Number(n.Value[0], n.High)
	out.Low, out.High = new(min(low*factor, high*factor)), new(max(low*factor, high*factor))
	return cmp.Or(err, other)
}

// sample reads the numbers of the elements of lists, or a number of each artifact, in ascending order.
func (d cells) sample(n figureNumber, factor float64) (list []float64, inputs []string, err error) {
	for _, in := range n.Value {
		elements := make([][2]any, 1)
		if n.List == "" {
			elements[0][0], err = d.Find(in, n.Field)
		} else {
			elements, err = d.pointsOf(figureCurve{Value: in, List: n.List, X: n.Field, Y: n.Field})
		}
		if err != nil {
			return nil, nil, err
		}
		for i, e := range elements {
			v, ok := inout.Float(e[0])
			if !ok {
				return nil, nil, fmt.Errorf("%s, element %d: field %q is %s, not a finite number", cmp.Or(n.List, in.Artifact.Type), i, n.Field, plainText(e[0]))
			}
			list = append(list, v*factor)
		}
		inputs = append(inputs, in.Artifact.Digest.String())
	}
	slices.Sort(list)
	return list, inputs, nil
}

// box reads the numbers of a point, and summarizes them as matplotlib does.
func (d cells) box(n figureNumber, factor float64, out *render.Point) error {
	list, inputs, err := d.sample(n, factor)
	if err != nil || len(list) == 0 {
		return err // Complete says that the point has no number
	}
	q1, median, q3 := values.Quantile(list, 0.25), values.Quantile(list, 0.5), values.Quantile(list, 0.75)
	reach := 1.5 * (q3 - q1)
	isNear := func(v float64) bool { return !(v < q1-reach || v > q3+reach) } // true for NaN, which Complete names
	near := lists.Filter(list, isNear)
	// A quartile lies between two numbers, and the nearer one may be outside.
	out.Low, out.High, out.Q1, out.Q3 = new(min(near[0], q1)), new(max(near[len(near)-1], q3)), &q1, &q3
	out.Outside = slices.DeleteFunc(slices.Clone(list), isNear)
	out.Y = render.Cell{Value: &median, N: len(list), Inputs: inputs}
	return nil
}

// histogram counts the numbers of a series by bins, of which only the last includes its end.
func (d cells) histogram(s figureSeries, factor float64) ([]render.Point, error) {
	list, inputs, err := d.sample(s.Points[0].X, factor)
	if err != nil || s.Points[0].X.Value == nil { // nil: the step with the numbers failed, and is left out
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("a histogram needs numbers, and there are none")
	}
	edges := s.Edges
	if edges == nil {
		low, high, bins := list[0], list[len(list)-1], cmp.Or(s.Bins, 10)
		if low == high {
			low, high = low-0.5, high+0.5
		}
		for i := range bins {
			edges = append(edges, low+(high-low)*float64(i)/float64(bins))
		}
		edges = append(edges, high)
	}
	below := lists.Map(edges, func(v float64) int { i, _ := slices.BinarySearch(list, v); return i })
	last := len(edges) - 1
	below[last], _ = slices.BinarySearch(list, math.Nextafter(edges[last], math.Inf(1))) // with its end
	within := below[last] - below[0]
	if within < len(list) {
		d.x.Count("numbers outside of the edges", int64(len(list)-within))
	}
	out := make([]render.Point, last)
	for i := range out {
		wide, n := edges[i+1]-edges[i], float64(below[i+1]-below[i])
		if s.Dense {
			n /= float64(max(within, 1)) * wide
		}
		out[i] = barOf(strconv.Itoa(i), edges[i]+wide/2, n, wide, inputs)
	}
	return out, nil
}

// barOf returns a bar of a width on the axis, centred at x.
func barOf(id string, x, y, wide float64, inputs []string) render.Point {
	p := render.Point{ID: id, X: render.Number(x), Y: render.Number(y), Marker: "none", Width: wide}
	p.X.Inputs, p.Y.Inputs = inputs, inputs
	return p
}

// differences returns a bar for each query, how much better one system is than another, the greatest first.
func (d cells) differences(of figureDifferences, factor float64) (out []render.Point, err error) {
	var scores [2]map[string]float64
	var inputs []string
	for i, in := range []step.Input{of.System, of.Baseline} {
		rows, err := d.pointsOf(figureCurve{Value: in, List: ".", X: "query", Y: step.PathOf(of.Measure)})
		if err != nil {
			return nil, err
		}
		scores[i] = map[string]float64{}
		for _, row := range rows {
			v, ok := inout.Float(row[1])
			if !ok {
				return nil, fmt.Errorf("query %s: %s is %s, not a finite number", plainText(row[0]), of.Measure, plainText(row[1]))
			}
			scores[i][plainText(row[0])] = v
		}
		inputs = append(inputs, in.Artifact.Digest.String())
	}
	inBoth := func(q string) bool {
		_, one := scores[0][q]
		_, other := scores[1][q]
		return one && other
	}
	all := slices.Concat(slices.Collect(maps.Keys(scores[0])), slices.Collect(maps.Keys(scores[1])))
	if lost := slices.Sorted(slices.Values(slices.DeleteFunc(all, inBoth))); lost != nil {
		return nil, fmt.Errorf("differences: one of the systems lacks %d queries that the other has, %s: score both by the same judgments, with missing = \"zero\"", len(lost), words.Quoted(lost, 3))
	}
	less := func(q string) float64 { return (scores[0][q] - scores[1][q]) * factor }
	sorted := slices.SortedFunc(maps.Keys(scores[0]), func(a, b string) int { return cmp.Or(cmp.Compare(less(b), less(a)), cmp.Compare(a, b)) })
	for i, q := range sorted {
		out = append(out, barOf(q, float64(i+1), less(q), 1, inputs))
	}
	return out, nil
}
