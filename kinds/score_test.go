package kinds_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// ownPipeline writes a pipeline file that reads files beside it.
func ownPipeline(t *testing.T, dir, text string) string {
	t.Helper()
	return write(t, dir, "pipelines.hcl", text)
}

// fails runs a pipeline of which a step must fail.
func (l *local) fails(file, want string) {
	l.t.Helper()
	testkit.ErrSays(l.t, testkit.Err(l.try(l.plan(file, nil))), want)
}

const scorePipeline = `
step "download" "run" { urls = ["%[1]s/graded.run"] }
step "download" "qrels" { urls = ["%[1]s/graded.qrels"] }
step "import_run" "g" {
  for_each = toset(["rank", "trec_eval"])
  files    = step.download.run.files
  order    = each.key
}
step "import_qrels" "g" { files = step.download.qrels.files }
step "score" "g" {
  for_each = toset(["rank", "trec_eval"])
  run      = step.import_run.g[each.key].run
  qrels    = step.import_qrels.g.qrels
  measures = ["ndcg_cut_10", "map", "P_10", "bpref", "Rprec", "success_1", "AP(rel=2)"]
  missing  = "leave_out"
}
`

// TestScoreImported: an imported run is worth what trec_eval says of the file.
func TestScoreImported(t *testing.T) {
	golden := testdata(t, "ranking", "metrics", "testdata")
	l := newLocal(t)
	out := l.outputs(ownPipeline(t, t.TempDir(), fmt.Sprintf(scorePipeline, golden)), nil)
	var want struct {
		Rank     map[string]map[string]float64
		TrecEval map[string]map[string]float64 `json:"trec_eval"`
	}
	goldens.JSON(t, filepath.Join(golden, "graded.json"), &want)
	for order, values := range map[string]map[string]map[string]float64{"rank": want.Rank, "trec_eval": want.TrecEval} {
		var report struct{ Percent map[string]float64 }
		l.json(out[`step.score.g["`+order+`"].report`], &report)
		for id, name := range map[string]string{"ndcg_10": "ndcg_cut_10", "ap": "map", "p_10": "P_10", "bpref": "bpref", "rprec": "Rprec", "hits_1": "success_1", "ap_rel2": "AP(rel=2)"} {
			mean := 0.0
			for _, v := range values {
				mean += 100 * v[name] / float64(len(values))
			}
			if math.Abs(report.Percent[id]-mean) > 1e-9 {
				t.Errorf("%s: %s is %v, want %v", order, id, report.Percent[id], mean)
			}
		}
		l.says(out[`step.score.g["`+order+`"].report`], map[string]any{"queries": float64(len(values)), "missing_queries": 3., "unjudged_queries": 4.,
			"missing": "leave_out", "measures.ap_rel2": "AP(rel=2)"})
		var imported struct {
			TiedRows int `json:"tied_rows"`
		}
		l.says(out[`step.import_run.g["`+order+`"].report`], map[string]any{"format": "trec", "queries": 147.})
		if l.json(out[`step.import_run.g["`+order+`"].report`], &imported); imported.TiedRows == 0 {
			t.Error("no rows are tied")
		}
	}
}

const fusePipeline = `
locals { runs = ["a", "b"] }
step "fuse" "f" {
  runs = { a = step.import_run.f["a"].run, b = step.import_run.f["b"].run }
  OPTIONS
}
step "download" "groups" { urls = ["groups.tsv"] }
step "score" "f" {
  run      = step.fuse.f.run
  qrels    = step.import_qrels.f.qrels
  measures = ["RR", "RBP(p=0.5)", "ERR@5", "IPrec@0.5"]
  groups   = [step.download.groups.files]
}
` + importedRuns

