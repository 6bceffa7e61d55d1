package metrics

import (
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestScoreAgainstTrecEval: every measure of every query is what trec_eval, ir_measures and
// ranx say of the file's ranks (tools/golden/scores.py).
func TestScoreAgainstTrecEval(t *testing.T) {
	var g struct {
		Rank                          map[string]map[string]float64
		Missing, Unjudged, Irrelevant []string
	}
	goldens.JSON(t, "testdata/graded.json", &g)
	judged, run := goldens.Read(t, "testdata/graded.qrels", trec.ReadQrels), string(goldens.Text(t, "testdata/graded.run"))
	s := Scoring{Mode: Raw, Missing: MissingZero}
	index := map[Metric]int{}
	for _, values := range g.Rank {
		for name := range values {
			m := testkit.Value(Parse(name))(t)
			if _, ok := index[m]; !ok {
				index[m] = len(s.Metrics)
				s.Metrics = append(s.Metrics, m)
			}
		}
	}
	got := testkit.Value(s.Score(trec.Rankings(strings.NewReader(run)), judged))(t)
	compared := 0
	for _, row := range got.Rows {
		for name, w := range g.Rank[row.Query] {
			m := testkit.Value(Parse(name))(t)
			if v := row.Scores[index[m]]; math.Abs(v-w) > digits(m) {
				t.Errorf("%s of %s is %v, want %v", name, row.Query, v, w)
			}
			compared++
		}
	}
	if compared < 5000 || len(s.Metrics) < 35 {
		t.Errorf("%d values of %d measures were compared", compared, len(s.Metrics))
	}
	if got.MissingQueries != len(g.Missing) || got.UnjudgedQueries != len(g.Unjudged) || got.IrrelevantQueries != len(g.Irrelevant) || got.Ranked != strings.Count(run, "\n") {
		t.Errorf("%+v", got)
	}
}

// digits is how near a value must be: gdeval, which ERR is of, writes five decimals.
func digits(m Metric) float64 {
	if m.family.name == "ERR" {
		return 5.1e-6
	}
	return 1e-12
}

// TestERRKnowsGrades: a grade for which it has no probability is refused, with the measures that know it.
func TestERRKnowsGrades(t *testing.T) {
	var judged trec.Judgments
	testkit.None(t, judged.Judge("a", "d", 5))
	ms := testkit.Value(ParseAll("nDCG@10", "ERR@10"))(t)
	_, err := Scoring{Metrics: ms}.Score(trec.Rankings(strings.NewReader("a Q0 d 1 1 t\n")), &judged)
	testkit.ErrSays(t, err, `query "a" has a judgment of grade 5, and ERR@10 is of grades to 4`)
}

func TestMissingQueries(t *testing.T) {
	var judged trec.Judgments
	for _, q := range []string{"a", "b", "c"} {
		testkit.None(t, judged.Judge(q, "d", 1))
	}
	const run = "a Q0 d 1 1 t\nx Q0 d 1 1 t\n"
	score := func(missing Missing, run string) (*Scores, error) {
		return Scoring{Metrics: papers()[:1], Mode: Raw, Missing: missing}.Score(trec.Rankings(strings.NewReader(run)), &judged)
	}
	for missing, want := range map[Missing]float64{MissingZero: 1. / 3, MissingLeaveOut: 1} {
		s, err := score(missing, run)
		if err != nil || s.Mean[0] != want || s.MissingQueries != 2 || s.UnjudgedQueries != 1 {
			t.Errorf("%s: %+v, %v", missing, s, err)
		}
	}
	for _, c := range []struct {
		missing   Missing
		run, want string
	}{
		{MissingFail, run, `2 of 3 judged queries have no ranking: "b", "c"`},
		{MissingZero, "x Q0 d 1 1 t\n", `no query of the run is judged: the run has "x", the judgments "a"`},
		{MissingZero, "", "the run has no line"},
		{MissingZero, "a Q0 d 1 1 t\nb Q0 d 1 1 t\na Q0 e 2 0 t\n", `run: line 3: query "a" began on line 1`},
	} {
		testkit.ErrSays(t, testkit.Err(score(c.missing, c.run)), c.want)
	}
	testkit.ErrSays(t, testkit.Err((Scoring{Metrics: papers()[:1]}).Score(trec.Rankings(strings.NewReader(run)), new(trec.Judgments))), "no query is judged")
}

func TestParseNames(t *testing.T) {
	for name, want := range map[string][2]string{
		"Success@5":               {"Hits@5", "hits_5"},
		"RR":                      {"MRR", "mrr"},
		"recip_rank":              {"MRR", "mrr"},
		"R@100":                   {"Recall@100", "recall_100"},
		"recall_100":              {"Recall@100", "recall_100"},
		"nDCG@10":                 {"nDCG@10", "ndcg_10"},
		"ndcg_cut_10":             {"nDCG@10", "ndcg_10"},
		"nDCG(dcg='exp-log2')@10": {"nDCG(dcg='exp-log2')@10", "ndcg_exp_10"},
		"nDCG(dcg='log2')":        {"nDCG", "ndcg"},
		"AP(rel=2)@100":           {"AP(rel=2)@100", "ap_rel2_100"},
		"AP(rel=1)":               {"AP", "ap"},
		"map_cut_1000":            {"AP@1000", "ap_1000"},
		"P_10":                    {"P@10", "p_10"},
		"Rprec":                   {"Rprec", "rprec"},
		"Judged@10":               {"Judged@10", "judged_10"},
		"Bpref(rel=2)":            {"Bpref(rel=2)", "bpref_rel2"},
		`NDCG(dcg="exp-log2")@5`:  {"nDCG(dcg='exp-log2')@5", "ndcg_exp_5"},
		"success_1":               {"Hits@1", "hits_1"},
		"RBP":                     {"RBP", "rbp"},
		"RBP(p=0.8)@10":           {"RBP@10", "rbp_10"},
		"RBP(rel=2, p=0.95)":      {"RBP(p=0.95,rel=2)", "rbp_p0_95_rel2"},
		"IPrec@0.10":              {"IPrec@0.1", "iprec_0_1"},
		"iprec_at_recall_1.00":    {"IPrec@1", "iprec_1"},
		"ERR@20":                  {"ERR@20", "err_20"},
		"Invalid@40":              {"Invalid@40", "invalid_40"},

		"nDCG(judged_only=True)@10":    {"nDCG(judged_only=True)@10", "ndcg_judged_10"},
		"AP(rel=2,judged_only=True)":   {"AP(rel=2,judged_only=True)", "ap_rel2_judged"},
		"P(judged_only=False)@5":       {"P@5", "p_5"},
		"IPrec(judged_only=True)@0.25": {"IPrec(judged_only=True)@0.25", "iprec_judged_0_25"},
	} {
		m, err := Parse(name)
		testkit.That(t, err == nil && m.String() == want[0] && m.ID() == want[1], "Parse", name, m, m.ID(), err)
		testkit.Of(t, m)(Parse(m.String()))
	}
	for name, want := range map[string]string{
		"AP(rel=0)":        "rel is the least grade",
		"AP(dcg=log2)":     "AP takes rel and judged_only, not \"dcg\"",
		"nDCG(rel=2)@10":   "nDCG takes dcg and judged_only, not \"rel\"",
		"nDCG(dcg='x')@10": "dcg is 'log2' or 'exp-log2'",
		"Judged(rel=2)@1":  "Judged takes no option",
		"AP(rel=2@10":      "options stand in parentheses",
	} {
		testkit.ErrSays(t, testkit.Err(Parse(name)), want)
	}
	for _, name := range []string{"", "Hits", "Hits@", "Hits@0", "Hits@-1", "Hits@01", "Hits@1.5", "hits@1", "MRR@10@2", "AP@0", "Rprec@3", "P", "success", "map_5", "ndcg_10", "recip_rank_5", "P_0", "ndcg_cut", "XRR@10"} {
		testkit.ErrSays(t, testkit.Err(Parse(name)), "Hits@k, MRR, MRR@k, nDCG")
	}
}
