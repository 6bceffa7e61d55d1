package kinds_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
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
	testkit.None(t, err)
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
	qrels := string(readFile(t, testdata(t, "corpora", "collect", "testdata", "beir", "qrels", "test.tsv")))
	testkit.Is(t, l.text(once["beir/qrels/test.tsv"]), qrels)
	for _, output := range []string{"documents", "queries", "corpus", "counts"} {
		want := out["step.import_corpus.sample."+output].Digest
		for _, again := range []string{"beir", "jsonl", "parquet"} {
			if got := out[fmt.Sprintf("step.import_corpus.again[%q].%s", again, output)].Digest; got != want {
				t.Errorf("%s of %s: %s, want %s", output, again, got, want)
			}
		}
	}
	l.says(out["step.import_corpus.parts.report"], map[string]any{"train.queries_asked": 2., "dev.queries_asked": 0., "test.queries_asked": 1.})
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
			testkit.ErrSays(t, testkit.Err(l.try(l.plan(file, nil))), c.want)
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
		documents + `split = { dev = 0.6, test = 0.6 }`:              "the shares add up to more than 1",
		documents + `split_from = "train"`:                           "applies only together with split",
		documents + `fields = { body = "text" }`:                     `"body" is not one of [id title text url oldid page_id]`,
		documents + `qrels_columns = ["qid"]`:                        `"qid" is not one of "", "query", "document", "grade"`,
		documents + `pick = { docs = ["x"] }`:                        `"docs" is not one of [dev_qrels dev_queries documents qrels queries test_qrels test_queries train_qrels train_queries]`,
		documents + `pick = { documents = ["["] }`:                   `"[" is not a pattern of names`,
		documents + `key = "normalized_title"`:                       "tokenizer: is needed",
		documents + `form = "body"`:                                  `"body" is not one of`,
		documents + `seed = -1`:                                      "seed: want 0 or more",
		documents + `limit = { dev2 = 5 }`:                           `"dev2" is not one of train, dev, test and documents`,
		documents + `limit = { train = -1 }`:                         `limit["train"]: want 1 or more`,
		documents + "limit = { documents = 5 }\nkeep = \"relevant\"": "limit: documents applies only to keep",
	} {
		refused(t, pipeline(attributes), want)
	}
	for attributes, want := range map[string]string{
		`documents = step.download.f["bad.jsonl"].files`:                                               "bad.jsonl:2: not one JSON object",
		`files = step.download.f["notes.md"].files`:                                                    `none of the 1 files looks like documents: "notes.md"`,
		documents + `queries = step.download.two.files` + "\n" + `pick = { queries = ["topics.tsv"] }`: "queries: none of the given files is one by its name; name them with pick",
		documents + `queries = step.download.f["docs.jsonl"].files`:                                    "none of the 1 queries has a relevant document",
	} {
		l := newLocal(t)
		testkit.ErrSays(t, testkit.Err(l.try(l.plan(write(t, t.TempDir(), "p.hcl", pipeline(attributes)), nil))), want)
	}
}

// msmarcoDownload is the step that has the files of examples/msmarco, and more documents.
func msmarcoDownload(t *testing.T, more ...string) string {
	t.Helper()
	files, err := filepath.Glob(testdata(t, "..", "examples", "msmarco", "*.tsv.gz"))
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	return fmt.Sprintf("step \"download\" \"msmarco\" { urls = %s }\n", list(append(files, more...)...))
}

// msmarcoPipeline reads them under both keys, with and without the documents that nobody asks for.
const msmarcoPipeline = `
step "download" "bert" { urls = [%q] }
step "import_corpus" "toy" {
  for_each      = product({ key = ["exact", "normalized_title"], keep = ["relevant", "all"] })
  files         = step.download.msmarco.files
  tokenizer     = step.download.bert.files
  form          = "title_content"
  key           = each.value.key
  keep          = each.value.keep
  empty         = "drop_body"
  columns       = ["id", "url", "title", "text"] # not told by the first line, which may be a bad one
  on_bad_record = "skip"
}
`

func bertFile(t *testing.T) string {
	path := testkit.Value(filepath.Abs(filepath.Join("..", "assets", "tokenizers", "bert-base-uncased-tokenizer.json.gz")))(t)
	return path
}

// msmarcoCollection is what the step leaves.
type msmarcoCollection struct {
	documents []dedup.Document
	queries   []dedup.Query
	texts     []corpus.Document
}

