package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/significance"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type compareConfig struct {
	Systems    map[string]step.Input `hcl:"systems" accepts:"score/queries" help:"queries output of a score step, by the system's name"`
	Baselines  []string              `hcl:"baselines,optional" help:"systems that every system is compared with, the baselines among themselves too"`
	Claims     map[string]claim      `hcl:"claims,optional,added" help:"what is claimed of two of the systems, by name: each is judged, by Student's t with Holm's correction for all claims"`
	Measures   []string              `hcl:"measures,optional" help:"measures to compare, by which all systems were scored"`
	Test       string                `hcl:"test,optional" enum:"t,permutation,bootstrap,wilcoxon" help:"paired and two-sided: Student's t, randomization of signs, shifted bootstrap, signed ranks"`
	Correction string                `hcl:"correction,optional" enum:"none,bonferroni,holm,fdr_bh,tukey_hsd" help:"for the number of comparisons; holm bounds the chance of any false difference, fdr_bh (Benjamini and Hochberg) the expected share of false ones among those found; tukey_hsd takes all pairs of systems together: with t by the studentized range, queries being blocks, with permutation by random assignments"`
	Family     string                `hcl:"family,optional" enum:"measure,all" help:"which comparisons are corrected together: each measure's, or all; tukey_hsd is always of a measure"`
	Alpha      float64               `hcl:"alpha,optional" above:"0" below:"1" help:"corrected p below which a difference is significant, and a claim holds or is reversed; intervals have confidence 1 - alpha"`
	Samples    int                   `hcl:"samples,optional" min:"100" max:"100000000" help:"for permutation, where more than 20 queries differ, and for bootstrap"`
	Seed       int                   `hcl:"seed,optional" min:"0" help:"for the samples"`
}

type compareReport struct {
	Systems     map[string]comparedSystem `json:"systems"`
	Baselines   []string                  `json:"baselines"`
	Claims      map[string]judgedClaim    `json:"claims,omitempty"`
	Method      string                    `json:"method"` // for people: the test, its correction
	Test        string                    `json:"test"`
	Correction  string                    `json:"correction"`
	Alpha       float64                   `json:"alpha"`
	Queries     int                       `json:"queries"`
	Comparisons int                       `json:"comparisons"` // that are corrected together
	Samples     int                       `json:"samples"`     // 0 where none were drawn
}

type comparedSystem struct {
	Percent map[string]float64               `json:"percent" unit:"percent"` // means by the measures' ids
	Against map[string]map[string]comparison `json:"against"`                // by baseline and measure
}

type comparison struct {
	Difference  float64  `json:"difference" unit:"percent"` // of the means, system less baseline, also where less is better
	Low         float64  `json:"low" unit:"percent"`        // with confidence 1 - alpha, not corrected
	High        float64  `json:"high" unit:"percent"`
	Statistic   *float64 `json:"statistic"` // t, or W, the smaller sum of ranks; null for other tests
	P           float64  `json:"p"`         // before correction; of tukey_hsd after it
	Corrected   float64  `json:"p_corrected"`
	Significant bool     `json:"significant"`
	EffectSize  *float64 `json:"effect_size"` // Cohen's d of pairs, signed as difference; null if all queries differ by the same
	Wins        int      `json:"wins"`        // queries
	Ties        int      `json:"ties"`
	Losses      int      `json:"losses"`
}

