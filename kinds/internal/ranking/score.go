package ranking

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type scoreConfig struct {
	Run      step.Input  `hcl:"run" accepts:"trec/run" help:"rankings, of any step"`
	Qrels    step.Input  `hcl:"qrels" accepts:"trec/qrels" help:"judgments of the same queries, with grades if there are any"`
	Measures []string    `hcl:"measures,optional" help:"as redsi writes them, ir_measures or trec_eval: nDCG@10, AP(rel=2)@100, ndcg_cut_10"`
	Mode     string      `hcl:"mode,optional" enum:"raw,post_filtered" help:"raw: hypotheses that name no document keep their ranks; post_filtered: they are left out. Rankings without such hypotheses are the same in both"`
	Missing  string      `hcl:"missing,optional" enum:"zero,leave_out,fail" help:"judged queries without a ranking count 0, as in ir_measures and trec_eval -c; are left out, as in trec_eval up to 9; or fail the step, as trec_eval 10 fails"`
	Queries  step.Input  `hcl:"queries,optional,added" accepts:"nq/queries" help:"the collection's queries, whose names ignore_identical_ids compares and groups has"`
	Groups   step.Inputs `hcl:"groups,optional,added" accepts:"files,file" help:"TSV, plain or compressed: on each line a query and, after a tab, a group that it is in, of one or several; of each the report has groups.NAME.percent and groups.NAME.queries"`
	identicalOf
}

type scoreReport struct {
	Percent  map[string]float64 `json:"percent" unit:"percent"` // means by the measures' ids
	Measures map[string]string  `json:"measures"`               // names by id
	Queries  int                `json:"queries"`                // that the means are over

	MissingQueries    int    `json:"missing_queries"`    // judged, without a ranking
	Missing           string `json:"missing"`            // how these count
	UnjudgedQueries   int    `json:"unjudged_queries"`   // ranked, without a judgment: not scored
	IrrelevantQueries int    `json:"irrelevant_queries"` // judged, without a relevant document: they count 0

	Groups map[string]groupScore `json:"groups,omitempty"` // means over the scored queries of each

	Mode      string `json:"mode"`
	Rows      int    `json:"rows"`
	Identical int    `json:"identical_documents,omitempty"` // left out, as they have the query's name
}

type groupScore struct {
	Percent map[string]float64 `json:"percent" unit:"percent"`
	Queries int                `json:"queries"`
}

var defaultMeasures = []string{"nDCG@10", "MRR@10", "Hits@1", "Hits@10", "R@100", "AP"}

var Score = step.Define(step.Kind[scoreConfig]{
	Name:    "score",
	Version: 2,
	Doc: `Score any rankings by any judgments.
Measures, each at any depth k: Hits@k (Success), MRR (RR), nDCG, AP (MAP), P@k,
Recall@k (R), Rprec, Bpref, IPrec@recall, RBP, ERR, Judged, Invalid@k. A document is relevant from grade 1 on;
AP(rel=2)@100 asks for grade 2. nDCG gains the grade, as in trec_eval;
nDCG(dcg='exp-log2')@10 gains 2^grade - 1. RBP(p=0.95) goes on to the next rank with
that probability, 0.8 unless it says so; ERR is gdeval's, for grades 0 to 4; IPrec@0.1 is
interpolated precision where a tenth of the relevant documents is found. Documents that
nobody judged are left out of rankings by nDCG(judged_only=True)@10, as of all measures
but RBP, ERR, Bpref, Judged and Invalid. In the report percent.ID is the mean, ID the
name in small letters: ndcg_10, mrr_10, hits_1, recall_100, ap, ap_rel2_100,
ndcg_exp_10, rbp_p0_95, iprec_0_1, ndcg_judged_10. Every judged query counts, as in trec_eval: one without a relevant document
counts 0. Values equal trec_eval 9's, ir_measures' and ranx's: runs have no equal scores,
as import_run has set them apart. The report says what was done with queries that one side
lacks, and how many there were. Cost: a second for a million rows; memory grows with the judgments and the longest
ranking.`,
	Example: `step "score" "bm25" {
  run      = step.bm25.title.run
  qrels    = step.bm25.title.qrels
  measures = ["nDCG@10", "MRR@10", "AP(rel=2)@100"]
}`,
	Outputs: []step.Output{
		{Name: "report", Type: "score/report", Help: "means in percent by the measures' ids, and what was counted, as JSON", Fields: step.FieldsOf[scoreReport](),
			Alike: step.Numbers{Margin: step.Margin{Abs: 0.5}}, Why: "a run that another machine made may change places of documents of nearly equal scores"},
		{Name: "queries", Type: "score/queries", Help: "TSV: each query's values as fractions; what compare and agree read", Alike: step.Follows{Output: "report"}},
	},
	Defaults: scoreConfig{Measures: defaultMeasures, Mode: string(metrics.PostFiltered), Missing: string(metrics.MissingZero)},
	Check: inout.Checks(func(c scoreConfig, ps *step.Problems) {
		parseMeasures(ps, c.Measures)
		inout.Check(ps, "queries", !c.Ignore || c.Queries.Set(), "ignore_identical_ids = true compares their names: give it, too")
		inout.Check(ps, "queries", c.Ignore || len(c.Groups) > 0 || !c.Queries.Set(), "goes with ignore_identical_ids = true or groups: give one of both")
		c.check(ps)
	}),
	Declares: func(c scoreConfig) map[string]*step.Fields {
		ids := idsOf(c.Measures)
		if ids == nil {
			return nil
		}
		return map[string]*step.Fields{"report": step.FieldsOf[scoreReport]().With("percent", ids...).With("measures", ids...)}
	},
	Run: runScore,
})

