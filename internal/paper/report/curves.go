package report

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/lists"
)

// curveType is the type of training curves: {"select": METRIC, "points": [{step, seconds, loss, metrics}]}.
const curveType = "train/curve"

// Curve is the history of one training.
type Curve struct {
	Index       int // of its node
	Address     string
	Metric      string
	Best        float64 // highest value of the metric
	Step        int64   // at which it was reached
	Seconds     float64
	Last        int64   // step
	LastLoss    float64 // mean since the point before the last
	Evaluations int
	steps       []int64
	loss        []float64
	values      []*float64 // of the metric; nil: not evaluated
}

// loadCurve reads an output that is a training curve; nil for a curve without points.
func loadCurve(ctx context.Context, n *Node, output string, read Reader) (*Curve, error) {
	b, err := expect.ReadOutput(ctx, n.result, output, read)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Address, err)
	}
	var in struct {
		Select string
		Points []struct {
			Step          int64
			Seconds, Loss float64
			Metrics       map[string]float64
		}
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return nil, fmt.Errorf("%s.%s: %w", n.Address, output, err)
	}
	c := &Curve{Index: n.Index, Address: n.Address, Metric: in.Select}
	for _, p := range in.Points {
		c.steps, c.loss, c.values = append(c.steps, p.Step), append(c.loss, p.Loss), append(c.values, nil)
		c.Last, c.LastLoss = p.Step, p.Loss
		v, ok := p.Metrics[in.Select]
		if !ok {
			continue
		}
		c.values[len(c.values)-1] = &v
		if c.Evaluations++; c.Evaluations == 1 || v > c.Best {
			c.Best, c.Step, c.Seconds = v, p.Step, p.Seconds
		}
	}
	if len(c.steps) == 0 {
		return nil, nil
	}
	return c, nil
}

// Chart is the curves of trainings whose keys differ only in their last part, such as a seed.
type Chart struct {
	Title  string
	Metric string // with its unit
	Curves []ChartCurve
	X, Y   []ChartTick
	Loss   []ChartTick // of the right axis
}

// ChartCurve is a training in a chart, its lines in the picture's units.
type ChartCurve struct {
	*Curve
	Name         string // its own part of the key
	Best         float64
	Metric, Loss string // points of lines
	DotX, DotY   string // of the best value; "" without an evaluation
	Style        int
}

// ChartTick is a labelled position on an axis.
type ChartTick struct {
	At    float64
	Label string
}

// The plot of a chart in its own units, and the most points of a line.
const (
	chartLeft, chartRight = 44, 304
	chartTop, chartBottom = 10, 130
	chartStyles           = 5
	mostLines             = 12 // trainings in a chart
	curvePoints           = 80
)

// Charts draws the curves, charts in the order of their first trainings.
func (r *Report) Charts() []Chart {
	var out []Chart
	groups := map[[2]string][]*Curve{}
	keys := lists.Map(r.Curves, func(c *Curve) [2]string {
		family, _ := familyOf(c.Address)
		key := [2]string{family, c.Metric}
		groups[key] = append(groups[key], c)
		return key
	})
	for _, key := range lists.Unique(keys) {
		for few := range slices.Chunk(groups[key], mostLines) {
			out = append(out, r.chart(few))
		}
	}
	return out
}

// familyOf splits the last part of its key off an address.
func familyOf(of string) (family, own string) {
	a := address.Of(of)
	block, key := a.Block(), strings.Trim(a.Key, `[]"`)
	if group, own, ok := strings.CutLast(key, "/"); ok && group != "" {
		return block + " " + group, own
	}
	if key == "" {
		return block, strings.TrimPrefix(block, "step.")
	}
	return block, key
}

// unit returns the factor for a metric's values, its name with the unit, and the highest value of all its curves, for a
// common scale: fractions are shown in percent.
func (r *Report) unit(metric string) (factor float64, name string, top float64) {
	for _, c := range r.Curves {
		if c.Metric == metric {
			top = max(top, c.Best)
		}
	}
	if top > 0 && top <= 1 {
		return 100, metric + " (%)", top * 100
	}
	return 1, metric, top
}

func (r *Report) chart(curves []*Curve) Chart {
	family, _ := familyOf(curves[0].Address)
	factor, metric, top := r.unit(curves[0].Metric)
	c := Chart{Title: family, Metric: metric}
	if len(curves) == 1 {
		c.Title = curves[0].Address
	}
	last, loss := 1.0, 0.0
	for _, k := range curves {
		last = max(last, float64(k.Last))
		loss = max(loss, slices.Max(k.loss))
	}
	xs, ys, ls := ticks(last, 4), ticks(top, 4), ticks(loss, 2)
	place := func(v, most float64, low, high float64) float64 {
		if most <= 0 {
			return low
		}
		return low + max(v, 0)/most*(high-low)
	}
	scale := func(values []float64, low, high float64) []ChartTick {
		most := values[len(values)-1]
		return lists.Map(values, func(v float64) ChartTick { return ChartTick{place(v, most, low, high), tickLabel(v)} })
	}
	xMost, yMost, lMost := xs[len(xs)-1], ys[len(ys)-1], ls[len(ls)-1]
	c.X, c.Y, c.Loss = scale(xs, chartLeft, chartRight), scale(ys, chartBottom, chartTop), scale(ls, chartBottom, chartTop)
	for n, k := range curves {
		_, own := familyOf(k.Address)
		line := ChartCurve{Curve: k, Name: own, Best: k.Best * factor, Style: n % chartStyles}
		var metric, losses []string
		every := (len(k.steps) + curvePoints - 1) / curvePoints
		point := func(s int64, y float64) string {
			return decimal(place(float64(s), xMost, chartLeft, chartRight)) + "," + decimal(y)
		}
		for i, s := range k.steps {
			kept := i%every == 0 || i == len(k.steps)-1
			if kept {
				losses = append(losses, point(s, place(k.loss[i], lMost, chartBottom, chartTop)))
			}
			if v := k.values[i]; v != nil && (kept || s == k.Step) {
				metric = append(metric, point(s, place(*v*factor, yMost, chartBottom, chartTop)))
			}
		}
		line.Metric, line.Loss = strings.Join(metric, " "), strings.Join(losses, " ")
		if k.Evaluations > 0 {
			line.DotX, line.DotY, _ = strings.Cut(point(k.Step, place(line.Best, yMost, chartBottom, chartTop)), ",")
		}
		c.Curves = append(c.Curves, line)
	}
	return c
}

// ticks returns about n round numbers from zero to at least most.
func ticks(most float64, n int) []float64 {
	if !(most > 0) || math.IsInf(most, 0) {
		return []float64{0, 1}
	}
	step := render.RoundStep(most / float64(n))
	return lists.Map(lists.Places(int(math.Ceil(most*(1-1e-9)/step))+1), func(i int) float64 { return float64(i) * step })
}

// tickLabel prints thousands and millions short: 10k, 1.5M.
func tickLabel(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 4, 64) + "M"
	case v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// Alt describes the chart in words.
func (c Chart) Alt() string {
	best := slices.MaxFunc(c.Curves, func(a, b ChartCurve) int { return cmp.Compare(a.Best, b.Best) })
	if best.Evaluations == 0 {
		return fmt.Sprintf("Loss over steps of %s", c.Title)
	}
	return fmt.Sprintf("%s over steps of %s: best %s at step %d", c.Metric, c.Title, number(&best.Best), best.Step)
}
