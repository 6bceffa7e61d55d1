package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// histogram is a mark of figureSeries.Draw that the picture has as bars.
const histogram = "histogram"

// mark is what the picture has for Draw.
func (s figureSeries) mark() string {
	if s.Draw == histogram || s.Differences != nil {
		return "bars"
	}
	return s.Draw
}

// checkDraw says what of a series does not go together.
func (s figureSeries) checkDraw(x *figureAxis) error {
	hist, box := s.Draw == histogram, s.Draw == "box"
	ascending := len(s.Edges) != 1 && slices.IsSorted(s.Edges) && len(slices.Compact(slices.Clone(s.Edges))) == len(s.Edges)
	switch {
	case !hist && (s.Bins != 0 || s.Edges != nil || s.Dense):
		return errors.New("has bins, edges or density, which are of a histogram: set draw = \"histogram\"")
	case hist && len(s.Points) != 1:
		return errors.New("is a histogram, which has one point: its x is the numbers")
	case hist && s.Bins != 0 && s.Edges != nil:
		return errors.New("has both bins and edges: give one of them")
	case !ascending:
		return fmt.Errorf("edges are at least two numbers, each greater than the one before it, not %v", s.Edges)
	case hist && x != nil && (x.Category != nil || (x.Log2 || x.Log10) && s.Edges == nil):
		return errors.New("is a histogram, which needs numbers on x, and edges if x is logarithmic")
	case box && s.Curve != nil, s.Differences != nil && (hist || box || x != nil && x.Category != nil):
		return errors.New("has a box for each point and no curve, or bars for differences over numbers")
	}
	return nil
}

// place is a category as a number of the axis.
func (a *figureAxis) place(category string) (render.Cell, error) {
	i := slices.Index(a.Category, category)
	if i < 0 {
		return render.Cell{}, fmt.Errorf("there is no category %q on the axis; it has %s", category, words.Quoted(a.Category, 6))
	}
	c := render.Number(float64(i))
	c.Typed = category
	return c, nil
}

// interval reads the ends of a value's interval.
func (d cells) interval(n figureNumber, factor float64, out *render.Point) error {
	ends := [2]float64{}
	for i, path := range []string{n.Low, n.High} {
		var err error
		if ends[i], err = d.Number(n.Value[0], path); err != nil {
			return err
		}
		ends[i] *= factor
	}
	out.Low, out.High = new(min(ends[0], ends[1])), new(max(ends[0], ends[1]))
	return nil
}

// sample reads several numbers: of the elements of lists, or one of each artifact.
func (d cells) sample(n figureNumber, factor float64) (list []float64, inputs []string, err error) {
	for _, in := range n.Value {
		at, err := d.Find(in, cmp.Or(n.List, n.Field))
		if err != nil {
			return nil, nil, err
		}
		elements := []any{at}
		if n.List != "" {
			var ok bool
			if elements, ok = at.([]any); !ok {
				return nil, nil, fmt.Errorf("%q is not a list", n.List)
			}
		}
		for i, e := range elements {
			if n.List != "" {
				if e, err = inout.Follow(e, n.Field); err != nil {
					return nil, nil, fmt.Errorf("%s, element %d: %w", n.List, i, err)
				}
			}
			v, ok := inout.Float(e)
			if !ok {
				return nil, nil, fmt.Errorf("%s, element %d: field %q is %s, not a finite number", cmp.Or(n.List, in.Artifact.Type), i, n.Field, plainText(e))
			}
			list = append(list, v*factor)
		}
		inputs = append(inputs, in.Artifact.Digest.String())
	}
	slices.Sort(list)
	return list, inputs, nil
}