// parseMeasures parses measures, and adds problems with names that are none, or name one twice.
func parseMeasures(ps *step.Problems, names []string) (list []metrics.Metric) {
	inout.Check(ps, "measures", len(names) > 0, "needs at least one")
	for i, name := range names {
		m, err := metrics.Parse(name)
		at := fmt.Sprintf("measures[%d]", i)
		if inout.CheckError(ps, at, err); err != nil {
			continue
		}
		twice := slices.ContainsFunc(list, func(o metrics.Metric) bool { return o.ID() == m.ID() })
		inout.Check(ps, at, !twice, "%s is asked for twice", m)
		list = append(list, m)
	}
	return list
}

// idsOf returns the names of measures in reports; nil if some are no measures.
func idsOf(measures []string) []string {
	var ps step.Problems
	list := parseMeasures(&ps, measures)
	if len(ps) > 0 {
		return nil
	}
	return lists.Map(list, metrics.Metric.ID)
}

func runScore(_ context.Context, x *step.IO, c scoreConfig) error {
	list, _ := metrics.ParseAll(c.Measures...) // checked
	judged, err := inout.Read(x, c.Qrels, "", trec.ReadQrels)
	if err != nil {
		return err
	}
	how := metrics.Scoring{Metrics: list, Mode: metrics.Mode(c.Mode), Missing: metrics.Missing(c.Missing)}
	if how.Own, err = c.own(x, c.Queries, ""); err != nil {
		return err
	}
	s, err := inout.Read(x, c.Run, "", func(run io.Reader) (*metrics.Scores, error) { return how.Score(trec.Rankings(run), judged) })
	if err != nil {
		return err
	}
	report := scoreReport{
		Percent: map[string]float64{}, Measures: map[string]string{}, Queries: len(s.Rows),
		MissingQueries: s.MissingQueries, Missing: c.Missing, UnjudgedQueries: s.UnjudgedQueries, IrrelevantQueries: s.IrrelevantQueries,
		Mode: c.Mode, Rows: s.Ranked, Identical: s.Own,
	}
	for i, m := range list {
		report.Percent[m.ID()], report.Measures[m.ID()] = metrics.Percent(s.Mean[i]), m.String()
	}
	if report.Groups, err = c.groups(x, list, s); err != nil {
		return err
	}
	inout.Count(x, map[string]int{"queries": len(s.Rows), "missing_queries": s.MissingQueries,
		"unjudged_queries": s.UnjudgedQueries})
	table := queryTable{Metrics: list, Rows: s.Rows}
	return inout.WriteAll(x, map[string]func(io.Writer) error{"queries": table.write, "report": inout.JSON(report)})
}

// groups scores the queries of each group; nil without groups.
func (c scoreConfig) groups(x *step.IO, list []metrics.Metric, s *metrics.Scores) (map[string]groupScore, error) {
	if len(c.Groups) == 0 {
		return nil, nil
	}
	members, some, err := c.members(x)
	if err != nil {
		return nil, err
	}
	scores, any := map[string]groupScore{}, false
	for name, queries := range members {
		in := lists.Set(queries)
		mean, n := s.MeanOf(func(query string) bool { return in[query] })
		g := groupScore{Percent: map[string]float64{}, Queries: n}
		for i, v := range mean {
			g.Percent[list[i].ID()] = metrics.Percent(v)
		}
		scores[name], any = g, any || n > 0
	}
	if !any {
		return nil, step.Permanent(fmt.Errorf("no query of groups is scored: groups has %.80q, the scores %.80q; where it has the collection's names, give queries", some, s.Rows[0].Query))
	}
	return scores, nil
}