var Compare = step.Define(step.Kind[compareConfig]{
	Name:    "compare",
	Version: 2,
	Doc: `Test which systems differ by more than chance, query by query.
Every system is compared with each baseline, in every measure, by a paired two-sided
test, and what claims says of two systems is judged; p is corrected for the number of
comparisons. All systems must have been scored on the same queries. A table takes the
report as significance, and marks its cells. The report has systems.NAME.percent.MEASURE
and systems.NAME.against.BASELINE.MEASURE with difference (the system's mean less the
baseline's), low and high (its interval), p, p_corrected, significant, effect_size
(Cohen's d: mean over deviation of the differences), wins, ties and losses; where less is
better, as for Invalid@k, a smaller value is a win. p of permutation is exact where at
most 20 queries differ; else it and p of bootstrap are (hits + 1) / (samples + 1) of draws
that the seed decides. Values equal scipy's and statsmodels'; wilcoxon is scipy's
method="approx", whose default is another one below 14 pairs that differ with ties among
them, and up to 50 without.
A claim is above or below, which are judged by Student's paired t-test, two-sided; or
near, which holds where two one-sided tests put the difference within margin, and is
reversed where it is beyond. claims.NAME of the report has the means a and b, what a
comparison of a with b has, and verdict: holds, reversed, or cannot be told at this size.
The interval is for these two systems over queries like these: another seed of a
model, or longer training, is not in it. Cost: t is immediate; permutation and bootstrap
grow with queries x samples x comparisons, 0.3 s for 1,000 queries and 100,000 samples.`,
	Example: `step "compare" "dev" {
  systems   = { for name in ["bm25", "dense", "atomic"] : name => step.score.dev[name].queries }
  baselines = ["bm25"]
  measures  = ["nDCG@10", "MRR@10"]
  claims = {
    trained = { a = "atomic", b = "bm25", measure = "MRR@10", claim = "above" }
    dense   = { a = "dense", b = "bm25", measure = "MRR@10", claim = "near", margin = 0.5 }
  }
}`,
	Outputs: []step.Output{
		{Name: "report", Type: "compare/report", Help: "each system against each baseline, and each claim with its verdict, as JSON", Fields: step.FieldsOf[compareReport](),
			Alike: step.Numbers{Margin: step.Margin{Abs: 0.5}}, Why: "scores may differ by the places of a few documents"},
	},
	Defaults: compareConfig{Measures: []string{"nDCG@10"}, Test: string(significance.T), Correction: string(significance.HolmStep), Family: familyMeasure, Alpha: 0.05, Samples: 100_000, Seed: 42},
	Check:    inout.Checks(checkCompare),
	Declares: compareConfig.declares,
	Run:      runCompare,
})

const familyMeasure = "measure"

func checkCompare(c compareConfig, ps *step.Problems) {
	list := parseMeasures(ps, c.Measures)
	names := slices.Sorted(maps.Keys(c.Systems))
	inout.Check(ps, "systems", len(names) >= 2, "needs at least two")
	for _, name := range names {
		inout.Check(ps, "systems", name != "" && !strings.Contains(name, "'."), "%q cannot be named in a path of the report: give a name without '.", name)
	}
	inout.Check(ps, "baselines", len(c.Baselines)+len(c.Claims) > 0, "needs at least one of the systems, if there are no claims")
	for i, b := range c.Baselines {
		at := fmt.Sprintf("baselines[%d]", i)
		inout.Check(ps, at, slices.Contains(names, b), "%q is not one of the systems %v", b, names)
		inout.Check(ps, at, !slices.Contains(c.Baselines[:i], b), "%q is named twice", b)
	}
	c.checkClaims(ps, list)
	usable := c.Test == string(significance.T) || c.Test == string(significance.Permutation)
	inout.Check(ps, "correction", c.Correction != string(significance.TukeyRange) || usable, "tukey_hsd uses the t or the permutation test, not %s", c.Test)
}

// declares names the systems, baselines and measures that the report has.
func (c compareConfig) declares() map[string]*step.Fields {
	ids := idsOf(c.Measures)
	if ids == nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(c.Systems))
	f := step.FieldsOf[compareReport]().With("systems", names...).With("claims", slices.Sorted(maps.Keys(c.Claims))...)
	for _, name := range names {
		others := slices.DeleteFunc(slices.Clone(c.Baselines), func(b string) bool { return b == name })
		f.With(step.PathOf("systems", name, "percent"), ids...).With(step.PathOf("systems", name, "against"), others...)
		for _, b := range others {
			f.With(step.PathOf("systems", name, "against", b), ids...)
		}
	}
	return map[string]*step.Fields{"report": f}
}

