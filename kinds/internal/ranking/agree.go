package ranking

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type agreeConfig struct {
	A       step.Input `hcl:"a,optional" accepts:"trec/run" help:"a run"`
	B       step.Input `hcl:"b,optional" accepts:"trec/run" help:"another run of the same queries"`
	ScoresA step.Input `hcl:"scores_a,optional" accepts:"score/queries" help:"queries output of a's score step, for rmse"`
	ScoresB step.Input `hcl:"scores_b,optional" accepts:"score/queries" help:"queries output of b's score step"`
	Depth   int        `hcl:"depth,optional" min:"1" help:"documents of a ranking that tau and RBO look at"`
	P       float64    `hcl:"p,optional" above:"0" below:"1" help:"persistence of RBO: 0.9 gives 86% of the weight to the first 10 ranks"`
	Overlap []int      `hcl:"overlap,optional" min:"1" help:"depths of overlap"`
}

// agreeReport has means over the queries that both runs rank.
type agreeReport struct {
	Tau     *float64           `json:"tau"` // null if no query has two documents in common
	RBO     *float64           `json:"rbo"` // these are null without runs
	RBOExt  *float64           `json:"rbo_ext"`
	RBONorm *float64           `json:"rbo_normalized"`
	Overlap map[string]float64 `json:"overlap"` // by depth
	Same    int                `json:"same"`    // queries whose rankings are the same down to depth
	RMSE    map[string]float64 `json:"rmse"`    // by measure's id, of scores as fractions

	Queries    int `json:"queries"`     // that both have
	TauQueries int `json:"tau_queries"` // that have two documents in common
	OnlyA      int `json:"only_a"`      // queries that only one run ranks
	OnlyB      int `json:"only_b"`
}

var Agree = step.Define(step.Kind[agreeConfig]{
	Name:    "agree",
	Version: 2,
	Doc: `Measure how similar two runs are: the same system twice, or a reproduction and its original.
tau is Kendall's of the documents that both rankings have; rbo is rank-biased overlap down
to the end of the shorter ranking, rbo_ext extrapolated beyond it, rbo_normalized over the
most that it could be, as repro_eval has it; overlap.K is the share of the first K that
both have; rmse.MEASURE is the root of the mean squared difference of the queries' scores.
All are means over queries that both have, as fractions. Values equal scipy's, rbo's and
repro_eval's. Cost: memory grows with the runs, 100 bytes a row.`,
	Example: `step "agree" "seeds" {
  a        = step.evaluate.dsi["title/42"].run
  b        = step.evaluate.dsi["title/43"].run
  scores_a = step.score.dsi["title/42"].queries
  scores_b = step.score.dsi["title/43"].queries
}`,
	Outputs: []step.Output{
		{Name: "report", Type: "agree/report", Help: "means over queries, as JSON", Fields: step.FieldsOf[agreeReport](),
			Alike: step.Numbers{Margin: step.Margin{Abs: 0.02}}, Why: "documents of nearly equal scores change places"},
		{Name: "queries", Type: "agree/queries", Help: "TSV: each query's values; without runs only the header", Alike: step.Follows{Output: "report"}},
	},
	Defaults: agreeConfig{Depth: 100, P: 0.9, Overlap: []int{10, 100}},
	Check: inout.Checks(func(c agreeConfig, ps *step.Problems) {
		inout.Check(ps, "b", c.A.Set() == c.B.Set(), "a and b are compared with each other: give both")
		inout.Check(ps, "scores_b", c.ScoresA.Set() == c.ScoresB.Set(), "scores_a and scores_b are compared with each other: give both")
		inout.Check(ps, "a", c.A.Set() || c.ScoresA.Set(), "give two runs (a and b) or the scores of two runs (scores_a and scores_b)")
	}),
	Declares: func(c agreeConfig) map[string]*step.Fields {
		depths := lists.Map(c.Overlap, strconv.Itoa)
		return map[string]*step.Fields{"report": step.FieldsOf[agreeReport]().With("overlap", depths...)}
	},
	Run: runAgree,
})

