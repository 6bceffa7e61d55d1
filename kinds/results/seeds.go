package results

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// effectsConfig compares two levels of a factor.
type effectsConfig struct {
	Runs  []effectsRun `hcl:"runs" help:"every run of the design, each combination of group, level, other and seed once; other levels than from and to are left out"`
	Field string       `hcl:"field" help:"path of the value in a run's report, with dots"`
	From  string       `hcl:"from" help:"level that is subtracted"`
	To    string       `hcl:"to" help:"level that it is subtracted from"`
}

type effectsRun struct {
	Group  string     `hcl:"group" help:"such as the identifier type: effects are reported for each, and over all"`
	Level  string     `hcl:"level" help:"level of the factor whose effect is computed"`
	Other  string     `hcl:"other" help:"level of the other factor, over which effects are averaged"`
	Seed   int        `hcl:"seed" help:"of the run: differences are between runs of one seed"`
	Report step.Input `hcl:"report" help:"JSON artifact of the run"`
}

var Effects = step.Define(step.Kind[effectsConfig]{
	Name:    "effects",
	Version: 2,
	Inline:  true,
	Doc: `Compare two levels of a factor by runs of the same seeds (tab:representation-grouping-effects).
A difference is taken within each seed and level of the other factor, and averaged
over the other factor; over groups the mean is taken within each seed. Mean and
sample standard deviation are then over seeds.`,
	Example: `step "effects" "forms" {
  from  = "nci_norm"
  to    = "html_norm"
  field = "percent.post_filtered.mrr_10"
  runs = [
    for r in local.seed_runs :
    { group = r.identifier, level = r.form, other = r.collection, seed = r.seed, report = step.evaluate.dsi[r.name].report }
  ]
}`,
	Outputs: []step.Output{{Name: "report", Type: "effects", Help: "mean, std and n of each group and of all together, as JSON", Fields: step.FieldsOf[effectsReport]()}},
	Reads:   effectsConfig.reads,
	Run:     runEffects,
})

// effectsReport is what a table reads.
type effectsReport struct {
	From   string                     `json:"from"`
	To     string                     `json:"to"`
	Groups map[string]metrics.Summary `json:"groups"`
	Global metrics.Summary            `json:"global"`
}

func runEffects(_ context.Context, x *step.IO, c effectsConfig) error {
	docs := inout.NewJSONInputs(x)
	observations := make([]metrics.Observation, len(c.Runs))
	for i, r := range c.Runs {
		v, err := docs.Number(r.Report, c.Field)
		if err != nil {
			return step.Permanent(fmt.Errorf("%s, %s, %s, seed %d: %w", r.Group, r.Level, r.Other, r.Seed, err))
		}
		observations[i] = metrics.Observation{Group: r.Group, Level: r.Level, Other: r.Other, Seed: int64(r.Seed), Value: v}
	}
	effects, err := metrics.PairedEffects(observations, c.From, c.To)
	if err != nil {
		return step.Permanent(err)
	}
	return inout.WriteJSON(x, "report", effectsReport{From: c.From, To: c.To, Groups: effects.Groups, Global: effects.Global})
}
