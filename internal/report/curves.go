package report

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// curveType is the type of training curves: {"select": METRIC, "points": [{step,
// seconds, loss, metrics}]}.
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
	values      []*float64 // of the metric; nil where nothing was evaluated
}

// loadCurve reads an output that is a training curve; nil for a curve without
// points.
func loadCurve(ctx context.Context, n *Node, r *artifacts.Result, output string, read Reader) (*Curve, error) {
	b, err := readOutput(ctx, r, output, read)
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
		c.steps, c.loss = append(c.steps, p.Step), append(c.loss, p.Loss)
		c.Last, c.LastLoss = p.Step, p.Loss
		v, ok := p.Metrics[in.Select]
		if !ok {
			c.values = append(c.values, nil)
			continue
		}
		c.values = append(c.values, &v)
		if c.Evaluations++; c.Evaluations == 1 || v > c.Best {
			c.Best, c.Step, c.Seconds = v, p.Step, p.Seconds
		}
	}
	if len(c.steps) == 0 {
		return nil, nil
	}
	return c, nil
}

// Size of a curve's picture in its own units, and how many points it has at most.
const (
	curveWidth, curveHeight = 200, 60
	curvePoints             = 80
)

// picture draws a curve: the metric over steps, on the scale from zero to top,
// with its best point, and in gray the loss on a scale of its own. Both are
// thinned to at most curvePoints points; the best one is always there.
func (c *Curve) picture(top float64) template.HTML {
	var metric, loss strings.Builder
	last, highest := float64(max(c.Last, 1)), 0.0
	for _, l := range c.loss {
		highest = max(highest, l)
	}
	at := func(b *strings.Builder, step int64, share float64) {
		fmt.Fprintf(b, "%.1f,%.1f ", 3+float64(step)/last*(curveWidth-6), curveHeight-3-share*(curveHeight-6))
	}
	every := (len(c.steps) + curvePoints - 1) / curvePoints
	for i, s := range c.steps {
		kept := i%every == 0 || i == len(c.steps)-1
		if kept && highest > 0 {
			at(&loss, s, c.loss[i]/highest)
		}
		if v := c.values[i]; v != nil && top > 0 && (kept || s == c.Step) {
			at(&metric, s, max(*v, 0)/top)
		}
	}
	var dot strings.Builder
	if c.Evaluations > 0 && top > 0 {
		at(&dot, c.Step, max(c.Best, 0)/top)
	}
	x, y, _ := strings.Cut(strings.TrimSpace(dot.String()), ",")
	svg := fmt.Sprintf(`<svg class="curve" viewBox="0 0 %d %d" role="img" aria-label="training curve"><polyline class="loss" points="%s"/><polyline class="metric" points="%s"/>`,
		curveWidth, curveHeight, strings.TrimSpace(loss.String()), strings.TrimSpace(metric.String()))
	if x != "" {
		svg += fmt.Sprintf(`<circle cx="%s" cy="%s" r="3"/>`, x, y)
	}
	return template.HTML(svg + "</svg>")
}

// TopOfCurves is the highest value of any curve that has the same metric: one
// scale for all.
func (r *Report) TopOfCurves(metric string) float64 {
	top := 0.0
	for _, c := range r.Curves {
		if c.Metric == metric {
			top = max(top, c.Best)
		}
	}
	return top
}
