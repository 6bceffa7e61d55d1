package kinds_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/errtest"
)

// importPipeline imports a folder of internal/corpora/collect's samples, exports it, and imports and
// exports what that left.
const importPipeline = `
step "download" "sample" {
  urls  = %s
  names = %s
}
step "import_corpus" "sample" { files = step.download.sample.files }
step "export" "once" {
  documents = step.import_corpus.sample.documents
  queries   = step.import_corpus.sample.queries
  corpus    = step.import_corpus.sample.corpus
  qrels     = [step.import_corpus.sample.train_qrels, step.import_corpus.sample.dev_qrels, step.import_corpus.sample.test_qrels]
  ids       = "key"
  name      = "Fables"
  key       = "exact"
  origin    = "other"
}
step "import_corpus" "again" {
  for_each = toset(["beir", "jsonl", "parquet"])
  files    = step.export.once.files
  folder   = each.key
}
step "import_corpus" "parts" {
  documents     = step.export.once.files
  train_queries = step.export.once.files
  test_queries  = step.export.once.files
  qrels         = step.export.once.files
  pick = {
    documents     = ["beir/corpus.jsonl"]
    train_queries = ["topics.train.trec"]
    test_queries  = ["topics.test.tsv"]
    qrels         = ["trec/qrels.t*.txt"]
  }
}
step "export" "twice" {
  documents = step.import_corpus.again["beir"].documents
  queries   = step.import_corpus.again["beir"].queries
  corpus    = step.import_corpus.again["beir"].corpus
  qrels     = [for split in ["train", "dev", "test"] : step.import_corpus.again["beir"]["${split}_qrels"]]
  ids       = "key"
  name      = "Fables"
  key       = "exact"
  origin    = "other"
}
`

// samples is the pipeline of a folder.
func samples(t *testing.T, folder string) string {
	t.Helper()
	root := testdata(t, "corpora", "collect", "testdata", folder)
	var urls, names []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			urls, names = append(urls, path), append(names, filepath.ToSlash(rel))
		}
		return err
	})
	errtest.None(t, err)
	return write(t, t.TempDir(), "p.hcl", fmt.Sprintf(importPipeline, list(urls...), list(names...)))
}

// importGolden are the digests of what import_corpus leaves of the samples.
var importGolden = filepath.Join("testdata", "import_corpus.golden")

// TestImportCorpus: files in every format are the same collection to the last byte, which
// testdata/import_corpus.golden holds.
func TestImportCorpus(t *testing.T) {
	l := newLocal(t)
	var want string
	for _, folder := range []string{"beir", "jsonl", "msmarco", "trec", "csv", "parquet"} {
		out := l.outputs(samples(t, folder), nil, "step.import_corpus.sample")
		var got strings.Builder
		for _, output := range []string{"documents", "queries", "corpus", "counts", "train_qrels", "dev_qrels", "test_qrels"} {
			fmt.Fprintf(&got, "%s %s\n", output, out["step.import_corpus.sample."+output].Digest)
		}
		switch {
		case want == "":
			want = got.String()
		case want != got.String():
			t.Errorf("%s:\n%s\nwant\n%s", folder, got.String(), want)
		}
		var report struct {
			Files []struct{ Name, Role, Split, Format string }
		}
		l.json(out["step.import_corpus.sample.report"], &report)
		if len(report.Files) == 0 || report.Files[len(report.Files)-1].Role != "documents" {
			t.Errorf("%s: %+v", folder, report.Files)
		}
	}
	if golden := goldens.Of(t, importGolden, want); golden != want {
		t.Errorf("other bytes than before: bump Version, then -update\n%s\nwant\n%s", want, golden)
	}
}

