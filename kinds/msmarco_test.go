package kinds_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/synth"
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
step "msmarco" "toy" {
  for_each      = product({ key = ["exact", "normalized_title"], documents = ["judged", "all"] })
  files         = [step.synth_msmarco.toy.documents]
  train_queries = [step.synth_msmarco.toy.train_queries]
  train_qrels   = [step.synth_msmarco.toy.train_qrels]
  dev_queries   = [step.synth_msmarco.toy.dev_queries]
  dev_qrels     = [step.synth_msmarco.toy.dev_qrels]
  tokenizer     = step.download.bert.files
  form          = "title_content"
  key           = each.value.key
  documents     = each.value.documents
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

// msmarcoCollection is what an msmarco step leaves.
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

// msmarcoFound is what the tests read of an msmarco step's report.
type msmarcoFound struct {
	Lines struct {
		Records int
		Skipped map[string]int
	}
	Documents  struct{ Empty, Dropped, Judged, Others, Untitled, Merged, Union int }
	Train, Dev msmarcoAsked
}

// msmarcoAsked is what it says of a split.
type msmarcoAsked struct {
	Queries, Judgments struct{ Records int }
	Irrelevant         int `json:"not_relevant_judgments"`
	Repeated           int `json:"repeated_judgments"`
	Unknown            int `json:"judgments_without_query"`
	Unjudged           int `json:"queries_without_judgment"`
	NotDrawn           int `json:"queries_not_drawn"`
	Missing            int `json:"judgments_without_document"`
	OfEmpty            int `json:"judgments_of_empty_documents"`
	Documentless       int `json:"queries_without_document"`
	Asked              int `json:"queries_asked"`
	Several            int `json:"queries_of_several_documents"`
	Merged             int `json:"judgments_of_merged_documents"`
}

// truth is the same as the design says it.
func (a msmarcoAsked) truth() synth.MSMarcoQuestion {
	return synth.MSMarcoQuestion{Queries: a.Queries.Records, Judgments: a.Judgments.Records, Irrelevant: a.Irrelevant, Repeated: a.Repeated,
		Unknown: a.Unknown, Unjudged: a.Unjudged, Missing: a.Missing, OfEmpty: a.OfEmpty, Documentless: a.Documentless,
		Asked: a.Asked, Several: a.Several, Merged: a.Merged}
}

// TestMSMarco: the counts are those of the design, which reads nothing back.
func TestMSMarco(t *testing.T) {
	l := newLocal(t)
	file := write(t, t.TempDir(), "p.hcl", fmt.Sprintf(msmarcoPipeline, bertFile(t)))
	all := l.results(file, nil)
	var truth synth.MSMarcoTruth
	l.json(all["step.synth_msmarco.toy"].Outputs["truth"], &truth)
	if truth.Empty == 0 || truth.Train.Merged == 0 || truth.Judged.Exact == truth.Judged.NormalizedTitle || truth.Judged.Exact == truth.All.Exact {
		t.Fatalf("the files have no traps: %+v", truth)
	}
	for key, r := range all {
		if !strings.HasPrefix(key, "step.msmarco.") {
			continue
		}
		t.Run(key, func(t *testing.T) {
			grouped, judged := strings.Contains(key, "normalized"), strings.Contains(key, "judged")
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
			if d.Union != want || d.Judged+d.Others != groups.Exact || d.Judged != truth.Judged.Exact || d.Merged != groups.Exact-want || d.Empty != truth.Empty {
				t.Errorf("documents %+v, want %d of %+v", d, want, groups)
			}
			if grouped && d.Untitled != groups.Untitled || !grouped && d.Untitled != 0 {
				t.Errorf("%d without title, want %d", d.Untitled, groups.Untitled)
			}
			if found.Lines.Records != truth.Documents || !maps.Equal(found.Lines.Skipped, map[string]int{"missing": 2, "type": 2, "utf8": 1}) {
				t.Errorf("lines %+v", found.Lines)
			}

			for split, pair := range map[string][2]synth.MSMarcoQuestion{"train": {truth.Train, found.Train.truth()}, "dev": {truth.Dev, found.Dev.truth()}} {
				want := pair[0]
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
				if !grouped && d.Key != fmt.Sprintf("D%d", d.ExampleID) {
					t.Errorf("key %s of document %d", d.Key, d.ExampleID)
				}
			}
		})
	}
}
