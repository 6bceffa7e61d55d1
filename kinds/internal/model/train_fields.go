package model

import (
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/step"
)

// declares names the metrics that the curve and the report of a training have, so that a
// figure or table that asks for another is a mistake before anything runs. Invalid@k is not
// there for identifiers that cannot be invalid, which is known when they are.
func (c TrainConfig) declares() map[string]*step.Fields {
	list, err := c.Metrics(true)
	if err != nil {
		return nil
	}
	var names []string
	for _, m := range list {
		names = append(names, m.String())
	}
	return map[string]*step.Fields{"curve": curveFields(names...), "report": metricFields(step.FieldsOf[TrainReport](), "metrics", names)}
}

// curveFields are those of a curve whose points have these metrics.
func curveFields(names ...string) *step.Fields {
	return metricFields(step.FieldsOf[train.Curve](), "points.0.metrics", names)
}

// metricFields has these metrics at a path, in place of any.
func metricFields(f *step.Fields, path string, names []string) *step.Fields {
	at, err := f.At(path)
	if err != nil {
		panic("model: " + err.Error()) // the path is ours
	}
	any := *at.Elem
	*at = step.Fields{Type: step.Object}
	for _, name := range names {
		at.Object = append(at.Object, step.Field{Name: name, Fields: any})
	}
	return f
}