func runAgree(_ context.Context, x *step.IO, c agreeConfig) error {
	report := agreeReport{Overlap: map[string]float64{}, RMSE: map[string]float64{}}
	err := inout.WriteText(x, "queries", func(w *bufio.Writer) (err error) {
		w.WriteString("query\ttau\trbo\trbo_ext\trbo_normalized")
		for _, k := range c.Overlap {
			fmt.Fprintf(w, "\toverlap_%d", k)
		}
		w.WriteByte('\n')
		if c.A.Set() {
			err = agreeRuns(x, c, &report, w)
		}
		if err == nil && c.ScoresA.Set() {
			err = agreeScores(x, c, &report)
		}
		return err
	})
	if err != nil {
		return err
	}
	return inout.WriteReport(x, report, map[string]int{"queries": report.Queries,
		"queries_of_one": report.OnlyA + report.OnlyB})
}

func agreeRuns(x *step.IO, c agreeConfig, report *agreeReport, w *bufio.Writer) error {
	a, err := inout.Read(x, c.A, "a", trec.ReadRun)
	b, errB := inout.Read(x, c.B, "b", trec.ReadRun)
	if err = cmp.Or(err, errB); err != nil {
		return err
	}
	other := make(map[string][]string, len(b))
	for _, r := range b {
		other[r.Query] = metrics.Documents(&r)
	}
	depths := metrics.AgreementDepths{Depth: c.Depth, P: c.P, Overlap: c.Overlap}
	sums := make([]float64, 4+len(c.Overlap))
	counts := make([]int, len(sums))
	for i := range a {
		theirs, ok := other[a[i].Query]
		if !ok {
			report.OnlyA++
			continue
		}
		report.Queries++
		mine := metrics.Documents(&a[i])
		g := depths.Of(mine, theirs)
		if slices.Equal(mine[:min(c.Depth, len(mine))], theirs[:min(c.Depth, len(theirs))]) {
			report.Same++
		}
		w.WriteString(trec.EncodeName(a[i].Query))
		for k, v := range append([]float64{g.Tau, g.RBO, g.RBOExt, g.RBONorm}, g.Overlap...) {
			w.WriteByte('\t')
			if math.IsNaN(v) {
				continue
			}
			w.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
			sums[k] += v
			counts[k]++
		}
		w.WriteByte('\n')
	}
	report.OnlyB = len(b) - report.Queries
	if report.Queries == 0 {
		return step.Permanent(fmt.Errorf("the runs have no query in common: a has %d, b %d others", report.OnlyA, report.OnlyB))
	}
	mean := func(k int) *float64 {
		if counts[k] == 0 {
			return nil
		}
		return new(sums[k] / float64(counts[k]))
	}
	report.Tau, report.RBO, report.RBOExt, report.RBONorm = mean(0), mean(1), mean(2), mean(3)
	report.TauQueries = counts[0]
	for i, k := range c.Overlap {
		report.Overlap[strconv.Itoa(k)] = *mean(4 + i)
	}
	return nil
}

func agreeScores(x *step.IO, c agreeConfig, report *agreeReport) error {
	a, err := readScores(x, c.ScoresA, "a")
	b, errB := readScores(x, c.ScoresB, "b")
	if err = cmp.Or(err, errB); err != nil {
		return err
	}
	rows := lists.By(b.Rows, func(row metrics.QueryScore) string { return row.Query })
	both := 0
	for i, m := range a.Metrics {
		k := slices.Index(b.Metrics, m)
		if k < 0 {
			continue
		}
		var mine, theirs []float64
		for _, row := range a.Rows {
			if other, ok := rows[row.Query]; ok {
				mine, theirs = append(mine, row.Scores[i]), append(theirs, other.Scores[k])
			}
		}
		if both = len(mine); both == 0 {
			return step.Permanent(errors.New("the scores have no query in common"))
		}
		report.RMSE[m.ID()] = metrics.RMSE(mine, theirs)
	}
	if len(report.RMSE) == 0 {
		return step.Permanent(fmt.Errorf("the scores have no measure in common: a has %v, b %v", a.Metrics, b.Metrics))
	}
	if !c.A.Set() {
		report.Queries, report.OnlyA, report.OnlyB = both, len(a.Rows)-both, len(b.Rows)-both
	}
	return nil
}