// pairs returns each pair of a baseline and another system, once.
func (c compareConfig) pairs(names []string) (pairs []significance.Pair) {
	for _, b := range c.Baselines {
		at := slices.Index(names, b)
		for i := range names {
			twice := slices.Contains(pairs, significance.Pair{A: at, B: i})
			if i != at && !twice {
				pairs = append(pairs, significance.Pair{A: i, B: at})
			}
		}
	}
	return pairs
}

func runCompare(_ context.Context, x *step.IO, c compareConfig) error {
	list, _ := metrics.ParseAll(c.Measures...) // checked
	names := slices.Sorted(maps.Keys(c.Systems))
	scores, err := readSystems(x, c.Systems, names, list)
	if err != nil {
		return err
	}
	method := significance.Method{Test: significance.Test(c.Test), Correction: significance.Correction(c.Correction), Alpha: c.Alpha, Samples: c.Samples, Seed: uint64(c.Seed)}
	pairs := c.pairs(names)
	outcomes := make([][]significance.Outcome, len(list))
	var families [][]float64 // by family
	for m := range list {
		outcomes[m] = method.Compare(scores[m], pairs, uint64(m))
		if m == 0 || c.Family == familyMeasure {
			families = append(families, nil)
		}
		for _, o := range outcomes[m] {
			families[len(families)-1] = append(families[len(families)-1], o.P)
		}
	}
	corrected := slices.Concat(lists.Map(families, method.Correct)...)
	comparisons := len(families[0])
	if len(pairs) == 0 {
		comparisons = len(c.Claims)
	}
	report := compareReport{Systems: map[string]comparedSystem{}, Baselines: append([]string{}, c.Baselines...), Claims: c.judge(x, method, scores, list, names), Test: c.Test, Correction: c.Correction, Alpha: c.Alpha,
		Queries: len(scores[0][0]), Comparisons: comparisons, Method: method.String(comparisons, len(names))}
	for i, name := range names {
		s := comparedSystem{Percent: map[string]float64{}, Against: map[string]map[string]comparison{}}
		for m, measure := range list {
			s.Percent[measure.ID()] = mean(scores[m][i])
		}
		for _, b := range c.Baselines {
			if b != name {
				s.Against[b] = map[string]comparison{}
			}
		}
		report.Systems[name] = s
	}
	for m, measure := range list {
		for i, p := range pairs {
			o := outcomes[m][i]
			v := compared(o, measure)
			v.correct(corrected[m*len(pairs)+i], c.Alpha)
			report.Systems[names[p.A]].Against[names[p.B]][measure.ID()] = v
			if slices.Contains(c.Baselines, names[p.A]) {
				report.Systems[names[p.B]].Against[names[p.A]][measure.ID()] = v.turned(c.Test == string(significance.T))
			}
			if c.Test == string(significance.Bootstrap) || c.Test == string(significance.Permutation) && !o.Exact {
				report.Samples = c.Samples
			}
			if v.Significant {
				x.Count("significant", 1)
			}
		}
	}
	return inout.WriteReport(x, report, map[string]int{"comparisons": len(pairs)*len(list) + len(c.Claims), "queries": report.Queries})
}

// compared turns an outcome into percent. Where less is better, less is a win.
func compared(o significance.Outcome, m metrics.Metric) comparison {
	v := comparison{Difference: metrics.Percent(o.Mean), Low: metrics.Percent(o.Low), High: metrics.Percent(o.High), Statistic: o.Statistic, P: o.P}
	if d, ok := o.EffectSize(); ok {
		v.EffectSize = &d
	}
	v.Wins, v.Ties, v.Losses = o.WinsTiesLosses()
	if m.LowerIsBetter() {
		v.Wins, v.Losses = v.Losses, v.Wins
	}
	return v
}

func (v *comparison) correct(p, alpha float64) { v.Corrected, v.Significant = p, p < alpha }

// mean returns the mean of fractions, in percent.
func mean(list []float64) float64 {
	m, _ := values.MeanStd(list)
	return metrics.Percent(m)
}

