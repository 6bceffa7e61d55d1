package kinds_test

import (
	"math"
	"strings"
	"testing"
)

const fusePipeline = `
step "download" "f" { urls = ["a.run", "b.run", "q.qrels", "groups.tsv"] }
step "import_run" "f" {
  for_each = toset(["a", "b"])
  files    = step.download.f.files
  file     = "${each.key}.run"
}
step "import_qrels" "f" {
  files = step.download.f.files
  file  = "q.qrels"
}
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
`

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
		if strings.Join(got, " ") != order {
			t.Errorf("%s: %v, want %s", options, got, order)
		}
		var report struct {
			Rankings         map[string]int
			Queries, Partial int
		}
		l.json(out["step.fuse.f.report"], &report)
		if report.Queries != 2 || report.Partial != 1 || report.Rankings["a"] != 2 || report.Rankings["b"] != 1 {
			t.Errorf("%+v", report)
		}
		var score struct {
			Percent map[string]float64
			Groups  map[string]struct {
				Percent map[string]float64
				Queries int
			}
		}
		l.json(out["step.score.f.report"], &score)
		easy, hard, all, none := score.Groups["easy"], score.Groups["hard"], score.Groups["all"], score.Groups["none"]
		if easy.Queries != 1 || all.Queries != 2 || none.Queries != 0 || hard.Percent["mrr"] != 0 || all.Percent["rbp_p0_5"] != score.Percent["rbp_p0_5"] {
			t.Errorf("%+v", score)
		}
		if order[0] == 'y' && (easy.Percent["mrr"] != 100 || math.Abs(easy.Percent["err_5"]-100./16) > 1e-12 || easy.Percent["rbp_p0_5"] != 50 || easy.Percent["iprec_0_5"] != 100) {
			t.Errorf("%+v", easy)
		}
	}
	for options, want := range map[string]string{"weights = { c = 1 }": `"c" is none of runs`, `normalize = "max"`: `is for method = "weighted"`} {
		refused(t, strings.Replace(fusePipeline, "OPTIONS", options, 1), want)
	}
	write(t, dir, "groups.tsv", "9\teasy\n")
	l.fails(ownPipeline(t, dir, strings.Replace(fusePipeline, "OPTIONS", "", 1)), `no query of groups is scored: groups has "9", the scores "q1"; where it has the collection's names, give queries`)
	write(t, dir, "groups.tsv", "q1 easy\n")
	l.fails(ownPipeline(t, dir, strings.Replace(fusePipeline, "OPTIONS", "", 1)), `groups.tsv: line 1: "q1 easy"; want a query, a tab and a group`)
}
