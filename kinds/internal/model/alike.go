package model

import "github.com/redsi/redsi/step"

// How results of models are compared that two machines made. docs/reliability.md
// has what was measured: on the generated corpus, with AVX2 in place of AVX-512.

// sameModel takes two models for one if what is evaluated from them is as close as models
// of two seeds are: the paper's deviations are 0.3 points. Where there are few queries,
// chance moves more than that.
var sameModel = step.Evaluated{By: "evaluate", Output: "report", Of: "queries", Chance: 0.5,
	Fields: map[string]step.Margin{
		"percent.raw.*":           {Abs: 1},
		"percent.post_filtered.*": {Abs: 1},
	}}

// sameCurve is the way to a model: losses grow apart with the updates, and metrics with
// them, by more the fewer development queries there are.
var sameCurve = step.Numbers{Margin: step.Margin{Rel: 1e-6}, Fields: map[string]step.Margin{
	"points[].seconds":   {Skip: true},
	"points[].loss":      {Rel: 0.1},
	"points[].metrics.*": {Abs: 0.1},
}}

var sameReport = step.Numbers{Margin: step.Margin{Rel: 1e-6}, Fields: map[string]step.Margin{
	"seconds":               {Skip: true},
	"seconds_to_best":       {Skip: true},
	"seconds_to_95_percent": {Skip: true},
	"device":                {Skip: true},
	"threads":               {Skip: true},
	"resumed_at":            {Skip: true},
	"metrics.*":             {Abs: 0.1},
	"mrr_at_95_percent":     {Abs: 0.1},
	"best_step":             {Rel: 0.5},
	"steps_to_95_percent":   {Rel: 0.5},
}}

// sameRun and sameMeans are for one model that two machines asked.
var (
	sameRun   = step.Runs{Depth: 10, Overlap: 0.98}
	sameMeans = step.Numbers{Margin: step.Margin{Abs: 0.5}}
)
