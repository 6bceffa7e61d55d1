package kinds_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

const agreePipeline = `
step "download" "f" { urls = ["a.run", "b.run", "q.qrels"] }
step "import_run" "f" {
  for_each = toset(["a", "b"])
  files    = step.download.f.files
  file     = "${each.key}.run"
}
step "import_qrels" "f" {
  files = step.download.f.files
  file  = "q.qrels"
}
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
  %s
}
`

// TestAgree by hand: of q1 the first two change places, q2 has one document and another one.
func TestAgree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.run", "q1 Q0 x 1 3 t\nq1 Q0 y 2 2 t\nq1 Q0 z 3 1 t\nq2 Q0 x 1 1 t\nq3 Q0 x 1 1 t\n")
	write(t, dir, "b.run", "q1 Q0 y 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 z 3 1 t\nq2 Q0 y 1 1 t\nq4 Q0 x 1 1 t\n")
	write(t, dir, "q.qrels", "q1 0 x 1\nq2 0 x 1\n")
	l := newLocal(t)
	out := l.outputs(ownPipeline(t, dir, fmt.Sprintf(agreePipeline, "p = 0.5")), nil)
	var r struct {
		Tau, RBO      *float64
		Overlap, RMSE map[string]float64
		Queries, Same int
		TauQueries    int `json:"tau_queries"`
		OnlyA         int `json:"only_a"`
		OnlyB         int `json:"only_b"`
	}
	l.json(out["step.agree.f.report"], &r)
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("tau", *r.Tau, 1./3)
	near("RBO", *r.RBO, 0.5*(0.5*0+0.25*1+0.125*1))
	near("overlap", r.Overlap["2"], 0.5)
	near("RMSE of MRR", r.RMSE["mrr"], math.Sqrt((0.25+1)/2))
	near("RMSE of P", r.RMSE["p_2"], math.Sqrt(0.25/2))
	if r.Queries != 2 || r.Same != 0 || r.TauQueries != 1 || r.OnlyA != 1 || r.OnlyB != 1 {
		t.Errorf("%+v", r)
	}
	text := string(l.bytes(out["step.agree.f.queries"]))
	if !strings.HasPrefix(text, "query\ttau\trbo\trbo_ext\trbo_normalized\toverlap_2\nq1\t0.333") || !strings.HasSuffix(text, "\nq2\t\t0\t0\t0\t0\n") {
		t.Errorf("queries %q", text)
	}
	write(t, dir, "b.run", "q5 Q0 x 1 1 t\n")
	newLocal(t).fails(ownPipeline(t, dir, strings.NewReplacer(`step.score.f["b"]`, `step.score.f["a"]`, `for_each = toset(["a", "b"])
  run `, `for_each = toset(["a"])
  run `).Replace(fmt.Sprintf(agreePipeline, ""))), "the runs have no query in common")
}