// TestImportRoundTrip: what export writes comes in, and goes out again with the same bytes.
func TestImportRoundTrip(t *testing.T) {
	l := newLocal(t)
	out := l.outputs(samples(t, "beir"), nil)
	once, twice := filesOf(out["step.export.once.files"]), filesOf(out["step.export.twice.files"])
	for name, digest := range once {
		if name != "README.md" && twice[name] != digest {
			t.Errorf("%s: %s, then %s", name, digest, twice[name])
		}
	}
	if len(once) != len(twice) || once["beir/qrels/test.tsv"] == (artifacts.Digest{}) {
		t.Errorf("%d files, then %d", len(once), len(twice))
	}
	qrels, err := os.ReadFile(testdata(t, "corpora", "collect", "testdata", "beir", "qrels", "test.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	files := out["step.export.once.files"].Files
	at := slices.IndexFunc(files, func(f artifacts.File) bool { return f.Name == "beir/qrels/test.tsv" })
	if got := l.bytes(artifacts.Artifact{Digest: files[at].Digest}); !bytes.Equal(got, qrels) {
		t.Errorf("judgments came in as\n%s\nand went out as\n%s", qrels, got)
	}
	for _, output := range []string{"documents", "queries", "corpus", "counts"} {
		want := out["step.import_corpus.sample."+output].Digest
		for _, again := range []string{"beir", "jsonl", "parquet"} {
			if got := out[fmt.Sprintf("step.import_corpus.again[%q].%s", again, output)].Digest; got != want {
				t.Errorf("%s of %s: %s, want %s", output, again, got, want)
			}
		}
	}
	var report struct {
		Train, Dev, Test struct {
			Asked int `json:"queries_asked"`
		}
	}
	if l.json(out["step.import_corpus.parts.report"], &report); report.Train.Asked != 2 || report.Dev.Asked != 0 || report.Test.Asked != 1 {
		t.Errorf("%+v", report)
	}
}

// TestImportOfHubLayout: judgments in data/ are found by what they are; what is picked is added
// to what names say; and files that nothing was made of are named where they may be missing.
func TestImportOfHubLayout(t *testing.T) {
	const pipeline = `
step "download" "set" {
  urls  = ["ROOT/corpus/corpus-00000-of-00002.parquet", "ROOT/corpus/corpus-00001-of-00002.parquet", "ROOT/queries/queries-00000-of-00001.parquet", "ROOT/qrels/test-00000.parquet"]
  names = ["corpus/corpus-0.parquet", "corpus/corpus-1.parquet", "queries/queries-0.parquet", "NAME"]
}
step "import_corpus" "set" {
  files = step.download.set.files
  PICK
}
`
	for _, c := range []struct{ name, pick, want string }{
		{"data/test-00000.parquet", "", ""},
		{"gold.parquet", `pick = { test_qrels = ["gold.*"] }`, ""},
		{"gold.parquet", "", `not used, as their names do not say what they are: "gold.parquet"; say it by pick`},
	} {
		l := newLocal(t)
		text := strings.NewReplacer("ROOT", testdata(t, "corpora", "collect", "testdata", "parquet"), "NAME", c.name, "PICK", c.pick).Replace(pipeline)
		file := write(t, t.TempDir(), "p.hcl", text)
		if c.want != "" {
			errtest.Says(t, errtest.Of(l.try(l.plan(file, nil))), c.want)
			continue
		}
		if qrels := l.text(l.outputs(file, nil)["step.import_corpus.set.test_qrels"].Digest); qrels != "3 0 1 1\n3 0 3 2\n3 0 0 0\n" {
			t.Errorf("%+v: %s", c, qrels)
		}
	}
}

func filesOf(a artifacts.Artifact) map[string]artifacts.Digest {
	files := map[string]artifacts.Digest{}
	for _, f := range a.Files {
		files[f.Name] = f.Digest
	}
	return files
}

// TestImportMistakes: what is wrong with a configuration is said before anything runs, and
// what is wrong with files names them.
func TestImportMistakes(t *testing.T) {
	dir := t.TempDir()
	docs := write(t, dir, "docs.jsonl", `{"id":"a","text":"one"}`+"\n")
	write(t, dir, "bad.jsonl", `{"id":"a","text":"one"}`+"\n{\n")
	write(t, dir, "notes.md", "none\n")
	pipeline := func(attributes string) string {
		return fmt.Sprintf(`
step "download" "f" {
  for_each = toset(["docs.jsonl", "bad.jsonl", "notes.md"])
  urls     = ["%s/${each.key}"]
}
step "download" "two" { urls = ["%[1]s/docs.jsonl", "%[1]s/notes.md"] }
step "import_corpus" "mine" {
%[2]s
}
`, filepath.Dir(docs), attributes)
	}
	const documents = `documents = step.download.f["docs.jsonl"].files` + "\n"
	for attributes, want := range map[string]string{
		"":                                    "give files, a tree that has documents, queries and judgments, or documents",
		documents + `folder = "beir"`:         "applies only together with files",
		documents + `split = { train = 0.5 }`: `"train" is neither dev nor test; what is not drawn is train`,
		documents + `split = { dev = 0.6, test = 0.6 }`: "the shares add up to more than 1",
		documents + `split_from = "train"`:              "applies only together with split",
		documents + `fields = { body = "text" }`:        `"body" is not one of [id title text url oldid page_id]`,
		documents + `qrels_columns = ["qid"]`:           `"qid" is not one of "", "query", "document", "grade"`,
		documents + `pick = { docs = ["x"] }`:           `"docs" is not one of [dev_qrels dev_queries documents qrels queries test_qrels test_queries train_qrels train_queries]`,
		documents + `pick = { documents = ["["] }`:      `"[" is not a pattern of names`,
	} {
		refused(t, pipeline(attributes), want)
	}
	for attributes, want := range map[string]string{
		`documents = step.download.f["bad.jsonl"].files`:                                               "bad.jsonl:2: not one JSON object",
		`files = step.download.f["notes.md"].files`:                                                    `none of the 1 files looks like documents: "notes.md"`,
		documents + `queries = step.download.two.files` + "\n" + `pick = { queries = ["topics.tsv"] }`: "queries: none of the files given is one; name it with pick",
		documents + `queries = step.download.f["docs.jsonl"].files`:                                    "none of the 1 queries has a relevant document",
	} {
		l := newLocal(t)
		errtest.Says(t, errtest.Of(l.try(l.plan(write(t, t.TempDir(), "p.hcl", pipeline(attributes)), nil))), want)
	}
}
