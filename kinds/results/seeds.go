package results

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

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

type effectsReport struct {
	From   string             `json:"from"`
	To     string             `json:"to"`
	Groups map[string]summary `json:"groups"` // over seeds, of the mean over the other factor's levels
	Global summary            `json:"global"` // over seeds, of the mean over groups within each seed
}

// summary is the mean of n values and their sample standard deviation.
type summary struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
	N    int     `json:"n"`
}

func summarize(list []float64) summary {
	mean, std := values.MeanStd(list)
	return summary{mean, std, len(list)}
}

func (r effectsRun) String() string {
	return fmt.Sprintf("%s, %s, %s, seed %d", r.Group, r.Level, r.Other, r.Seed)
}

func runEffects(_ context.Context, x *step.IO, c effectsConfig) error {
	docs := inout.NewJSONInputs(x)
	of := make([]float64, len(c.Runs))
	for i, r := range c.Runs {
		var err error
		if of[i], err = docs.Number(r.Report, c.Field); err != nil {
			return step.Permanent(fmt.Errorf("%s: %w", r, err))
		}
	}
	report, err := c.effects(of)
	if err != nil {
		return step.Permanent(err)
	}
	return inout.WriteJSON(x, "report", report)
}

// effects are to - from, of the values of the runs. The design must be complete: every group,
// other level and seed has exactly one value at either level.
func (c effectsConfig) effects(of []float64) (r effectsReport, err error) {
	found := map[effectsRun]float64{} // by runs without their reports
	var groups []string
	others, seeds := map[string]bool{}, map[int]bool{}
	for i, run := range c.Runs {
		if run.Level != c.From && run.Level != c.To {
			continue
		}
		if !slices.Contains(groups, run.Group) {
			groups = append(groups, run.Group)
		}
		others[run.Other], seeds[run.Seed] = true, true
		run.Report = step.Input{}
		if _, twice := found[run]; twice {
			return r, fmt.Errorf("%s has two values", run)
		}
		found[run] = of[i]
	}
	if len(groups) == 0 || c.From == c.To {
		return r, fmt.Errorf("no values to compare %q with %q", c.To, c.From)
	}
	r = effectsReport{From: c.From, To: c.To, Groups: map[string]summary{}}
	bySeed := make([]float64, len(seeds)) // mean over groups
	for _, g := range groups {
		differences := make([]float64, len(seeds))
		for i, seed := range slices.Sorted(maps.Keys(seeds)) {
			for _, other := range slices.Sorted(maps.Keys(others)) {
				var at [2]float64
				for k, level := range []string{c.From, c.To} {
					run, ok := effectsRun{Group: g, Level: level, Other: other, Seed: seed}, false
					if at[k], ok = found[run]; !ok {
						return r, fmt.Errorf("%s has no value; effects need every combination", run)
					}
				}
				differences[i] += (at[1] - at[0]) / float64(len(others))
			}
			bySeed[i] += differences[i] / float64(len(groups))
		}
		r.Groups[g] = summarize(differences)
	}
	r.Global = summarize(bySeed)
	return r, nil
}
