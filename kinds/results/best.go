package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type bestConfig struct {
	Candidates map[string]bestRanking `hcl:"candidates" help:"what is chosen from, by name"`
	Field      string                 `hcl:"field" help:"path, in each candidate's dev, of the number that chooses, such as metrics.MRR@10"`
	Order      string                 `hcl:"order,optional" enum:"max,min" help:"whether the highest or the lowest number is best"`
}

type bestRanking struct {
	Dev    step.Input `hcl:"dev" help:"JSON artifact with the number that chooses, on development queries: the report of a train step, or of a ranking with split = \"dev\""`
	Report step.Input `hcl:"report" help:"JSON artifact that is passed on, such as the report of a ranking of the test queries; nothing is chosen by it"`
	Run    step.Input `hcl:"run" accepts:"trec/run" help:"ranking that is passed on"`
}

type bestReport struct {
	Chosen string             `json:"chosen"` // name of the best candidate, the first by name among equals
	Field  string             `json:"field"`
	Order  string             `json:"order"`
	Value  float64            `json:"value"`  // of the chosen candidate
	Values map[string]float64 `json:"values"` // of all candidates, by name
	Equals []string           `json:"equals"` // the other candidates with the chosen one's value

	Report json.RawMessage `json:"report,omitempty"` // of the chosen candidate
}

// bestDoc says how rankings and models are chosen.
const bestDoc = `Of equal candidates the first by name is chosen. Only the field of dev chooses: nothing
else of a candidate is read before that is done. Use development queries for dev, and the
test queries where what was chosen is reported.`

var Best = step.Define(step.Kind[bestConfig]{
	Name:    "best",
	Version: 2,
	Inline:  true,
	Doc: `Choose, by development scores, which of several rankings is reported on test.
A grid of configurations has many test scores, of which one may be reported: the score of
the configuration that is best on other queries. Its run and report are passed on.
` + bestDoc,
	Example: `step "best" "rate" {
  field = "metrics.MRR@10"
  candidates = {
    for rate, t in step.train.grid :
    rate => { dev = t.report, report = step.evaluate.grid[rate].report, run = step.evaluate.grid[rate].run }
  }
}`,
	Outputs: []step.Output{
		{Name: "report", Type: "best/report", Help: "the chosen name, the values of all, and the chosen report under report, as JSON", Fields: step.FieldsOf[bestReport]()},
		{Name: "run", Type: "trec/run", Help: "the chosen run"},
	},
	Defaults: bestConfig{Order: "max"},
	Check:    inout.Checks(func(c bestConfig, ps *step.Problems) { checkBest(ps, len(c.Candidates), c.Field) }),
	Reads:    func(c bestConfig) []step.Read { return readsOfBest(c.Candidates, c.Field) },
	Run: func(_ context.Context, x *step.IO, c bestConfig) error {
		r, err := choose(x, c.Candidates, c.Field, c.Order)
		if err != nil {
			return err
		}
		chosen := c.Candidates[r.Chosen]
		if err := inout.ReadJSON(x, chosen.Report, &r.Report); err != nil {
			return fmt.Errorf("report of candidate %s: %w", r.Chosen, err)
		}
		return errors.Join(x.Link("run", *chosen.Run.Artifact), inout.WriteJSON(x, "report", r))
	},
})

type bestModelConfig struct {
	Candidates map[string]bestModel `hcl:"candidates" help:"what is chosen from, by name"`
	Field      string               `hcl:"field,optional" help:"path, in each candidate's dev, of the number that chooses"`
	Order      string               `hcl:"order,optional" enum:"max,min" help:"whether the highest or the lowest number is best"`
}

type bestModel struct {
	Dev   step.Input `hcl:"dev" help:"JSON artifact with the number that chooses, such as the report of the train step"`
	Model step.Input `hcl:"model" accepts:"dsi/model" help:"model that is passed on"`
	IDs   step.Input `hcl:"ids" accepts:"docid/ids" help:"identifiers that it was trained on, passed on"`
}

