package results

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
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

// bestReport says what was chosen, and why.
type bestReport struct {
	Chosen string             `json:"chosen"` // name of the best candidate; of equals the first by name
	Field  string             `json:"field"`
	Order  string             `json:"order"`
	Value  float64            `json:"value"`  // of the chosen one
	Values map[string]float64 `json:"values"` // of all candidates, by name
	Equals []string           `json:"equals"` // those with the same value as the chosen one, itself left out

	Report json.RawMessage `json:"report,omitempty"` // the chosen one's
}

// bestDoc is what choosing is, of rankings and of models.
const bestDoc = `Of equal candidates the first by name is chosen. Only the field of dev chooses: nothing
else of a candidate is read before that is done. Use development queries for dev, and the
test queries where what was chosen is reported.`

var Best = step.Define(step.Kind[bestConfig]{
	Name:    "best",
	Version: 2,
	Inline:  true,
	Doc: `Choose, by development scores, which of several rankings is reported on test.
A grid of configurations has many test scores, of which one may be reported: that of the
configuration which is best on other queries. Its run and report are passed on.
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
	Reads:    func(c bestConfig) []step.Read { return readsOfBest(devOf(c.Candidates), c.Field) },
	Run: func(_ context.Context, x *step.IO, c bestConfig) error {
		r, err := choose(x, devOf(c.Candidates), c.Field, c.Order)
		if err != nil {
			return err
		}
		chosen := c.Candidates[r.Chosen]
		if err := inout.ReadJSON(x, chosen.Report, &r.Report); err != nil {
			return fmt.Errorf("report of candidate %s: %w", r.Chosen, err)
		}
		if err := x.Link("run", *chosen.Run.Artifact); err != nil {
			return err
		}
		return inout.WriteJSON(x, "report", r)
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
	Reads:    func(c bestModelConfig) []step.Read { return readsOfBest(devOf(c.Candidates), c.Field) },
	Run: func(_ context.Context, x *step.IO, c bestModelConfig) error {
		r, err := choose(x, devOf(c.Candidates), c.Field, c.Order)
		if err != nil {
			return err
		}
		chosen := c.Candidates[r.Chosen]
		if err := x.Link("model", *chosen.Model.Artifact); err != nil {
			return err
		}
		if err := x.Link("ids", *chosen.IDs.Artifact); err != nil {
			return err
		}
		return inout.WriteJSON(x, "report", r)
	},
})

// devOf are the documents that choose, by candidate.
func devOf[C interface{ choosesBy() step.Input }](candidates map[string]C) map[string]step.Input {
	dev := make(map[string]step.Input, len(candidates))
	for name, c := range candidates {
		dev[name] = c.choosesBy()
	}
	return dev
}

func (c bestRanking) choosesBy() step.Input { return c.Dev }
func (c bestModel) choosesBy() step.Input   { return c.Dev }

func checkBest(ps *step.Problems, candidates int, field string) {
	inout.Check(ps, "candidates", candidates > 0, "there are no candidates")
	inout.Check(ps, "field", field != "", "names no number to choose by")
}

// readsOfBest are the values that choose.
func readsOfBest(dev map[string]step.Input, field string) []step.Read {
	return lists.Map(slices.Sorted(maps.Keys(dev)), func(name string) step.Read {
		return step.Read{Attr: "field", Input: dev[name], Path: field, Check: numberField}
	})
}

// choose reads the candidates' values, and nothing else of them.
func choose(x *step.IO, dev map[string]step.Input, field, order string) (r bestReport, err error) {
	docs := inout.NewJSONInputs(x)
	r = bestReport{Field: field, Order: order, Values: map[string]float64{}, Equals: []string{}}
	for _, name := range slices.Sorted(maps.Keys(dev)) {
		v, err := docs.Number(dev[name], field)
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
	inout.Count(x, map[string]int{"candidates": len(dev), "equals of the best": len(r.Equals)})
	return r, nil
}
