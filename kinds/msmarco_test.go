package kinds_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

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
	path, err := filepath.Abs(filepath.Join("..", "assets", "tokenizers", "bert-base-uncased-tokenizer.json.gz"))
	errtest.None(t, err)
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
	errtest.None(l.t, dedup.ReadDocuments(bytes.NewReader(l.bytes(r.Outputs["documents"])), func(d *dedup.Document) error {
		c.documents = append(c.documents, *d)
		return nil
	}))
	errtest.None(l.t, dedup.ReadQueries(bytes.NewReader(l.bytes(r.Outputs["queries"])), len(c.documents), func(q *dedup.Query) error {
		c.queries = append(c.queries, *q)
		return nil
	}))
	rd, err := corpus.NewReader(bytes.NewReader(l.bytes(r.Outputs["corpus"])))
	errtest.None(l.t, err)
	defer rd.Close()
	for {
		d, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return c
		} else if err != nil {
			l.t.Fatal(err)
		}
		c.texts = append(c.texts, d)
	}
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
			if diff := cmp.Diff(msmarcoWant(grouped, judged), found); diff != "" {
				t.Errorf("(-truth +report):\n%s", diff)
			}
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

// others are n plain documents that nobody asks for, from a docid on.
func others(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "D%d\thttp://x.example/\tTitle %d\tbody\n", from+i, i)
	}
	return b.String()
}

const askedDocuments = "D2\tu\t Two \ttext\t2 \nD1\tu\tOne\t\"text 1\nD3\tu\t\ttext 3\nD9\tu\tNine\t \n"

// TestMSMarcoFiles: lines that cannot be used, and judgments of what is not there, are told or
// counted.
func TestMSMarcoFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, options, second, want string }{
		{"fields", "", "D7\tu\tt\n", "msmarco-docs-1.tsv.gz:1: 3 columns, want 4 (missing)"},
		{"twice in a file", "", "D3\tu\tt\tb\nD3\tu\tt\tb\n", `msmarco-docs-1.tsv.gz:2: document "D3" was there before (duplicate)`},
		{"twice", "", "D8\tu\tt\tb\nD3\tu\tt\tb\n", `msmarco-docs-1.tsv.gz:1: document "D3" was there before (duplicate)`},
		{"empty file", "", "\n", "msmarco-docs-1.tsv.gz:1: the file has no usable records (empty-file)"},
		{"none asked for", "", "D8\tu\tt\tb\n", ""},
		{"missing", `on_missing = "fail"`, "D8\tu\tt\tb\n", ""},
		{"skip", `on_bad_record = "skip"`, "D8\tu\tt\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLocal(t)
			_, err := l.try(l.plan(msmarcoFiles(t, t.TempDir(), c.options, askedDocuments, c.second), nil))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	l := newLocal(t)
	without := strings.Replace(askedDocuments, "D3\tu\t\ttext 3\n", "", 1)
	errtest.Says(t, errtest.Of(l.try(l.plan(msmarcoFiles(t, t.TempDir(), `on_missing = "fail"`, without), nil))), `the judgment of train query "3" and document "D3": the document is in none of the files of documents`)
	errtest.Says(t, errtest.Of(l.try(l.plan(msmarcoFiles(t, t.TempDir(), "", others(10, 5)), nil))), "no document remains of the 5 that were read")
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

// TestMSMarcoSample: a sample of the others is the same whatever files they are in, and stands
// beside the documents that queries name.
func TestMSMarcoSample(t *testing.T) {
	docids := func(options string, documents ...string) string {
		l := newLocal(t)
		var ids []string
		for _, d := range l.msmarco(l.results(msmarcoFiles(t, t.TempDir(), options, documents...), nil)["step.import_corpus.x"]).documents {
			ids = append(ids, d.Key)
		}
		return strings.Join(ids, " ")
	}
	const sample = "keep = \"all\"\n  limit = { documents = 7 }"
	want := docids(sample, askedDocuments+others(100, 60))
	if !strings.HasPrefix(want, "D2 D1 D3 D1") || strings.Count(want, " ") != 3+7-1 {
		t.Errorf("documents %s", want)
	}
	if got := docids(sample, askedDocuments+others(100, 10), others(110, 30), others(140, 20)); got != want {
		t.Errorf("of three files %s, of one %s", got, want)
	}
	if got := docids(sample+"\n  seed = 7", askedDocuments+others(100, 60)); got == want {
		t.Error("another seed draws the same")
	}
	if got := docids(`keep = "all"`, askedDocuments+others(100, 60)); strings.Count(got, " ") != 3+60-1 {
		t.Errorf("all documents: %s", got)
	}
	if got := docids("limit = { train = 1 }", askedDocuments); strings.Contains(got, " ") {
		t.Errorf("documents of one query: %s", got)
	}
}

// TestMSMarcoChecks: options that do not go together are told at their names.
func TestMSMarcoChecks(t *testing.T) {
	l := newLocal(t)
	files := l.Registry.Lookup("import_corpus")
	in := step.In(artifacts.Artifact{Type: "files", Digest: artifacts.Sum(nil)})
	for _, c := range []struct {
		path   string
		change map[string]any
	}{
		{"tokenizer: is needed", map[string]any{"key": "normalized_title"}},
		{"limit: documents applies only to keep", map[string]any{"limit": map[string]any{"documents": int64(5)}, "keep": "relevant"}},
		{`limit: "dev2" is none of`, map[string]any{"limit": map[string]any{"dev2": int64(5)}}},
		{`limit["train"]: want 1 or more`, map[string]any{"limit": map[string]any{"train": int64(-1)}}},
		{"seed", map[string]any{"seed": int64(-1)}},
		{"form", map[string]any{"form": "body"}},
	} {
		config := map[string]any{"documents": in, "train_queries": in, "train_qrels": in}
		maps.Copy(config, c.change)
		if _, err := step.NewTask(files, config); err == nil || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%v: %v", c.change, err)
		}
	}
}
