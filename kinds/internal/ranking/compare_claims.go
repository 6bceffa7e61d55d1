package ranking

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/significance"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// claim is what is claimed of two systems.
type claim struct {
	A       string  `hcl:"a" help:"one of the systems"`
	B       string  `hcl:"b" help:"another one"`
	Measure string  `hcl:"measure" help:"one of measures"`
	Claim   string  `hcl:"claim" enum:"above,below,near" help:"a is above b, below it, or within margin of it"`
	Margin  float64 `hcl:"margin,optional" min:"0" help:"of near, in percentage points"`
}

// judgedClaim is a comparison of a with b, and what it says of the claim.
type judgedClaim struct {
	A float64 `json:"a" unit:"percent"` // mean
	B float64 `json:"b" unit:"percent"`
	comparison
	Verdict string `json:"verdict"`
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

func (c compareConfig) checkClaims(ps *step.Problems, list []metrics.Metric) {
	none := len(c.Claims) == 0
	inout.Check(ps, "test", none || c.Test == string(significance.T), "claims are judged by t, not by %s: give them a step of their own", c.Test)
	inout.Check(ps, "correction", none || c.Correction == string(significance.HolmStep), "claims are corrected by holm, not by %s: give them a step of their own", c.Correction)
	for _, name := range slices.Sorted(maps.Keys(c.Claims)) {
		q, at := c.Claims[name], fmt.Sprintf("claims[%q]", name)
		inout.Check(ps, at, name != "" && !strings.Contains(name, "'."), "cannot be named in a path of the report: give a name without '.")
		for _, side := range [][2]string{{".a", q.A}, {".b", q.B}} {
			_, ok := c.Systems[side[1]]
			inout.Check(ps, at+side[0], ok, "%q is not one of the systems %v", side[1], slices.Sorted(maps.Keys(c.Systems)))
		}
		inout.Check(ps, at+".measure", placeOf(q.Measure, list) >= 0, "%q is not one of measures %v", q.Measure, list)
		inout.Check(ps, at+".margin", (q.Margin > 0) == (q.Claim == claimNear), "is for near, which needs one above 0")
	}
}

// placeOf is where a measure stands, however it is written; -1 if it does not.
func placeOf(name string, list []metrics.Metric) int {
	m, _ := metrics.Parse(name) // of what is no measure none, which no list has
	return slices.Index(list, m)
}

// judge says of every claim whether it holds. method is the one that checkClaims asks for.
func (c compareConfig) judge(x *step.IO, method significance.Method, values []significance.Table, list []metrics.Metric, systems []string) map[string]judgedClaim {
	judged := map[string]judgedClaim{}
	names := slices.Sorted(maps.Keys(c.Claims))
	agrees, ps := make([]bool, len(names)), make([]float64, len(names)) // the difference with the claim; of the tests
	for i, name := range names {
		q := c.Claims[name]
		at, pair := placeOf(q.Measure, list), significance.Pair{A: slices.Index(systems, q.A), B: slices.Index(systems, q.B)}
		o := method.Compare(values[at], []significance.Pair{pair}, 0)[0]
		agrees[i] = (o.Mean > 0) == (q.Claim == claimAbove)
		if q.Claim == claimNear {
			within, beyond := o.Beyond(q.Margin / 100)
			o.P, o.Statistic, agrees[i] = min(within, beyond), nil, within < beyond
		}
		ps[i] = o.P
		judged[name] = judgedClaim{A: mean(values[at][pair.A]), B: mean(values[at][pair.B]), comparison: compared(o, list[at])}
	}
	for i, corrected := range method.Correct(ps) {
		j := judged[names[i]]
		j.Verdict = untold
		if j.correct(corrected, c.Alpha); j.Significant {
			if j.Verdict = reversed; agrees[i] {
				j.Verdict = holds
			}
		}
		x.Count(j.Verdict, 1)
		judged[names[i]] = j
	}
	return judged
}
