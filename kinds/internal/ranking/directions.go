package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/significance"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// directionsConfig judges what is claimed of pairs of systems.
type directionsConfig struct {
	Pairs map[string]claimedPair `hcl:"pairs" help:"two systems and what is claimed of them, by name"`
	Alpha float64                `hcl:"alpha,optional" above:"0" below:"1" help:"corrected p below which a claim holds or is reversed; intervals have confidence 1 - alpha"`
}

type claimedPair struct {
	A       step.Input `hcl:"a" accepts:"score/queries" help:"queries output of a score step"`
	B       step.Input `hcl:"b" accepts:"score/queries" help:"the same of the other system, scored on the same queries"`
	Measure string     `hcl:"measure" help:"one that both were scored by"`
	Claim   string     `hcl:"claim" enum:"above,below,near" help:"a is above b, below it, or within margin of it"`
	Margin  float64    `hcl:"margin,optional" min:"0" help:"of near, in percentage points"`
}

// directionsReport is what tables read.
type directionsReport struct {
	Pairs  map[string]judgedPair `json:"pairs"`
	Method string                `json:"method"` // for people
	Alpha  float64               `json:"alpha"`
}

type judgedPair struct {
	A          float64 `json:"a" unit:"percent"` // mean
	B          float64 `json:"b" unit:"percent"`
	Difference float64 `json:"difference" unit:"percent"` // of a less b
	Low        float64 `json:"low" unit:"percent"`        // with confidence 1 - alpha, not corrected
	High       float64 `json:"high" unit:"percent"`
	P          float64 `json:"p"` // before correction
	Corrected  float64 `json:"p_corrected"`
	Queries    int     `json:"queries"`
	Wins       int     `json:"wins"` // queries of which a has more
	Ties       int     `json:"ties"`
	Losses     int     `json:"losses"`
	Verdict    string  `json:"verdict"`
}

// The verdicts on a claim.
const (
	holds    = "holds"
	reversed = "reversed"
	untold   = "cannot be told at this size"
)

// The claims.
const (
	claimAbove = "above"
	claimNear  = "near"
)

var Directions = step.Define(step.Kind[directionsConfig]{
	Name:    "directions",
	Version: 1,
	Doc: `Judge claims that one system is above, below or near another by paired tests over queries.
above and below are judged by Student's paired t-test, two-sided. near holds where two
one-sided tests put the difference within margin, and is reversed where it is beyond. p is
corrected for all pairs of the step by Holm's method. pairs.NAME of the report has a, b,
difference, low, high, p, p_corrected, queries, wins, ties, losses, and verdict: holds,
reversed, or cannot be told at this size. The interval is that of these two models over
queries like these: another seed, or longer training, is not in it. Cost: immediate.`,
	Example: `step "directions" "tiny" {
  pairs = {
    trained   = { a = step.score.dev["atomic"].queries, b = step.score.dev["bm25"].queries, measure = "MRR@10", claim = "above" }
    untrained = { a = step.score.dev["dense"].queries, b = step.score.dev["bm25"].queries, measure = "MRR@10", claim = "near", margin = 0.5 }
  }
}`,
	Outputs: []step.Output{
		{Name: "report", Type: "directions/report", Help: "each pair, its difference and the verdict, as JSON", Fields: step.FieldsOf[directionsReport](),
			Alike: step.Numbers{Margin: step.Margin{Abs: 0.5}}, Why: "scores may differ by the places of a few documents"},
	},
	Defaults: directionsConfig{Alpha: 0.05},
	Check: func(c directionsConfig) error {
		var ps step.Problems
		inout.Check(&ps, "pairs", len(c.Pairs) > 0, "needs at least one")
		for _, name := range slices.Sorted(maps.Keys(c.Pairs)) {
			p, at := c.Pairs[name], fmt.Sprintf("pairs[%q]", name)
			inout.Check(&ps, at, name != "" && !strings.Contains(name, "'."), "cannot be named in a path of the report: give a name without '.")
			_, err := metrics.Parse(p.Measure)
			inout.CheckError(&ps, at+".measure", err)
			inout.Check(&ps, at+".margin", (p.Margin > 0) == (p.Claim == claimNear), "is for near, which needs one above 0")
		}
		return ps.Err()
	},
	Declares: func(c directionsConfig) map[string]*step.Fields {
		return map[string]*step.Fields{"report": step.FieldsOf[directionsReport]().With("pairs", slices.Sorted(maps.Keys(c.Pairs))...)}
	},
	Run: runDirections,
})

func runDirections(_ context.Context, x *step.IO, c directionsConfig) error {
	names := slices.Sorted(maps.Keys(c.Pairs))
	report := directionsReport{Pairs: map[string]judgedPair{}, Alpha: c.Alpha, Method: fmt.Sprintf("paired t-tests, Holm correction for %d comparisons", len(names))}
	var ps []float64
	agrees := make([]bool, len(names)) // the difference with the claim
	for i, name := range names {
		p := c.Pairs[name]
		measure, err := metrics.Parse(p.Measure)
		if err != nil {
			return step.Permanent(err) // checked
		}
		a, b := name+".a", name+".b"
		values, err := readSystems(x, map[string]step.Input{a: p.A, b: p.B}, []string{a, b}, []metrics.Metric{measure})
		if err != nil {
			return err
		}
		d := significance.Subtract(values[0][0], values[0][1])
		low, high := d.Interval(1 - c.Alpha)
		j := judgedPair{A: mean(values[0][0]), B: mean(values[0][1]), Difference: metrics.Percent(d.Mean), Low: metrics.Percent(low), High: metrics.Percent(high), Queries: len(d.Values)}
		j.Wins, j.Ties, j.Losses = d.WinsTiesLosses()
		if p.Claim == claimNear {
			within, beyond := d.Beyond(p.Margin / 100)
			j.P, agrees[i] = min(within, beyond), within < beyond
		} else {
			_, j.P = d.PairedT()
			agrees[i] = (d.Mean > 0) == (p.Claim == claimAbove)
		}
		ps = append(ps, j.P)
		report.Pairs[name] = j
	}
	for i, corrected := range significance.Holm(ps) {
		j := report.Pairs[names[i]]
		j.Corrected, j.Verdict = corrected, untold
		if corrected < c.Alpha {
			if j.Verdict = reversed; agrees[i] {
				j.Verdict = holds
			}
		}
		x.Count(j.Verdict, 1)
		report.Pairs[names[i]] = j
	}
	return inout.WriteReport(x, report, map[string]int{"comparisons": len(names)})
}

// mean of fractions, in percent.
func mean(values []float64) float64 { return metrics.Percent(metrics.Summarize(values).Mean) }
