package kinds_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/errtest"
)

// ownPipeline writes a pipeline file that reads files beside it.
func ownPipeline(t *testing.T, dir, text string) string {
	t.Helper()
	return write(t, dir, "pipelines.hcl", text)
}

// fails runs a pipeline of which a step must fail.
func (l *local) fails(file, want string) {
	l.t.Helper()
	errtest.Says(l.t, errtest.Of(l.try(l.plan(file, nil))), want)
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
		var report struct {
			Percent           map[string]float64
			Queries           int
			MissingQueries    int `json:"missing_queries"`
			UnjudgedQueries   int `json:"unjudged_queries"`
			Measures          map[string]string
			Missing, Mode     string
			IrrelevantQueries int
		}
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
		if report.Queries != len(values) || report.MissingQueries != 3 || report.UnjudgedQueries != 4 || report.Missing != "leave_out" || report.Measures["ap_rel2"] != "AP(rel=2)" {
			t.Errorf("%+v", report)
		}
		var imported struct {
			Rows, Queries int
			Format        string
			TiedRows      int `json:"tied_rows"`
		}
		l.json(out[`step.import_run.g["`+order+`"].report`], &imported)
		if imported.Format != "trec" || imported.Queries != 147 || imported.TiedRows == 0 {
			t.Errorf("%+v", imported)
		}
	}
}

// TestImportFormats: one ranking and its judgments in every format are the same artifact,
// and names are the collection's.
func TestImportFormats(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"run.trec":   "q2 Q0 d1 1 3 x\r\nq1 Q0 d2 1 2.5 x\nq1 Q0 d1 2 1 x\n",
		"run.json":   "{\"q2\": {\"d1\": 3},\n \"q1\": {\"d1\": 1, \"d2\": 2.5}}\n",
		"run.tsv":    "q2\td1\t1\n\nq1\td2\t1\nq1\td1\t2\n",
		"near.run":   "q Q0 a 1 70.000000002 x\nq Q0 b 2 70.000000001 x\n",
		"a.qrels":    "q1 0 d1 1\n",
		"b.qrels":    `{"q2": {"d1": 2}}`,
		"c.qrels":    "q3 0 d1 1\n",
		"qrels.trec": "q2 0 d1 2\nq1 0 d1 0\nq1 0 d2 -1\n",
		"qrels.tsv":  "query-id\tcorpus-id\tscore\nq2\td1\t2\nq1\td1\t0\nq1\td2\t-1\n",
		"qrels.json": `{"q2": {"d1": 2}, "q1": {"d1": 0, "d2": -1}}`,
	}
	for name, text := range files {
		write(t, dir, name, text)
	}
	l := newLocal(t)
	out := l.outputs(ownPipeline(t, dir, `
step "download" "f" { urls = ["run.trec", "run.json", "run.tsv", "qrels.trec", "qrels.tsv", "qrels.json"] }
step "import_run" "f" {
  for_each = toset(["trec", "json", "tsv"])
  files    = step.download.f.files
  file     = "run.${each.key}"
}
step "import_qrels" "f" {
  for_each = toset(["trec", "json", "tsv"])
  files    = step.download.f.files
  file     = "qrels.${each.key}"
}
step "download" "near" { urls = ["near.run"] }
step "import_run" "near" {
  for_each = toset(["trec_eval", "trec_eval_10"])
  files    = step.download.near.files
  order    = each.key
}
step "download" "mixed" { urls = ["a.qrels", "b.qrels", "c.qrels"] }
step "import_qrels" "mixed" { files = step.download.mixed.files }
`), nil)
	if got, want := string(l.bytes(out[`step.import_run.f["trec"].run`])), "q2 Q0 d1 1 3 redsi\nq1 Q0 d2 1 2.5 redsi\nq1 Q0 d1 2 1 redsi\n"; got != want {
		t.Errorf("run %q, want %q", got, want)
	}
	if got, want := string(l.bytes(out[`step.import_run.f["tsv"].run`])), "q2 Q0 d1 1 -1 redsi\nq1 Q0 d2 1 -1 redsi\nq1 Q0 d1 2 -2 redsi\n"; got != want {
		t.Errorf("run %q, want %q", got, want)
	}
	for order, want := range map[string]string{"trec_eval": "q Q0 b 1 ", "trec_eval_10": "q Q0 a 1 "} {
		if got := string(l.bytes(out[`step.import_run.near["`+order+`"].run`])); !strings.HasPrefix(got, want) {
			t.Errorf("%s: run %q, want %q first", order, got, want)
		}
	}
	same := func(a, b artifacts.Artifact) bool { return a.Digest == b.Digest }
	if !same(out[`step.import_run.f["trec"].run`], out[`step.import_run.f["json"].run`]) {
		t.Errorf("JSON gives another run than TREC")
	}
	var mixed struct{ Format string }
	if l.json(out["step.import_qrels.mixed.report"], &mixed); mixed.Format != "trec, json" {
		t.Errorf("files of two formats are reported as %q", mixed.Format)
	}
	for _, f := range []string{"json", "tsv"} {
		if !same(out[`step.import_qrels.f["trec"].qrels`], out[`step.import_qrels.f["`+f+`"].qrels`]) {
			t.Errorf("%s gives other qrels than TREC:\n%s", f, l.bytes(out[`step.import_qrels.f["`+f+`"].qrels`]))
		}
	}
}