// members returns the queries of each group, and some query as the file names it.
func (c scoreConfig) members(x *step.IO) (members map[string][]string, some string, err error) {
	n, err := collectionNames(x, step.Input{}, c.Queries, "")
	if err != nil {
		return nil, "", err
	}
	files, err := inout.ChosenFiles(x, c.Groups, "groups", "", "*")
	if err != nil {
		return nil, "", err
	}
	members = map[string][]string{}
	for _, f := range files {
		err := inout.EachLine(x, f, func(at int, line []byte) (bool, error) {
			query, group, ok := strings.Cut(strings.TrimRight(string(line), "\r"), "\t")
			if !ok || group == "" || query == "" {
				return false, step.Permanent(fmt.Errorf("groups: %s: line %d: %.80q; want a query, a tab and a group", f.Name, at, line))
			}
			some = query
			number := query
			if n.queries != nil {
				if number, ok = n.queries[query]; !ok || n.ambiguous[query] {
					return false, step.Permanent(fmt.Errorf("groups: %s: line %d: the collection has no query, or several, named %.80q", f.Name, at, query))
				}
			}
			members[group] = append(members[group], number)
			return true, nil
		})
		if err != nil {
			return nil, "", err
		}
	}
	if len(members) == 0 {
		return nil, "", step.Permanent(errors.New("groups has no line: want a query, a tab and a group on each"))
	}
	return members, some, nil
}

// queryTable is the values of queries, in files TSV with the header "query" and the metrics' names.
type queryTable struct {
	Metrics []metrics.Metric
	Rows    []metrics.QueryScore
}

// write writes the table, values as fractions in the fewest digits that read back the same.
func (t *queryTable) write(to io.Writer) error {
	w := bufio.NewWriter(to)
	line := []byte("query")
	for _, m := range t.Metrics {
		line = append(append(line, '\t'), m.String()...)
	}
	w.Write(append(line, '\n'))
	for _, row := range t.Rows {
		line = append(line[:0], trec.EncodeName(row.Query)...)
		for _, v := range row.Scores {
			line = strconv.AppendFloat(append(line, '\t'), v, 'g', -1, 64)
		}
		w.Write(append(line, '\n'))
	}
	return w.Flush()
}

// readQueryTable reads a table of write's, or of another program. Errors name the line.
func readQueryTable(r io.Reader) (*queryTable, error) {
	lines := unpack.NewLines(r)
	t := &queryTable{}
	seen := map[string]int{}
	err := lines.Each(func(line []byte) error {
		fields := bytes.Split(bytes.TrimSuffix(line, []byte("\r")), []byte("\t"))
		if lines.Number() == 1 {
			return t.head(fields)
		}
		return t.row(fields, seen, lines.Number())
	})
	if err != nil {
		return nil, fmt.Errorf("scores: %w", err)
	}
	if len(t.Rows) == 0 {
		return nil, fmt.Errorf("scores: they have no query")
	}
	return t, nil
}

func (t *queryTable) head(fields [][]byte) error {
	if string(fields[0]) != "query" || len(fields) < 2 {
		return fmt.Errorf("want \"query\" and names of measures, with tabs between them")
	}
	for _, f := range fields[1:] {
		m, err := metrics.Parse(string(f))
		if err != nil {
			return err
		}
		if slices.Contains(t.Metrics, m) {
			return fmt.Errorf("%s occurs twice", m)
		}
		t.Metrics = append(t.Metrics, m)
	}
	return nil
}

func (t *queryTable) row(fields [][]byte, seen map[string]int, n int) error {
	if len(fields) != len(t.Metrics)+1 {
		return fmt.Errorf("%d fields, want %d: a query and its values", len(fields), len(t.Metrics)+1)
	}
	query, err := trec.DecodeName(string(fields[0]))
	if err != nil {
		return err
	}
	if at, ok := seen[query]; ok {
		return fmt.Errorf("query %.80q is on line %d already", query, at)
	}
	seen[query] = n
	row := metrics.QueryScore{Query: query}
	for _, f := range fields[1:] {
		v, err := values.Float(string(f))
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value %.20q is not a number", f)
		}
		row.Scores = append(row.Scores, v)
	}
	t.Rows = append(t.Rows, row)
	return nil
}