// TestFuse by hand: two systems, one of which lacks a query, joined by ranks and by weighted scores, and scored by
// groups of queries.
func TestFuse(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.run", "q1 Q0 x 1 4 t\nq1 Q0 y 2 2 t\nq1 Q0 z 3 0 t\nq2 Q0 x 1 1 t\n")
	write(t, dir, "b.run", "q1 Q0 y 1 9 t\nq1 Q0 z 2 8 t\nq1 Q0 w 3 7 t\n")
	write(t, dir, "q.qrels", "q1 0 y 1\nq2 0 w 1\n")
	write(t, dir, "groups.tsv", "q1\teasy\nq2\thard\nq1\tall\nq2\tall\nq3\tnone\n")
	l := newLocal(t)
	for options, order := range map[string]string{
		"k = 1":                  "y z x w", // y 1/3 + 1/2, z 1/4 + 1/3, x 1/2, w 1/4
		`method = "weighted"`:    "y x z w", // y 1/2 + 1, x 1, z 0 + 1/2, w 0
		`weights = { b = 0.01 }`: "x y z w",
		`method = "weighted"
		 normalize = "none"
		 depth = 2`: "y z",
	} {
		out := l.outputs(ownPipeline(t, dir, strings.Replace(fusePipeline, "OPTIONS", options, 1)), nil)
		var got []string
		for line := range strings.Lines(string(l.bytes(out["step.fuse.f.run"]))) {
			if f := strings.Fields(line); f[0] == "q1" {
				got = append(got, f[2])
			}
		}
		testkit.Is(t, strings.Join(got, " "), order, options, got)
		l.says(out["step.fuse.f.report"], map[string]any{"queries": 2., "partial": 1., "rankings.a": 2., "rankings.b": 1.})
		var score struct{ Percent map[string]float64 }
		l.json(out["step.score.f.report"], &score)
		l.says(out["step.score.f.report"], map[string]any{"groups.easy.queries": 1., "groups.all.queries": 2., "groups.none.queries": 0.,
			"groups.hard.percent.mrr": 0., "groups.all.percent.rbp_p0_5": score.Percent["rbp_p0_5"]})
		if order[0] == 'y' {
			l.says(out["step.score.f.report"], map[string]any{"groups.easy.percent.mrr": 100., "groups.easy.percent.err_5": 100. / 16,
				"groups.easy.percent.rbp_p0_5": 50., "groups.easy.percent.iprec_0_5": 100.})
		}
	}
	for options, want := range map[string]string{"weights = { c = 1 }": `"c" is not one of runs`, `normalize = "max"`: `is for method = "weighted"`} {
		refused(t, strings.Replace(fusePipeline, "OPTIONS", options, 1), want)
	}
	write(t, dir, "groups.tsv", "9\teasy\n")
	l.fails(ownPipeline(t, dir, strings.Replace(fusePipeline, "OPTIONS", "", 1)), `no query of groups is scored: groups has "9", the scores "q1"; where it has the collection's names, give queries`)
	write(t, dir, "groups.tsv.gz", "q1 easy\n")
	compressed := strings.NewReplacer("OPTIONS", "", "groups.tsv", "groups.tsv.gz").Replace(fusePipeline)
	l.fails(ownPipeline(t, dir, compressed), `groups.tsv.gz: line 1: "q1 easy"; want a query, a tab and a group`)
}

// importedRuns are step.import_run.f of local.runs, and step.import_qrels.f.
const importedRuns = `
step "download" "f" { urls = concat([for r in local.runs : "${r}.run"], ["q.qrels"]) }
step "import_run" "f" {
  for_each = toset(local.runs)
  files    = step.download.f.files
  file     = "${each.key}.run"
}
step "import_qrels" "f" {
  files = step.download.f.files
  file  = "q.qrels"
}
`

const agreePipeline = `
locals { runs = ["a", "b"] }
step "score" "f" {
  for_each = toset(["a", "b"])
  run      = step.import_run.f[each.key].run
  qrels    = step.import_qrels.f.qrels
  measures = ["RR", "P@2"]
}
step "agree" "f" {
  a        = step.import_run.f["a"].run
  b        = step.import_run.f["b"].run
  scores_a = step.score.f["a"].queries
  scores_b = step.score.f["b"].queries
  overlap  = [2]
  p        = 0.5
}
` + importedRuns

// TestAgree by hand: of q1 the first two change places, q2 has one document and another one.
func TestAgree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.run", "q1 Q0 x 1 3 t\nq1 Q0 y 2 2 t\nq1 Q0 z 3 1 t\nq2 Q0 x 1 1 t\nq3 Q0 x 1 1 t\n")
	write(t, dir, "b.run", "q1 Q0 y 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 z 3 1 t\nq2 Q0 y 1 1 t\nq4 Q0 x 1 1 t\n")
	write(t, dir, "q.qrels", "q1 0 x 1\nq2 0 x 1\n")
	l := newLocal(t)
	out := l.outputs(ownPipeline(t, dir, agreePipeline), nil)
	l.says(out["step.agree.f.report"], map[string]any{"tau": 1. / 3, "rbo": 0.5 * (0.5*0 + 0.25*1 + 0.125*1), "overlap.2": 0.5,
		"rmse.mrr": math.Sqrt((0.25 + 1) / 2), "rmse.p_2": math.Sqrt(0.25 / 2), "queries": 2., "same": 0., "tau_queries": 1., "only_a": 1., "only_b": 1.})
	text := string(l.bytes(out["step.agree.f.queries"]))
	if !strings.HasPrefix(text, "query\ttau\trbo\trbo_ext\trbo_normalized\toverlap_2\nq1\t0.333") || !strings.HasSuffix(text, "\nq2\t\t0\t0\t0\t0\n") {
		t.Errorf("queries %q", text)
	}
	write(t, dir, "b.run", "q5 Q0 x 1 1 t\n")
	newLocal(t).fails(ownPipeline(t, dir, strings.NewReplacer(`step.score.f["b"]`, `step.score.f["a"]`, `toset(["a", "b"])
  run `, `toset(["a"])
  run `).Replace(agreePipeline)), "the runs have no query in common")
}
