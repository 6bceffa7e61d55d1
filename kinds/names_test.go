package kinds_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// writeAll writes files by name.
func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		write(t, dir, name, text)
	}
}

const foreignNames = `
step "download" "c" { urls = ["corpus.jsonl"] }
step "download" "q" { urls = ["queries.jsonl"] }
step "download" "j" { urls = ["test.tsv"] }
step "download" "r" { urls = ["r.json"] }
step "import_corpus" "c" {
  documents  = [step.download.c.files]
  queries    = [step.download.q.files]
  test_qrels = [step.download.j.files]
}
step "bm25" "b" {
  corpus  = step.import_corpus.c.corpus
  queries = step.import_corpus.c.queries
  split   = "test"
}
step "export_run" "e" {
  runs      = { bm25 = step.bm25.b.run }
  qrels     = step.import_corpus.c.test_qrels
  documents = step.import_corpus.c.documents
  queries   = step.import_corpus.c.queries
}
step "export" "e" {
  documents = step.import_corpus.c.documents
  queries   = step.import_corpus.c.queries
  corpus    = step.import_corpus.c.corpus
  formats   = ["trec", "beir", "parquet"]
  ids       = "key"
  name      = "x"
  key       = "exact"
  form      = "content"
  origin    = "other"
  %s
}
step "import_run" "json" {
  files = step.download.r.files
  order = "%s"
}
step "export_run" "json" { runs = { json = step.import_run.json.run } }
`

// TestForeignNames: files for others have one spelling of a name, its own but for white space of
// ASCII, in runs, TREC's and BEIR's judgments; what was changed is counted.
func TestForeignNames(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"corpus.jsonl":  `{"_id":"enwiki:A%20b","title":"","text":"red fox"}` + "\n" + `{"_id":"with blank","title":"","text":"blue whale"}` + "\n" + `{"_id":"wide\u3000\"x\"","title":"","text":"green"}` + "\n",
		"queries.jsonl": `{"_id":"q%201","text":"fox"}` + "\n" + `{"_id":"q2","text":"whale"}` + "\n" + `{"_id":"#3","text":"green"}` + "\n",
		"test.tsv":      "query-id\tcorpus-id\tscore\nq%201\tenwiki:A%20b\t1\nq2\twith blank\t1\n#3\twide\u3000\"x\"\t1\n",
		"r.json":        `{"q%202": {"with blank": 1.0, "enwiki:A%20b": 5.0}}`,
	})
	l := newLocal(t)
	all := l.results(ownPipeline(t, dir, fmt.Sprintf(foreignNames, "", "trec_eval")), nil)
	text := func(step, file string) string {
		t.Helper()
		return l.text(fileOf(t, all["step."+step].Outputs["files"], file))
	}
	write(t, dir, "beir.tsv", text("export.e", "beir/qrels/test.tsv"))
	beir := l.outputs(ownPipeline(t, dir, "step \"download\" \"d\" { urls = [\"beir.tsv\"] }\nstep \"import_qrels\" \"b\" { files = step.download.d.files }\n"), nil)["step.import_qrels.b.qrels"]
	const wantQrels = "q%201 0 enwiki:A%20b 1\nq2 0 with_blank 1\n_3 0 wide\u3000\"x\" 1\n"
	for _, got := range []string{text("export_run.e", "qrels.txt"), text("export.e", "trec/qrels.test.txt"), strings.ReplaceAll(string(l.bytes(beir)), "%25", "%")} {
		if strings.ReplaceAll(got, "%E3%80%80", "\u3000") != wantQrels {
			t.Errorf("judgments %s", got)
		}
	}
	for _, line := range []string{"q%201 Q0 enwiki:A%20b 1 ", "q2 Q0 with_blank 1 ", "_3 Q0 wide\u3000\"x\" 1 "} {
		if got := text("export_run.e", "bm25.run"); !strings.Contains(got, line) {
			t.Errorf("the run lacks %q:\n%s", line, got)
		}
	}
	for _, step := range []string{"export_run.e", "export.e"} {
		if n := all["step."+step].Counts["names_changed"]; n != 2 {
			t.Errorf("%s changed %d names", step, n)
		}
	}
	if got := text("export_run.json", "json.run"); got != "q%202 Q0 enwiki:A%20b 1 5 json\nq%202 Q0 with_blank 2 1 json\n" {
		t.Errorf("without a collection %s", got)
	}
	card := text("export.e", "README.md")
	if strings.Contains(card, "language:") || !strings.Contains(card, "In 2 names, white space and control characters are `_`") {
		t.Error(card)
	}
	rows, err := parquet.ReadFile[struct {
		ID   string `parquet:"id"`
		Test *int32 `parquet:"test,optional"`
	}](l.file(t, text("export.e", "parquet/documents.parquet")))
	if err != nil || len(rows) != 3 || rows[0].Test == nil || *rows[0].Test != 1 || rows[1].ID != "with_blank" {
		t.Errorf("%+v, %v", rows, err)
	}
	all = l.results(ownPipeline(t, dir, fmt.Sprintf(foreignNames, `language = "de"`, "trec_eval")), nil, "step.export.e")
	if card := text("export.e", "README.md"); !strings.HasPrefix(card, "---\nlanguage:\n- de\n") {
		t.Error(card)
	}
	l.fails(ownPipeline(t, dir, fmt.Sprintf(foreignNames, "", "rank")), `r.json: JSON has no ranks, by which order = "rank" orders`)
	writeAll(t, dir, map[string]string{
		"corpus.jsonl": `{"_id":"with_blank","text":"red fox"}` + "\n" + `{"_id":"with blank","text":"blue whale"}` + "\n",
		"test.tsv":     "query-id\tcorpus-id\tscore\nq2\twith blank\t1\n",
	})
	l.fails(ownPipeline(t, dir, fmt.Sprintf(foreignNames, "", "trec_eval")), `is named "with_blank" outside redsi`)
}