// turned returns the comparison from the other side; of the statistics, t changes its sign, and W stays.
func (v comparison) turned(t bool) comparison {
	minus := func(p *float64) *float64 {
		if p == nil {
			return nil
		}
		return new(0 - *p)
	}
	v.Difference, v.Low, v.High = 0-v.Difference, 0-v.High, 0-v.Low
	v.Wins, v.Losses = v.Losses, v.Wins
	if v.EffectSize = minus(v.EffectSize); t {
		v.Statistic = minus(v.Statistic)
	}
	return v
}

// readSystems returns the values of all systems by measure, their queries in one order.
func readSystems(x *step.IO, systems map[string]step.Input, names []string, list []metrics.Metric) ([]significance.Table, error) {
	values := make([]significance.Table, len(list))
	var first map[string]int // queries of the first system
	for _, name := range names {
		t, err := readScores(x, systems[name], name)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = make(map[string]int, len(t.Rows))
			for i, row := range t.Rows {
				first[row.Query] = i
			}
		}
		if err := sameQueries(first, t, names[0], name); err != nil {
			return nil, step.Permanent(err)
		}
		for m, measure := range list {
			column := slices.Index(t.Metrics, measure)
			if column < 0 {
				return nil, step.Permanent(fmt.Errorf("system %s was not scored by %s, but by %v: name it in measures of its score step", name, measure, t.Metrics))
			}
			of := make([]float64, len(t.Rows))
			for _, row := range t.Rows {
				of[first[row.Query]] = row.Scores[column]
			}
			values[m] = append(values[m], of)
		}
	}
	return values, nil
}

func readScores(x *step.IO, in step.Input, name string) (*queryTable, error) {
	return inout.Read(x, in, "system "+name, readQueryTable)
}

// sameQueries names the queries that one of two systems lacks.
func sameQueries(first map[string]int, t *queryTable, firstName, name string) error {
	has := lists.By(t.Rows, func(row metrics.QueryScore) string { return row.Query })
	less := lists.Filter(slices.Sorted(maps.Keys(first)), func(q string) bool { _, ok := has[q]; return !ok })
	more := lists.Filter(slices.Sorted(maps.Keys(has)), func(q string) bool { _, ok := first[q]; return !ok })
	var parts []string
	for _, l := range []struct {
		who, of string
		queries []string
	}{{name, firstName, less}, {firstName, name, more}} {
		if n := len(l.queries); n > 0 {
			parts = append(parts, fmt.Sprintf("%s lacks %d of %s (%s)", l.who, n, l.of, words.Quoted(l.queries, 3)))
		}
	}
	if parts == nil {
		return nil
	}
	return fmt.Errorf("systems were not scored on the same queries: %s. Score all with the same qrels and missing = \"zero\"", strings.Join(parts, "; "))
}

type claim struct {
	A       string  `hcl:"a" help:"one of the systems"`
	B       string  `hcl:"b" help:"another one"`
	Measure string  `hcl:"measure" help:"one of measures"`
	Claim   string  `hcl:"claim" enum:"above,below,near" help:"a is above b, below it, or within margin of it"`
	Margin  float64 `hcl:"margin,optional" min:"0" help:"of near, in percentage points"`
}

// judgedClaim is a comparison of a with b, and its verdict on the claim.
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

const claimAbove, claimNear = "above", "near"

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

// placeOf returns the index of a measure, however it is written; -1 if the list lacks it.
func placeOf(name string, list []metrics.Metric) int {
	m, _ := metrics.Parse(name) // the zero Metric, which no list has, if it is no measure
	return slices.Index(list, m)
}

// judge says whether each claim holds. method is the one that checkClaims asks for.
func (c compareConfig) judge(x *step.IO, method significance.Method, values []significance.Table, list []metrics.Metric, systems []string) map[string]judgedClaim {
	judged := map[string]judgedClaim{}
	names := slices.Sorted(maps.Keys(c.Claims))
	agrees, ps := make([]bool, len(names)), make([]float64, len(names)) // whether the difference is as claimed; p of the tests
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