func (l *local) msmarco(r *artifacts.Result) (c msmarcoCollection) {
	l.t.Helper()
	testkit.None(l.t, dedup.ReadDocuments(bytes.NewReader(l.bytes(r.Outputs["documents"])), func(d *dedup.Document) error {
		c.documents = append(c.documents, *d)
		return nil
	}))
	testkit.None(l.t, dedup.ReadQueries(bytes.NewReader(l.bytes(r.Outputs["queries"])), len(c.documents), func(q *dedup.Query) error {
		c.queries = append(c.queries, *q)
		return nil
	}))
	rd := testkit.Value(corpus.NewReader(bytes.NewReader(l.bytes(r.Outputs["corpus"]))))(l.t)
	defer rd.Close()
	for d, err := range rd.All() {
		testkit.None(l.t, err)
		c.texts = append(c.texts, d)
	}
	return c
}

// msmarcoFound is what the tests read of its report.
type msmarcoFound struct {
	Documents struct {
		Lines struct {
			Records int
			Skipped map[string]int
		}
		Empty, Dropped, Judged, Others, Untitled, Merged, Union int
	}
	Queries, Judgments struct{ Records int }
	Repeated           int `json:"repeated_judgments"`
	Unknown            int `json:"judgments_without_query"`
	Train, Dev         msmarcoAsked
}

// msmarcoAsked is what it says of a split.
type msmarcoAsked struct {
	Queries      int `json:"queries"`
	Unjudged     int `json:"queries_without_judgment"`
	Missing      int `json:"judgments_without_document"`
	OfEmpty      int `json:"judgments_of_dropped_documents"`
	Documentless int `json:"queries_without_document"`
	Asked        int `json:"queries_asked"`
	Several      int `json:"queries_of_several_documents"`
	Merged       int `json:"judgments_of_merged_documents"`
}

// msmarcoWant are the counts of the program that made the files, which reads nothing back: 210 documents of which 10 are
// empty and 174 of the others relevant to a query, under 152 titles if 40 without one are told apart. A readable one of
// the bad lines is a document as any other, and in both files; a part does not know the other file.
func msmarcoWant(grouped, judged bool) (w msmarcoFound) {
	w.Train = msmarcoAsked{Queries: 600, Unjudged: 30, Missing: 60, OfEmpty: 29, Documentless: 59, Asked: 511, Several: 60}
	w.Dev = msmarcoAsked{Queries: 120, Unjudged: 6, Missing: 12, OfEmpty: 6, Documentless: 12, Asked: 102, Several: 12}
	w.Queries.Records, w.Judgments.Records, w.Repeated, w.Unknown = 720, 900, 36, 36
	d := &w.Documents
	d.Empty, d.Dropped, d.Judged = 10, 10, 174
	if judged {
		d.Lines.Records, d.Lines.Skipped = 212, map[string]int{"missing": 2, "utf8": 1}
		d.Untitled, d.Union = 21, 174
	} else {
		d.Lines.Records, d.Lines.Skipped = 211, map[string]int{"missing": 2, "utf8": 1, "duplicate": 1, "empty-file": 1}
		d.Others, d.Untitled, d.Union = 27, 22, 201
	}
	if grouped {
		w.Train.Several, w.Train.Merged, w.Dev.Several, w.Dev.Merged = 30, 30, 6, 6
		d.Untitled, d.Merged, d.Union = 42, 22, d.Union-22
	}
	if grouped && judged {
		d.Untitled = 40
	}
	return w
}

// TestMSMarco: the counts are those that the files were made with, and of bad lines in two files more.
func TestMSMarco(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	dir := t.TempDir()
	const missing, other = "D17\thttp://no-body.example/\n", "X17\thttp://other.example/\ttitle\tbody\n"
	bad := []string{write(t, dir, "more-docs-1.tsv.gz", missing+other), write(t, dir, "more-docs-2.tsv.gz", "D18\thttp://bytes.example/\t\xff\tbody\n"+missing+other)}
	for key, r := range l.results(write(t, dir, "p.hcl", msmarcoDownload(t, bad...)+fmt.Sprintf(msmarcoPipeline, bertFile(t))), nil) {
		if !strings.HasPrefix(key, "step.import_corpus.") {
			continue
		}
		t.Run(key, func(t *testing.T) {
			grouped, judged := strings.Contains(key, "normalized"), strings.Contains(key, "relevant")
			var found msmarcoFound
			l.json(r.Outputs["report"], &found)
			testkit.Deep(t, found, msmarcoWant(grouped, judged))
			want := found.Documents.Union
			c := l.msmarco(r)
			if len(c.documents) != want || len(c.texts) != want {
				t.Errorf("%d documents, %d texts, want %d", len(c.documents), len(c.texts), want)
			}
			train, dev := map[int32]int32{}, map[int32]int32{}
			for _, q := range c.queries {
				if q.Split == "train" {
					train[q.Doc]++
				} else {
					dev[q.Doc]++
				}
			}
			for i, d := range c.documents {
				text := c.texts[i]
				if text.Doc != d.Doc || text.Title != d.Title || !strings.HasPrefix(text.Text, strings.TrimSpace(d.Title)) || strings.TrimSpace(text.Text) != text.Text {
					t.Errorf("document %+v has the text %+v", d, text)
				}
				if d.Train != train[d.Doc] || d.Dev != dev[d.Doc] || judged && d.Train+d.Dev == 0 {
					t.Errorf("document %+v has %d train and %d dev queries", d, train[d.Doc], dev[d.Doc])
				}
				if !grouped && !regexp.MustCompile(`^[DX][0-9]+$`).MatchString(d.Key) {
					t.Errorf("key %s of document %d", d.Key, d.Doc)
				}
			}
		})
	}
}

