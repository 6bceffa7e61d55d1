package kinds_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

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
		{"import_run", "a.run", "q\td\t0\n", "", `a.run: line 1: rank "0" is not an integer from 1 on`},
		{"import_run", "a.run", "one two\n", "", `a.run: line 1: "one two" is not in a format that redsi knows: trec, msmarco, json`},
		{"import_run", "a.run", "{\"q\":\n{\"d\": \"x\"}}", "", `a.run: line 2: query "q", document "d": "x" is not a number`},
		{"import_run", "a.run", "{\"q\":\n{\"d\": 1}", "", "a.run: line 2: unexpected EOF"},
		{"import_run", "a.run", "{\"q\": 3}", "", `query "q" does not have {document: number}`},
		{"import_run", "a.run", "\n\n", "", "no line of 1 files was used"},
		{"import_run", "a.run", "# c\nq Q0 d 1 1 t\n#2 Q0 d 1 1 t\n", "", `a.run: line 3: query "#2" begins with #: trec_eval 10 takes its lines for comments, trec_eval 9 for rows`},
		{"import_run", "a.run", "# q Q0 d 1 1 t\n", "", "no line of 1 files was used"},
		{"import_run", "a.run", "q Q0 d 1 1 t\n", `file = "b.run"`, `no file is named "b.run"; there are ["a.run"]`},
		{"import_qrels", "a.qrels", "q 0 d 1\nq 0 d 2\n", "", "a.qrels: line 2: query \"q\" and document \"d\" are judged twice"},
		{"import_qrels", "a.qrels", "q 0 d 1.5\n", "", `a.qrels: line 1: grade "1.5" is not an integer`},
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
	golden := testkit.Value(filepath.Abs("testdata"))(t)
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
	testkit.Deep(t, want.Metadata, wantMetadata, "repro_eval reads")
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
		testkit.Is(t, l.text(fileOf(t, out["step.export_run.f.files"], "mine.run")), run)
		testkit.Is(t, l.text(fileOf(t, out["step.export_run.f.files"], "qrels.txt")), qrels)
		unknown := map[string]float64{"mine": 0, "more": 1}[file]
		l.says(out["step.import_run.f.report"], map[string]any{"unknown_documents": unknown, "unknown_queries": unknown})
	}
	l.fails(ownPipeline(t, dir, fmt.Sprintf(more, "more", "fail")), `more.run: line 11: the collection has no document named "nobody"`)
}