// file is a file with the text.
func (l *local) file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	filetest.Write(t, path, text)
	return path
}

const argumentsPipeline = `
step "download" "d" {
  urls  = ["corpus.jsonl", "queries.jsonl", "test.tsv"]
  names = ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"]
}
step "import_corpus" "c" { files = step.download.d.files }
locals {
  c       = step.import_corpus.c
  ignored = { ignore_identical_ids = true, documents = local.c.documents }
}
step "bm25" "b" {
  for_each             = toset(["0", "1"])
  corpus               = local.c.corpus
  queries              = local.c.queries
  split                = "test"
  depth                = 2
  ignore_identical_ids = each.key == "1"
  documents            = each.key == "1" ? local.c.documents : null
}
step "export_run" "b" {
  runs      = { b = step.bm25.b["0"].run }
  documents = local.c.documents
  queries   = local.c.queries
}
step "import_run" "b" {
  files                = step.export_run.b.files
  documents            = local.c.documents
  queries              = local.c.queries
  ignore_identical_ids = true
}
step "score" "at_once" {
  run                  = step.bm25.b["0"].run
  qrels                = local.c.test_qrels
  ignore_identical_ids = true
  documents            = local.c.documents
  queries              = local.c.queries
}
step "score" "s" {
  for_each = { plain = step.bm25.b["0"].run, bm25 = step.bm25.b["1"].run, imported = step.import_run.b.run }
  run      = each.value
  qrels    = local.c.test_qrels
}
`

// TestIgnoreIdenticalIDs: a query that is a document of the collection does not find itself, by
// whichever kind leaves it out.
func TestIgnoreIdenticalIDs(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"corpus.jsonl": `{"_id": "arg-1a", "title": "", "text": "harbours should ban night dredging because it wakes the herring"}
{"_id": "arg-1b", "title": "", "text": "night dredging is cheaper and the herring get used to it"}
{"_id": "arg-2a", "title": "", "text": "lighthouses need no keepers any more"}
{"_id": "arg-2b", "title": "", "text": "keepers of lighthouses save ships where lamps fail"}
{"_id": "1", "title": "", "text": "bread is baked at night"}
`,
		"queries.jsonl": `{"_id": "arg-1a", "text": "harbours should ban night dredging because it wakes the herring"}
{"_id": "arg-2a", "text": "lighthouses need no keepers any more"}
`,
		"test.tsv": "query-id\tcorpus-id\tscore\narg-1a\targ-1b\t1\narg-2a\targ-2b\t1\n",
	})
	l := newLocal(t)
	all := l.results(ownPipeline(t, dir, argumentsPipeline), nil)
	for name, want := range map[string]float64{`s["plain"]`: 50, `s["bm25"]`: 100, `s["imported"]`: 100, "at_once": 100} {
		var report struct{ Percent map[string]float64 }
		if l.json(all["step.score."+name].Outputs["report"], &report); report.Percent["mrr_10"] != want {
			t.Errorf("%s: %v", name, report.Percent)
		}
	}
	for step, want := range map[string]any{`bm25.b["0"]`: nil, `bm25.b["1"]`: 2., "import_run.b": 2., `score.s["plain"]`: nil, "score.at_once": 2.} {
		report := map[string]any{}
		if l.json(all["step."+step].Outputs["report"], &report); report["identical_documents"] != want {
			t.Errorf("%s: %v", step, report)
		}
	}
	if got := string(l.bytes(all[`step.bm25.b["1"]`].Outputs["run"])); strings.Count(got, "0 Q0 ") != 2 { // depth of them, without its own
		t.Errorf("run %s", got)
	}

	// dense: of two queries one has the name of its best document.
	queries := l.lines([]dedup.Query{{ExampleID: 4, Split: nq.Dev, Name: "b", Question: "x", Doc: 0}, {ExampleID: 1, Split: nq.Dev, Name: "z", Question: "y", Doc: 0}})
	config := map[string]any{"queries": queries, "depth": int64(1), "embeddings": l.blob("docid/embeddings", npyFile("<f4", 2, 1, []float32{1, 2})), "query_embeddings": l.blob("docid/embeddings", npyFile("<f4", 2, 1, []float32{1, 1}))}
	run, report, err := l.ranked("dense", config)
	if err != nil || !maps.Equal(run, map[string]string{"4": "1", "1": "1"}) || report["identical_documents"] != nil {
		t.Errorf("%v %v %v", run, report, err)
	}
	config["ignore_identical_ids"], config["documents"] = true, l.collectionOf("a", "b")
	run, report, err = l.ranked("dense", config)
	if err != nil || !maps.Equal(run, map[string]string{"4": "0", "1": "1"}) || report["identical_documents"] != 1. || report["hits"] != 2. {
		t.Errorf("%v %v %v", run, report, err)
	}
	delete(config, "documents")
	errtest.Says(t, errtest.Of(l.Registry.Lookup("dense").Complete(config)), "goes with ignore_identical_ids")
}