// msmarcoFiles is a pipeline over files of documents, with options of the step.
func msmarcoFiles(t *testing.T, dir string, options string, documents ...string) string {
	var files []string
	for i, text := range documents {
		files = append(files, write(t, dir, fmt.Sprintf("msmarco-docs-%d.tsv.gz", i), text))
	}
	for attribute, usual := range map[string]string{"keep": "relevant", "empty": "drop_body"} {
		if !strings.Contains(options, attribute+" ") {
			options += fmt.Sprintf("\n  %s = %q", attribute, usual)
		}
	}
	queries := write(t, dir, "queries.tsv.gz", "1\twho\n2\twhat\n3\twhere\n")
	qrels := write(t, dir, "qrels.tsv.gz", "1 0 D1 1\n2 0 D2 1\n2 0 D9 1\n3 0 D3 1\n")
	return write(t, dir, "p.hcl", fmt.Sprintf(`
step "download" "files" {
  for_each = { documents = %s, queries = [%q], qrels = [%q], bert = [%q] }
  urls     = each.value
}
step "import_corpus" "x" {
  documents     = step.download.files["documents"].files
  train_queries = step.download.files["queries"].files
  train_qrels   = step.download.files["qrels"].files
  tokenizer     = step.download.files["bert"].files
  columns       = ["id", "url", "title", "text"]
  %s
}
`, list(files...), queries, qrels, bertFile(t), options))
}

const askedDocuments = "D2\tu\t Two \ttext\t2 \nD1\tu\tOne\t\"text 1\nD3\tu\t\ttext 3\nD9\tu\tNine\t \n"

// TestMSMarcoFiles: lines that cannot be used, and judgments of what is not there, are told or
// counted.
func TestMSMarcoFiles(t *testing.T) {
	t.Parallel()
	l, dir := newLocal(t), t.TempDir()
	without := strings.Replace(askedDocuments, "D3\tu\t\ttext 3\n", "", 1)
	for _, c := range []struct{ options, first, second, want string }{
		{"", askedDocuments, "D7\tu\tt\n", "msmarco-docs-1.tsv.gz:1: 3 columns, want 4 (missing)"},
		{"", askedDocuments, "D8\tu\tt\tb\nD3\tu\tt\tb\n", `msmarco-docs-1.tsv.gz:1: document "D3" was there before (duplicate)`},
		{`on_missing = "fail"`, without, "D8\tu\tt\tb\n", `the judgment of train query "3" and document "D3": the document is in none of the files of documents`},
		{"", "D10\tu\tt\tb\n", "D11\tu\tt\tb\n", "no document remains of the 2 that were read"},
	} {
		l.fails(msmarcoFiles(t, dir, c.options, c.first, c.second), c.want)
	}
	l.results(msmarcoFiles(t, dir, `on_missing = "fail"`, askedDocuments, "D8\tu\tt\tb\n"), nil)
	l.results(msmarcoFiles(t, dir, `on_bad_record = "skip"`, askedDocuments, "D8\tu\tt\n"), nil)
}

// TestMSMarcoForms: texts are as stored, or title and body; parts know which have none.
func TestMSMarcoForms(t *testing.T) {
	l := newLocal(t)
	dir := t.TempDir()
	for options, want := range map[string][]string{
		"":                       {"text\t2 ", "\"text 1", "text 3"},
		`form = "title_content"`: {"Two text\t2", "One \"text 1", "text 3"},
		`empty = "keep"`:         {"text\t2 ", "\"text 1", "text 3", " "},
	} {
		c := l.msmarco(l.results(msmarcoFiles(t, dir, options, askedDocuments), nil)["step.import_corpus.x"])
		var got, titles []string
		for i, d := range c.texts {
			got = append(got, d.Text)
			titles = append(titles, c.documents[i].Title)
		}
		if diff := cmp.Diff(want, got); diff != "" || titles[0] != " Two " {
			t.Errorf("%q %q (-want +got):\n%s", options, titles, diff)
		}
	}
	l.ran = slices.DeleteFunc(l.ran, func(part string) bool { return !strings.HasPrefix(part, "import_corpus_file") })
	if len(l.ran) != 3 { // for both forms, and with empty bodies
		t.Errorf("parts %v", l.ran)
	}
}
