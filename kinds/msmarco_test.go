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
	"github.com/redsi/redsi/internal/corpora/synth"
	"github.com/redsi/redsi/step"
)

// msmarcoPipeline reads generated files under both keys, with and without the documents that
// nobody asks for.
const msmarcoPipeline = `
step "synth_msmarco" "toy" {
  documents  = 210
  trap_every = 2
  bad_lines  = 5
}
step "download" "bert" { urls = [%q] }
step "import_corpus" "toy" {
  for_each      = product({ key = ["exact", "normalized_title"], keep = ["relevant", "all"] })
  documents     = [step.synth_msmarco.toy.documents]
  train_queries = [step.synth_msmarco.toy.train_queries]
  train_qrels   = [step.synth_msmarco.toy.train_qrels]
  dev_queries   = [step.synth_msmarco.toy.dev_queries]
  dev_qrels     = [step.synth_msmarco.toy.dev_qrels]
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err := dedup.ReadDocuments(bytes.NewReader(l.bytes(r.Outputs["documents"])), func(d *dedup.Document) error {
		c.documents = append(c.documents, *d)
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
	if err := dedup.ReadQueries(bytes.NewReader(l.bytes(r.Outputs["queries"])), len(c.documents), func(q *dedup.Query) error {
		c.queries = append(c.queries, *q)
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
	rd, err := corpus.NewReader(bytes.NewReader(l.bytes(r.Outputs["corpus"])))
	if err != nil {
		l.t.Fatal(err)
	}
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

// truth is the same as the design says it.
func (a msmarcoAsked) truth() synth.MSMarcoQuestion {
	return synth.MSMarcoQuestion{Queries: a.Queries, Unjudged: a.Unjudged, Missing: a.Missing, OfEmpty: a.OfEmpty, Documentless: a.Documentless,
		Asked: a.Asked, Several: a.Several, Merged: a.Merged}
}

// TestMSMarco: the counts are those of the design, which reads nothing back.
func TestMSMarco(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	file := write(t, t.TempDir(), "p.hcl", fmt.Sprintf(msmarcoPipeline, bertFile(t)))
	all := l.results(file, nil)
	var truth synth.MSMarcoTruth
	l.json(all["step.synth_msmarco.toy"].Outputs["truth"], &truth)
	if truth.Empty == 0 || truth.Train.Merged == 0 || truth.Judged.Exact == truth.Judged.NormalizedTitle || truth.Judged.Exact == truth.All.Exact {
		t.Fatalf("the files have no traps: %+v", truth)
	}
	for key, r := range all {
		if !strings.HasPrefix(key, "step.import_corpus.") {
			continue
		}
		t.Run(key, func(t *testing.T) {
			grouped, judged := strings.Contains(key, "normalized"), strings.Contains(key, "relevant")
			groups := truth.All
			if judged {
				groups = truth.Judged
			}
			want := groups.Exact
			if grouped {
				want = groups.NormalizedTitle
			}
			var found msmarcoFound
			l.json(r.Outputs["report"], &found)
			d := found.Documents
			// The bad lines without D are a document as any other, in both files.
			others, lines, skipped := 1, truth.Documents+1, map[string]int{"missing": 2, "utf8": 1, "duplicate": 1}
			if judged {
				others, lines = 0, truth.Documents+2 // a part does not know the other file
				delete(skipped, "duplicate")
			}
			want += others
			if d.Union != want || d.Judged+d.Others != groups.Exact+others || d.Judged != truth.Judged.Exact || d.Merged != groups.Exact+others-want || d.Empty != d.Dropped || !judged && d.Empty != truth.Empty {
				t.Errorf("documents %+v, want %d of %+v", d, want, groups)
			}
			if grouped && d.Untitled != groups.Untitled || !grouped && d.Untitled == 0 {
				t.Errorf("%d without title, want %d", d.Untitled, groups.Untitled)
			}
			if found.Documents.Lines.Records != lines || !maps.Equal(found.Documents.Lines.Skipped, skipped) {
				t.Errorf("lines %+v", found.Documents.Lines)
			}

			for what, pair := range map[string][2]int{"queries": {truth.Train.Queries + truth.Dev.Queries, found.Queries.Records},
				"judgments": {truth.Train.Judgments + truth.Dev.Judgments, found.Judgments.Records},
				"repeated":  {truth.Train.Repeated + truth.Dev.Repeated, found.Repeated}, "unknown": {truth.Train.Unknown + truth.Dev.Unknown, found.Unknown}} {
				if pair[0] != pair[1] {
					t.Errorf("%s %d, want %d", what, pair[1], pair[0])
				}
			}
			for split, pair := range map[string][2]synth.MSMarcoQuestion{"train": {truth.Train, found.Train.truth()}, "dev": {truth.Dev, found.Dev.truth()}} {
				want := pair[0]
				want.Judgments, want.Repeated, want.Unknown, want.Irrelevant = 0, 0, 0, 0 // counted above, or with documents that are not taken
				if grouped {
					want.Several -= want.Merged
				} else {
					want.Merged = 0
				}
				if diff := cmp.Diff(want, pair[1]); diff != "" {
					t.Errorf("%s (-truth +report):\n%s", split, diff)
				}
			}

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
	if _, err := l.try(l.plan(msmarcoFiles(t, t.TempDir(), `on_missing = "fail"`, without), nil)); err == nil || !strings.Contains(err.Error(), `the judgment of train query "3" and document "D3": the document is in none of the files of documents`) {
		t.Errorf("%v", err)
	}
	if _, err := l.try(l.plan(msmarcoFiles(t, t.TempDir(), "", others(10, 5)), nil)); err == nil || !strings.Contains(err.Error(), "no document remains of the 5 that were read") {
		t.Errorf("%v", err)
	}
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