// box reads the numbers of a point, and sums them up as matplotlib does.
func (d cells) box(n figureNumber, factor float64, out *render.Point) error {
	list, inputs, err := d.sample(n, factor)
	if err != nil || len(list) == 0 {
		return err // Complete says that the point has no number
	}
	q1, median, q3 := values.Quantile(list, 0.25), values.Quantile(list, 0.5), values.Quantile(list, 0.75)
	const reach = 1.5
	low, high := slices.IndexFunc(list, func(v float64) bool { return v >= q1-reach*(q3-q1) }), len(list)-1
	for list[high] > q3+reach*(q3-q1) {
		high--
	}
	// A quartile lies between numbers of which the nearer one may be outside.
	out.Low, out.High, out.Q1, out.Q3 = new(min(list[low], q1)), new(max(list[high], q3)), &q1, &q3
	out.Outside = slices.Concat(list[:low], list[high+1:])
	out.Y = render.Cell{Value: &median, N: len(list), Inputs: inputs}
	return nil
}

// histogram counts the numbers of a series by bins, each without its end but for the last.
func (d cells) histogram(s figureSeries, factor float64) ([]render.Point, error) {
	list, inputs, err := d.sample(s.Points[0].X, factor)
	if err != nil || s.Points[0].X.Value == nil { // the step that has them failed, and is left out
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("a histogram needs numbers, and there are none")
	}
	edges := s.Edges
	if edges == nil {
		low, high := list[0], list[len(list)-1]
		if low == high {
			low, high = low-0.5, high+0.5
		}
		n := cmp.Or(s.Bins, 10)
		for i := range n {
			edges = append(edges, low+(high-low)*float64(i)/float64(n))
		}
		edges = append(edges, high)
	}
	counts, within := make([]float64, len(edges)-1), 0.0
	for _, v := range list {
		i, at := slices.BinarySearch(edges, v)
		if !at || i == len(counts) {
			i--
		}
		if i < 0 || i == len(counts) {
			d.x.Count("numbers outside of the edges", 1)
			continue
		}
		counts[i]++
		within++
	}
	var out []render.Point
	for i, n := range counts {
		wide := edges[i+1] - edges[i]
		if s.Dense {
			n /= max(within, 1) * wide
		}
		p := render.Point{ID: strconv.Itoa(i), X: render.Number(edges[i] + wide/2), Y: render.Number(n), Marker: "none", Width: wide}
		p.X.Inputs, p.Y.Inputs = inputs, inputs
		out = append(out, p)
	}
	return out, nil
}

// differences are those of two systems, query by query, the greatest first.
func (d cells) differences(of figureDifferences, factor float64) (out []render.Point, err error) {
	scores := [2]map[string]float64{}
	for i, in := range []step.Input{of.System, of.Baseline} {
		at, err := d.Find(in, "")
		if err != nil {
			return nil, err
		}
		rows, _ := at.([]any)
		scores[i] = make(map[string]float64, len(rows))
		for _, row := range rows {
			query, err := inout.Follow(row, "query")
			v, other := inout.Follow(row, step.PathOf(of.Measure))
			if err = errors.Join(err, other); err != nil {
				return nil, err
			}
			n, ok := inout.Float(v)
			if !ok {
				return nil, fmt.Errorf("query %s: %s is %s, not a finite number", plainText(query), of.Measure, plainText(v))
			}
			scores[i][plainText(query)] = n
		}
	}
	inputs := []string{of.System.Artifact.Digest.String(), of.Baseline.Artifact.Digest.String()}
	lost := lists.Filter(slices.Collect(maps.Keys(scores[1])), func(q string) bool { _, both := scores[0][q]; return !both })
	for q, v := range scores[0] {
		base, both := scores[1][q]
		if !both {
			lost = append(lost, q)
		}
		p := render.Point{ID: q, Y: render.Number((v - base) * factor), Marker: "none", Width: 1}
		p.X.Inputs, p.Y.Inputs = inputs, inputs
		out = append(out, p)
	}
	if slices.Sort(lost); lost != nil {
		return nil, fmt.Errorf("differences: one of the systems lacks %d queries that the other has, %s: score both by the same judgments, with missing = \"zero\"", len(lost), words.Quoted(lost, 3))
	}
	slices.SortFunc(out, func(a, b render.Point) int {
		return cmp.Or(cmp.Compare(*b.Y.Value, *a.Y.Value), cmp.Compare(a.ID, b.ID))
	})
	for i := range out {
		out[i].X.Value, out[i].X.N = new(float64(i+1)), 1
	}
	return out, nil
}