var BestModel = step.Define(step.Kind[bestModelConfig]{
	Name:    "best_model",
	Version: 2,
	Inline:  true,
	Doc: `Choose a trained model by development scores.
The chosen model is used as any trained model is: by evaluate, export_model, or a train step
that trains it further. So of a grid only one model is ever evaluated on the test queries. A
model's files are named, not copied.
` + bestDoc,
	Example: `step "best_model" "rate" {
  candidates = { for rate, t in step.train.grid : rate => { dev = t.report, model = t.model, ids = step.atomic_ids.nq["title"].ids } }
}`,
	Outputs: []step.Output{
		{Name: "report", Type: "best/report", Help: "the chosen name and the values of all, as JSON", Fields: step.FieldsOf[bestReport]()},
		{Name: "model", Type: "dsi/model", Tree: true, Help: "the chosen model"},
		{Name: "ids", Type: "docid/ids", Help: "the chosen model's identifiers"},
	},
	Defaults: bestModelConfig{Field: "metrics.MRR@10", Order: "max"},
	Check:    inout.Checks(func(c bestModelConfig, ps *step.Problems) { checkBest(ps, len(c.Candidates), c.Field) }),
	Reads:    func(c bestModelConfig) []step.Read { return readsOfBest(c.Candidates, c.Field) },
	Run: func(_ context.Context, x *step.IO, c bestModelConfig) error {
		r, err := choose(x, c.Candidates, c.Field, c.Order)
		if err != nil {
			return err
		}
		chosen := c.Candidates[r.Chosen]
		return errors.Join(x.Link("model", *chosen.Model.Artifact), x.Link("ids", *chosen.IDs.Artifact), inout.WriteJSON(x, "report", r))
	},
})

// candidate has a JSON artifact that chooses.
type candidate interface{ choosesBy() step.Input }

func (c bestRanking) choosesBy() step.Input { return c.Dev }
func (c bestModel) choosesBy() step.Input   { return c.Dev }

func checkBest(ps *step.Problems, candidates int, field string) {
	inout.Check(ps, "candidates", candidates > 0, "there are no candidates")
	inout.Check(ps, "field", field != "", "names no number to choose by")
}

func readsOfBest[C candidate](candidates map[string]C, field string) []step.Read {
	return lists.Map(slices.Sorted(maps.Keys(candidates)), func(name string) step.Read {
		return step.Read{Attr: "field", Input: candidates[name].choosesBy(), Path: field, Check: numberField}
	})
}

// choose compares the candidates by their values, and reads nothing else of them.
func choose[C candidate](x *step.IO, candidates map[string]C, field, order string) (r bestReport, err error) {
	docs := inout.NewJSONInputs(x)
	r = bestReport{Field: field, Order: order, Values: map[string]float64{}, Equals: []string{}}
	for _, name := range slices.Sorted(maps.Keys(candidates)) {
		v, err := docs.Number(candidates[name].choosesBy(), field)
		if err != nil {
			return r, step.Permanent(fmt.Errorf("candidate %s: %w", name, err))
		}
		switch {
		case r.Chosen != "" && v == r.Value:
			r.Equals = append(r.Equals, name)
		case r.Chosen == "", order == "max" && v > r.Value, order == "min" && v < r.Value:
			r.Chosen, r.Value, r.Equals = name, v, []string{}
		}
		r.Values[name] = v
	}
	inout.Count(x, map[string]int{"candidates": len(candidates), "equals of the best": len(r.Equals)})
	return r, nil
}

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
	Reads: func(c effectsConfig) []step.Read {
		return lists.Map(c.Runs, func(r effectsRun) step.Read {
			return step.Read{Attr: "field", Input: r.Report, Path: c.Field, Check: numberField}
		})
	},
	Run: func(_ context.Context, x *step.IO, c effectsConfig) error {
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
	},
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

// effects subtracts from's values from to's. The design must be complete: every group, other level and seed has
// exactly one value at either level.
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
