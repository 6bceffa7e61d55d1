package kinds_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/errtest"
)

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
	collection := l.outputs(ownPipeline(t, dir, msmarcoDownload(t)+namedPipeline), nil)
	var keys, queries, numbers []string
	r, err := l.Store.Open(t.Context(), collection["step.import_corpus.toy.documents"].Digest)
	errtest.None(t, err)
	defer r.Close()
	errtest.None(t, dedup.ReadDocuments(r, func(d *dedup.Document) error { keys = append(keys, d.Key); return nil }))
	q, err := l.Store.Open(t.Context(), collection["step.import_corpus.toy.queries"].Digest)
	errtest.None(t, err)
	defer q.Close()
	err = dedup.ReadQueries(q, -1, func(q *dedup.Query) error {
		if q.Split == "dev" && len(queries) < 2 {
			queries, numbers = append(queries, q.Name), append(numbers, fmt.Sprint(q.ExampleID))
		}
		return nil
	})
	if err != nil || len(keys) < 10 || len(queries) < 2 {
		t.Fatal(len(keys), len(queries), err)
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
		var report struct {
			UnknownDocuments int `json:"unknown_documents"`
			UnknownQueries   int `json:"unknown_queries"`
		}
		if l.json(out["step.import_run.f.report"], &report); file == "more" && (report.UnknownDocuments != 1 || report.UnknownQueries != 1) {
			t.Errorf("%+v", report)
		}
	}
	l.fails(ownPipeline(t, dir, fmt.Sprintf(more, "more", "fail")), `more.run: line 11: the collection has no document named "nobody"`)
}
