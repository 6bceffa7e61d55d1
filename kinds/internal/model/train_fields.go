package model

import (
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/lists"
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
	names := lists.Map(list, metrics.Metric.String)
	return map[string]*step.Fields{"curve": curveFields(names...), "report": step.FieldsOf[TrainReport]().With("metrics", names...)}
}

// curveFields are those of a curve whose points have these metrics.
func curveFields(names ...string) *step.Fields {
	return step.FieldsOf[train.Curve]().With("points.0.metrics", names...)
}
