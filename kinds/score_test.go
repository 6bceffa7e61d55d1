package kinds_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
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
	writeAll(t, dir, files)
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
	l.says(out["step.import_qrels.mixed.report"], map[string]any{"format": "trec, json"})
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

const tiedPipeline = `
step "download" "f" { urls = ["%[1]s/tied.run", "%[1]s/tied.qrels"] }
step "import_run" "f" {
  files = step.download.f.files
  file  = "tied.run"
  order = "rank"
}
step "import_qrels" "f" {
  files = step.download.f.files
  file  = "*.qrels"
}
step "score" "f" {
  run      = step.import_run.f.run
  qrels    = step.import_qrels.f.qrels
  measures = ["map", "ndcg_cut_10", "P_5", "recip_rank", "success_1"]
}
step "export_run" "f" {
  runs      = { tied = step.import_run.f.run }
  qrels     = step.import_qrels.f.qrels
  metadata  = true
  primad    = jsonencode({ actor = { name = "Jane \"J\" Doe", role = "experimenter", fields = ["ir", "nlp"] }, data = { "test collection" = { name = "Tied: 1", ir_datasets = "none" } } })
  primad_of = { tied = "method:\n  automatic: true\n  retrieval:\n  - {name: tied, b: 0.4, k1: 0.9}\n" }
}
`

// TestExportTies: trec_eval's numbers for the exported file are ours, where they are others
// for the run as it was; repro_eval reads the header. tools/golden/ties.py wrote the golden.
func TestExportTies(t *testing.T) {
	golden, err := filepath.Abs("testdata")
	errtest.None(t, err)
	l := newLocal(t)
	out := l.outputs(ownPipeline(t, t.TempDir(), fmt.Sprintf(tiedPipeline, golden)), nil)
	exported := l.text(fileOf(t, out["step.export_run.f.files"], "tied.run"))
	if goldens.Of(t, filepath.Join(golden, "tied.exported"), exported) != exported {
		t.Error("tied.exported is another file: -update, then tools/golden/ties.py")
	}
	if b, err := os.ReadFile(filepath.Join(golden, "tied.qrels")); err != nil || string(b) != l.text(fileOf(t, out["step.export_run.f.files"], "qrels.txt")) {
		t.Errorf("the judgments are other ones: %v", err)
	}
	var want struct {
		Exported map[string]float64
		AsItWas  map[string]float64 `json:"as_it_was"`
		Metadata map[string]any
	}
	goldens.JSON(t, filepath.Join(golden, "tied.json"), &want)
	var report struct{ Percent map[string]float64 }
	l.json(out["step.score.f.report"], &report)
	for id, name := range map[string]string{"ap": "map", "ndcg_10": "ndcg_cut_10", "p_5": "P_5", "mrr": "recip_rank", "hits_1": "success_1"} {
		if v := want.Exported[name]; math.Abs(report.Percent[id]-100*v) > 1e-9 || math.Abs(v-want.AsItWas[name]) < 0.01 {
			t.Errorf("%s is %v, trec_eval has %v, and %v for the run as it was", id, report.Percent[id], v, want.AsItWas[name])
		}
	}
	wantMetadata := map[string]any{
		"schema-version": 0.1, "run-version": 1.0, "tag": "tied", "platform": nil, "research goal": nil, "implementation": nil,
		"method": map[string]any{"automatic": true, "retrieval": []any{map[string]any{"name": "tied", "b": 0.4, "k1": 0.9}}},
		"actor":  map[string]any{"name": `Jane "J" Doe`, "role": "experimenter", "fields": []any{"ir", "nlp"}},
		"data":   map[string]any{"test collection": map[string]any{"name": "Tied: 1", "ir_datasets": "none"}},
	}
	if !reflect.DeepEqual(want.Metadata, wantMetadata) {
		t.Errorf("repro_eval reads %v\nwant %v", want.Metadata, wantMetadata)
	}
}

func fileOf(t *testing.T, a artifacts.Artifact, name string) artifacts.Digest {
	t.Helper()
	f, ok := a.File(name)
	if !ok {
		t.Fatalf("there is no file %s in %v", name, a.Files)
	}
	return f.Digest
}

const namedPipeline = `
step "import_corpus" "toy" {
  files = step.download.msmarco.files
  form  = "title_content"
  keep  = "relevant"
  empty = "drop_body"
}
`