// TestImportErrors: errors about imported files name file and line.
func TestImportErrors(t *testing.T) {
	for _, c := range []struct{ kind, name, text, more, want string }{
		{"import_run", "a.run", "q Q0 d 1 1 t\nq Q0 d 2 0 t\n", "", `query "q" has document "d" on lines 1 and 2; duplicates = "first"`},
		{"import_run", "a.run", "q Q0 d 1 1 t\nq Q0 e 2\n", "", "a.run: line 2: 4 fields, want 6"},
		{"import_run", "a.run", "q Q0 d 1 high t\n", "", `a.run: line 1: score "high" is not a number`},
		{"import_run", "a.run", "q\td\t0\n", "", `a.run: line 1: rank "0" is not a whole number from 1 on`},
		{"import_run", "a.run", "one two\n", "", `a.run: line 1: "one two" is not in a format that redsi knows: trec, msmarco, json`},
		{"import_run", "a.run", "{\"q\":\n{\"d\": \"x\"}}", "", `a.run: line 2: query "q", document "d": "x" is not a number`},
		{"import_run", "a.run", "{\"q\":\n{\"d\": 1}", "", "a.run: line 2: unexpected EOF"},
		{"import_run", "a.run", "{\"q\": 3}", "", `query "q" does not have {document: number}`},
		{"import_run", "a.run", "\n\n", "", "no line of 1 files was used"},
		{"import_run", "a.run", "# c\nq Q0 d 1 1 t\n#2 Q0 d 1 1 t\n", "", `a.run: line 3: query "#2" begins with #: trec_eval 10 takes its lines for comments, trec_eval 9 for rows`},
		{"import_run", "a.run", "# q Q0 d 1 1 t\n", "", "no line of 1 files was used"},
		{"import_run", "a.run", "q Q0 d 1 1 t\n", `file = "b.run"`, `no file is named "b.run"; there are ["a.run"]`},
		{"import_qrels", "a.qrels", "q 0 d 1\nq 0 d 2\n", "", "a.qrels: line 2: query \"q\" and document \"d\" are judged twice"},
		{"import_qrels", "a.qrels", "q 0 d 1.5\n", "", `a.qrels: line 1: grade "1.5" is not a whole number`},
		{"import_qrels", "a.qrels", "query-id\tcorpus-id\tscore\nq\td\n", "", "a.qrels: line 2: 2 fields, want 3: query, document and grade"},
	} {
		dir := t.TempDir()
		write(t, dir, c.name, c.text)
		newLocal(t).fails(ownPipeline(t, dir, fmt.Sprintf("step \"download\" \"f\" { urls = [%q] }\nstep %q \"f\" {\n  files = step.download.f.files\n  %s\n}\n", c.name, c.kind, c.more)), c.want)
	}
}