// TestNamesOutside: what comes in under the names of a collection's documents goes out under
// them, and unknown names are said or counted.
func TestNamesOutside(t *testing.T) {
	dir := t.TempDir()
	l := newLocal(t)
	collection := l.results(ownPipeline(t, dir, msmarcoDownload(t)+namedPipeline), nil)
	var keys, queries, numbers []string
	c := l.msmarco(collection["step.import_corpus.toy"])
	for _, d := range c.documents {
		keys = append(keys, d.Key)
	}
	for _, q := range c.queries {
		if q.Split == "dev" && len(queries) < 2 {
			queries, numbers = append(queries, q.Name), append(numbers, fmt.Sprint(q.ExampleID))
		}
	}
	if len(keys) < 10 || len(queries) < 2 {
		t.Fatal(len(keys), len(queries))
	}
	run, qrels := "", ""
	for i, q := range queries {
		qrels += fmt.Sprintf("%s 0 %s %d\n", q, keys[i], i)
		for k, key := range keys[:5] {
			run += fmt.Sprintf("%s Q0 %s %d %d mine\n", q, key, k+1, 10-k)
		}
	}
	write(t, dir, "mine.run", run)
	write(t, dir, "mine.qrels", qrels)
	write(t, dir, "more.run", run+queries[0]+" Q0 nobody 9 0 mine\nnone Q0 "+keys[0]+" 1 1 mine\n")
	more := msmarcoDownload(t) + namedPipeline + `
step "download" "f" { urls = ["mine.run", "more.run", "mine.qrels"] }
step "import_run" "f" {
  files     = step.download.f.files
  file      = "%s.run"
  documents = step.import_corpus.toy.documents
  queries   = step.import_corpus.toy.queries
  split     = "dev"
  unknown   = "%s"
}
step "import_qrels" "f" {
  files     = step.download.f.files
  file      = "mine.qrels"
  documents = step.import_corpus.toy.documents
  queries   = step.import_corpus.toy.queries
}
step "export_run" "f" {
  runs      = { mine = step.import_run.f.run }
  qrels     = step.import_qrels.f.qrels
  documents = step.import_corpus.toy.documents
  queries   = step.import_corpus.toy.queries
  split     = "dev"
}
`
	for _, file := range []string{"mine", "more"} {
		out := l.outputs(ownPipeline(t, dir, fmt.Sprintf(more, file, "leave_out")), nil)
		if got := string(l.bytes(out["step.import_run.f.run"])); !strings.HasPrefix(got, numbers[0]+" Q0 0 1 10 redsi\n"+numbers[0]+" Q0 1 2 9 redsi\n") {
			t.Errorf("by number: %s", got)
		}
		if got := l.text(fileOf(t, out["step.export_run.f.files"], "mine.run")); got != run {
			t.Errorf("out comes %s\nin came %s", got, run)
		}
		if got := l.text(fileOf(t, out["step.export_run.f.files"], "qrels.txt")); got != qrels {
			t.Errorf("out comes %s\nin came %s", got, qrels)
		}
		unknown := map[string]float64{"mine": 0, "more": 1}[file]
		l.says(out["step.import_run.f.report"], map[string]any{"unknown_documents": unknown, "unknown_queries": unknown})
	}
	l.fails(ownPipeline(t, dir, fmt.Sprintf(more, "more", "fail")), `more.run: line 11: the collection has no document named "nobody"`)
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
		if strings.Join(got, " ") != order {
			t.Errorf("%s: %v, want %s", options, got, order)
		}
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
	write(t, dir, "groups.tsv", "q1 easy\n")
	l.fails(ownPipeline(t, dir, strings.Replace(fusePipeline, "OPTIONS", "", 1)), `groups.tsv: line 1: "q1 easy"; want a query, a tab and a group`)
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

// askedOfRivers is a small collection with a query of two documents, one that finds nothing,
// and train queries.
func (l *local) askedOfRivers() (corpus, queries step.Input) {
	corpus = l.corpusOf([]string{"The Rhine is a river in Europe.", "Rivers' deltas: the Nile's delta.", "Paris lies on the Seine.", "the", "Paris lies on the Seine."})
	queries = l.lines([]dedup.Query{
		{ExampleID: 1, Split: nq.Train, Question: "longest waterway of Africa", Doc: 1},
		{ExampleID: 2, Split: nq.Dev, Question: "river delta", Doc: 1, Grade: 2},
		{ExampleID: 2, Split: nq.Dev, Question: "river delta", Doc: 0},
		{ExampleID: 3, Split: nq.Dev, Question: "the of", Doc: 2},
		{ExampleID: 4, Split: nq.Dev, Question: "waterway at Paris", Doc: 4},
		{ExampleID: 5, Split: nq.Test, Question: "where is capital punishment", Doc: 4},
	})
	return corpus, queries
}

// ranked is the run of a step, by query, and its report.
func (l *local) ranked(kind string, config map[string]any) (map[string]string, map[string]any, error) {
	l.t.Helper()
	res, err := l.do(kind, config)
	if err != nil {
		return nil, nil, err
	}
	rankings, err := trec.ReadRun(bytes.NewReader(l.bytes(res.Outputs["run"])))
	errtest.None(l.t, err)
	out := map[string]string{}
	for _, r := range rankings {
		out[r.Query] = strings.Join(metrics.Documents(&r), " ")
	}
	report := map[string]any{}
	l.json(res.Outputs["report"], &report)
	return out, report, nil
}

// TestBM25 finds documents by their words, and by the train queries that are appended to
// them; equal documents go by number.
func TestBM25(t *testing.T) {
	l := newLocal(t)
	corpus, queries := l.askedOfRivers()
	run, _, err := l.ranked("bm25", map[string]any{"corpus": corpus, "queries": queries})
	errtest.None(t, err)
	if len(run) != 2 || run["2"] != "1 0" || run["4"] != "2 4" {
		t.Errorf("run %v", run)
	}
	run, report, err := l.ranked("bm25", map[string]any{"corpus": corpus, "queries": queries, "expand": []any{queries}, "depth": int64(1)})
	errtest.None(t, err)
	if run["4"] != "1" || report["appended_queries"] != 1. || report["expanded_documents"] != 1. {
		t.Errorf("expanded: run %v, report %v", run, report)
	}
	res := l.made("bm25", map[string]any{"corpus": corpus, "queries": queries})
	l.says(res.Outputs["report"], map[string]any{"documents": 5., "empty_documents": 1., "queries": 3., "queries_without_hit": 1., "hits": 4., "appended_queries": 0., "tokens": 13.})
	if got, want := string(l.bytes(res.Outputs["qrels"])), "2 0 1 2\n2 0 0 1\n3 0 2 1\n4 0 4 1\n"; got != want {
		t.Errorf("qrels %q, want %q", got, want)
	}
}

// TestBM25Options: what an attribute says reaches the ranking.
func TestBM25Options(t *testing.T) {
	l := newLocal(t)
	corpus, queries := l.askedOfRivers()
	for _, c := range []struct {
		config map[string]any
		want   string // of query 2
	}{
		{map[string]any{"tokenizer": "words", "k1": 0.}, "0 1"},
		{map[string]any{"tokenizer": "words", "stemmer": "english"}, "1 0"},
		{map[string]any{"tokenizer": "whitespace", "formula": "okapi"}, "0"},
		{map[string]any{"formula": "bm25+", "delta": 0.1, "k1": 1.5, "b": 0.75}, "1 0"},
		{map[string]any{"lengths": "exact"}, "1 0"},
		{map[string]any{"split": "train"}, ""},
	} {
		c.config["corpus"], c.config["queries"] = corpus, queries
		run, _, err := l.ranked("bm25", c.config)
		errtest.None(t, err)
		if run["2"] != c.want {
			t.Errorf("%v: %q, want %q", c.config, run["2"], c.want)
		}
	}
	mistakes(t, "bm25", map[string]any{"corpus": corpus, "queries": queries}, map[string]map[string]any{
		"depth":     {"depth": int64(0)},
		"delta":     {"delta": 1.},
		"stopwords": {"stopwords": "none"},
		"klingon":   {"tokenizer": "words", "stemmer": "klingon"},
		"byte":      {"formula": "atire", "lengths": "lucene"},
		"k1":        {"k1": -1.},
		"lacks":     {"absent": true},
	})
}

// TestBM25OtherCollection: what is not of one collection is an error that trying again does
// not mend.
func TestBM25OtherCollection(t *testing.T) {
	l := newLocal(t)
	corpus, queries := l.askedOfRivers()
	for want, config := range map[string]map[string]any{
		"document 9":         {"queries": l.lines([]dedup.Query{{ExampleID: 1, Split: nq.Dev, Question: "q", Doc: 9}})},
		"document 7":         {"expand": []any{l.lines([]dedup.Query{{ExampleID: 1, Split: nq.Train, Question: "q", Doc: 7}, {ExampleID: 2, Split: nq.Train, Question: "q", Doc: 8}})}},
		"document 2 where 1": {"corpus": l.numbered(map[int32]string{0: "a", 2: "b"}, 0, 2)},
	} {
		l.refuses("bm25", changed(map[string]any{"corpus": corpus, "queries": queries}, config), want)
	}
}

// TestBM25Study: of examples/bm25_nq320k.hcl each setting is that of its column, what the paper's
// pipeline ranks too has the same ranking, and a published number stands beside the nearest cell.
func TestBM25Study(t *testing.T) {
	l := newLocal(t)
	const file = "../examples/bm25_nq320k.hcl"
	pl := l.plan(file, map[string]string{"scale": "toy", "keys": `["title"]`, "texts": `["simple_norm", "html_norm"]`})
	out := l.outputsOf(pl)
	var report struct{ Formula, Tokenizer string }
	for setting, want := range map[string]string{"anserini": "lucene lucene_english", "bm25s_stemmed": "lucene words", "rank_bm25": "okapi whitespace"} {
		l.json(out[fmt.Sprintf("step.bm25.nq[%q].report", "title/html_norm/"+setting)], &report)
		if got := report.Formula + " " + report.Tokenizer; got != want {
			t.Errorf("%s: %s, want %s", setting, got, want)
		}
	}
	paper := l.outputsOf(l.part(map[string]string{"scale": "toy"}, `step.bm25.nq["title/bm25"]`))
	if got, want := out[`step.bm25.nq["title/html_norm/anserini"].run`], paper[`step.bm25.nq["title/bm25"].run`]; got.Digest != want.Digest {
		t.Errorf("ranking %s, in the paper's pipeline %s", got.Digest, want.Digest)
	}
	spread, most := map[string]float64{}, 0.
	l.json(out["step.command.spread.stdout"], &spread)
	for _, form := range []string{"simple_norm", "html_norm"} {
		var all []float64
		for setting := range strings.FieldsSeq("anserini msmarco msmarco_docs lucene bm25s bm25s_stemmed rank_bm25") {
			var score struct{ Percent map[string]float64 }
			l.json(out[fmt.Sprintf("step.score.nq[%q].report", "title/"+form+"/"+setting)], &score)
			all = append(all, score.Percent["mrr_100"])
		}
		most = max(most, slices.Max(all)-slices.Min(all))
	}
	if got := spread["setting_mrr_100"]; most == 0 || math.Abs(got-most) > 1e-5 || spread["k1_b_mrr_100"] >= got || spread["key_mrr_100"] != 0 {
		t.Errorf("spread %v, of settings want %f", spread, most)
	}
	text := string(l.bytes(out["table.published.markdown"]))
	for _, name := range []string{"| GenRet ", "| a user "} { // the others are of key url
		if !strings.Contains(text, name) {
			t.Errorf("no row %q in\n%s", name, text)
		}
	}
	if text := squeezed(string(l.bytes(out[`table.bm25["recall_1"].markdown`]))); !strings.Contains(text, "| Title | SimpleNorm | 61 |") || !strings.Contains(text, "| Title | HtmlNorm | 61 |") {
		t.Errorf("the table is\n%s", text)
	}
}

// npyFile is a file of numpy.save.
func npyFile(dtype string, rows, cols int, numbers any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", dtype, rows, cols)
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	_ = binary.Write(&b, binary.LittleEndian, numbers)
	return b.Bytes()
}

// TestDense ranks what another program embedded: documents by their names, queries by their
// order, and dense compares them.
func TestDense(t *testing.T) {
	l := newLocal(t)
	_, queries := l.askedOfRivers()
	documents := l.collectionOf("a", "b", "c", "d", "e")
	of := func(config map[string]any) step.Input {
		t.Helper()
		res := l.made("import_embeddings", config)
		return step.In(res.Outputs["embeddings"])
	}
	file := func(b []byte) []any { return []any{l.blob("file", b)} }
	first := npyFile("<f8", 4, 2, []float64{9, 9, 0, 2, 1, 0, 1, 0})
	second := npyFile("<f2", 2, 2, []uint16{0x3c00, 0x3c00, 0x4400, 0}) // 1 1, 4 0
	embeddings := of(map[string]any{"documents": documents, "files": []any{l.blob("file", first), l.blob("file", second)},
		"names": file([]byte("none\nb\nc\r\na\ne\nd\n")), "extra": "leave_out"})
	asked := of(map[string]any{"queries": queries, "files": file(npyFile("<f4", 3, 2, []float32{0, 1, 1, 0, 0, 0}))})
	matrix, err := npy.Read(bytes.NewReader(l.bytes(*embeddings.Artifact)))
	if err != nil || fmt.Sprint(matrix.Data) != "[1 0 0 2 1 0 4 0 1 1]" {
		t.Fatalf("%v, %v", matrix, err)
	}
	run, report, err := l.ranked("dense", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries})
	errtest.None(t, err)
	if run["2"] != "1 4 0 2 3" || run["3"] != "3 0 2 4 1" || run["4"] != "0 1 2 3 4" || report["hits"] != 15. {
		t.Errorf("run %v, report %v", run, report)
	}
	run, _, err = l.ranked("dense", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries, "similarity": "cosine", "depth": int64(2)})
	if err != nil || run["3"] != "0 2" {
		t.Errorf("cosine: run %v, %v", run, err)
	}

	for _, c := range []struct {
		kind, want string
		config     map[string]any
	}{
		{"dense", "query_embeddings has 3 rows, and there are 1 test queries", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries, "split": "test"}},
		{"dense", "have 2 numbers, those of queries 1", map[string]any{"embeddings": embeddings, "queries": queries,
			"query_embeddings": of(map[string]any{"queries": queries, "files": file(npyFile("<f4", 3, 1, []float32{0, 1, 1}))})}},
		{"dense", "document 4 is not one of the 3", map[string]any{"embeddings": asked, "query_embeddings": asked, "queries": queries}},
		{"import_embeddings", `names, line 1: "none" is not a name`, map[string]any{"names": file([]byte("none\n")), "files": file(first)}},
		{"import_embeddings", `names, line 2: "a" is on line 1`, map[string]any{"names": file([]byte("a\na\n")), "files": file(first)}},
		{"import_embeddings", `"a", number 0 of 5, has no vector`, map[string]any{"names": file([]byte("b\nc\nd\ne\n")), "files": file(first)}},
		{"import_embeddings", "row 3: there are only 3 names", map[string]any{"names": file([]byte("b\nc\nd\n")), "files": file(first)}},
		{"import_embeddings", "5 names and 4 rows", map[string]any{"names": file([]byte("a\nb\nc\nd\ne\n")), "files": file(first)}},
		{"import_embeddings", `"e", number 4 of 5, has no vector: the files have 4 rows`, map[string]any{"files": file(first)}},
		{"import_embeddings", "row 5: only 5 documents or queries need a vector", map[string]any{"files": file(npyFile("<f4", 6, 1, make([]float32, 6)))}},
		{"import_embeddings", "files: row 1, column 1 is +Inf", map[string]any{"files": file(npyFile("<f8", 5, 2, []float64{1, 1, 1, 1e99, 1, 1, 1, 1, 1, 1}))}},
		{"import_embeddings", "dtype <i4", map[string]any{"files": file(npyFile("<i4", 5, 1, make([]int32, 5)))}},
		{"import_embeddings", "rows have 1 numbers, those of the files before 2", map[string]any{"files": []any{l.blob("file", first), l.blob("file", npyFile("<f4", 1, 1, []float32{1}))}}},
		{"import_embeddings", "ends within", map[string]any{"files": file(first[:len(first)-1])}},
		{"import_embeddings", `no file is named "*.npy*"; there are ["vectors.txt"]`, map[string]any{"files": []any{l.tree("files", map[string][]byte{"vectors.txt": first})}}},
	} {
		if c.kind == "import_embeddings" {
			c.config["documents"] = documents
		}
		l.refuses(c.kind, c.config, c.want)
	}
	mistakes(t, "import_embeddings", map[string]any{"files": file(first)}, map[string]map[string]any{
		"documents":  nil,
		"pattern":    {"documents": documents, "file": "["},
		"names_file": {"documents": documents, "extra": "leave_out"},
	})
}
