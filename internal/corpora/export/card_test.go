package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestCardGolden(t *testing.T) {
	card := Card{
		Name: "NQ320K-PageID", Origin: NaturalQuestions, Key: "PageID", KeyDoc: "the page of the revision", Serializer: "HtmlNorm",
		Settings:   []Setting{{"representative", "first"}, {"fallback", "url_title_cased | `x`"}},
		Sources:    []Setting{{"records", "sha256:abc"}},
		Counts:     []KeyCount{{"Text4K", 198202, 7271, 202221}, {"PageID", 107593, 6926, 109229}},
		Unresolved: 156, Command: "redsi run --target step.export.page_id",
	}
	s := Summary{Documents: 109229, Texts: 109200, Train: 307373, Dev: 7830, Respaced: 3,
		Identifiers: []string{"atomic", "naive"}, Variant: nq320k.Variant{Style: "htmlnorm", Key: "pageid"}}
	for i, name := range []string{
		"beir/corpus.jsonl", "data/htmlnorm/pageid/documents.jsonl.gz", "data/htmlnorm/pageid/metadata.json",
		"data/htmlnorm/pageid/train_queries.jsonl.gz", "data/htmlnorm/pageid/validation_queries.jsonl.gz",
		"identifiers/atomic.jsonl.gz", "identifiers/naive.jsonl.gz", "parquet/documents.parquet", "parquet/identifiers-atomic.parquet",
		"parquet/identifiers-naive.parquet", "parquet/queries-dev.parquet", "parquet/queries-train.parquet",
	} {
		s.Files = append(s.Files, File{name, int64(1234567 * i), strings.Repeat(fmt.Sprintf("%02x", i), 32)})
	}
	var b bytes.Buffer
	testkit.None(t, WriteCard(&b, card, s))
	goldens.Same(t, "testdata/README.md", b.String())
}

// TestCards: a generated or foreign collection does not pass for Natural Questions, what is not known is left out, and texts
// that no serializer made are not said to be of a form without a name.
func TestCards(t *testing.T) {
	for _, c := range []struct {
		card      Card
		s         Summary
		want, not []string
	}{
		{Card{Origin: NaturalQuestions, Name: "x: \"y\"\n"}, Summary{},
			[]string{"license: cc-by-sa-3.0\nlanguage:\n- en\npretty", "exported without text", `pretty_name: "x: \"y\"\n"`, "- n<1K", "CC BY-SA 3.0"},
			[]string{"generated", "## Files", "## Sources", "configs:", "How it was made", "Rebuild", "fallback key", "| Key |"}},
		{Card{Origin: Generated}, Summary{}, []string{"license: cc-by-sa-3.0\nlanguage:\n- en\npretty"}, []string{"kwiatkowski"}},
		{Card{Origin: Other}, Summary{Documents: 3, Texts: 3}, []string{"---\npretty_name:", "\nText is that of each document's representative snapshot.\n"}, []string{"Wikipedia"}},
		{Card{Origin: Other, Language: "de"}, Summary{Documents: 3, Texts: 2}, []string{"---\nlanguage:\n- de\npretty_name:", "snapshot; 1 documents have none.\n"}, []string{"Wikipedia"}},
	} {
		var b bytes.Buffer
		c.card.Key = "URL"
		testkit.None(t, WriteCard(&b, c.card, c.s))
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: the card lacks %q:\n%s", c.card.Origin, want, b.String())
			}
		}
		for _, not := range c.not {
			if strings.Contains(b.String(), not) {
				t.Errorf("%s: the card has %q:\n%s", c.card.Origin, not, b.String())
			}
		}
	}
}

func TestSizeCategory(t *testing.T) {
	for n, want := range map[int]string{0: "n<1K", 1000: "1K<n<10K", 109229: "100K<n<1M", 10_000_000: "n>10M"} {
		testkit.Is(t, sizeCategory(n), want, n)
	}
}

// grouping is the stored form of two pages, the second unresolved.
func grouping(t *testing.T) (documents, queries io.Reader) {
	t.Helper()
	const url = "https://en.wikipedia.org//w/index.php?title="
	hs := []nq.Header{
		{ExampleID: -5, Split: nq.Train, Question: "q1", URL: url + "Elsa&amp;oldid=1"},
		{ExampleID: 6, Split: nq.Dev, Question: "q2", URL: url + "Color_space&amp;oldid=2"},
		{ExampleID: 7, Split: nq.Dev, Question: "q3", URL: url + "Elsa_(Frozen)&amp;oldid=1"},
	}
	key, err := dedup.Lookup("page_id")
	testkit.None(t, err)
	g, err := dedup.NewGrouper(func() (string, error) { return t.TempDir(), nil }, []dedup.Key{key}, dedup.Options{RecordOrder: dedup.TrainFirst}, dedup.Sources{
		PageID: func(oldid uint64) (uint64, bool) { return 77, oldid == 1 },
	})
	testkit.None(t, err)
	for i := range hs {
		testkit.None(t, g.Add(&hs[i]))
	}
	of, err := g.Grouping(0)
	testkit.None(t, err)
	var d, q bytes.Buffer
	testkit.None(t, errors.Join(of.WriteDocuments(&d), of.WriteQueries(&q)))
	return &d, &q
}

// TestExamplesOf: dev comes first, whatever the order of queries, and what both splits have is there once.
func TestExamplesOf(t *testing.T) {
	var b bytes.Buffer
	err := dedup.WriteLines(&b, func(put func(any) error) error {
		for _, q := range []dedup.Query{{ExampleID: 1, Split: nq.Train, Doc: 2}, {ExampleID: 3, Split: nq.Train, Doc: 2}, {ExampleID: 3, Split: nq.Dev, Doc: 2}, {ExampleID: 2, Split: nq.Dev, Doc: 2}} {
			if err := put(&q); err != nil {
				return err
			}
		}
		return nil
	})
	testkit.None(t, err)
	of, err := ExamplesOf(&b)
	testkit.That(t, err == nil && slices.Equal(of(2), []int64{3, 2, 1}) && of(0) == nil, of(2), of(0), err)
}

func TestFromGrouping(t *testing.T) {
	for ids, want := range map[IDs]string{
		"":       "-5 0 0 1\n6 0 1 1\n7 0 0 1\n",
		ByNumber: "-5 0 0 1\n6 0 1 1\n7 0 0 1\n",
		ByKey:    "-5 0 77 1\n6 0 t:Color_space 1\n7 0 77 1\n",
	} {
		d, q := grouping(t)
		c := FromGrouping(Grouping{Documents: d, Queries: q, IDs: ids, Text: func(d *dedup.Document) (string, error) { return "text of " + d.Title, nil }})
		m := memory{}
		s, err := Write(c, []Format{TREC, BEIR}, m.create)
		if err != nil || s.Documents != 2 || s.Texts != 2 || s.Train != 1 || s.Dev != 2 {
			t.Fatalf("%+v, %v", s, err)
		}
		testkit.Is(t, m["trec/qrels.train.txt"].String()+m["trec/qrels.dev.txt"].String(), want, ids)
		testkit.Says(t, m["beir/corpus.jsonl"].String(), `"text":"text of Color space"`)
	}
	d, q := grouping(t)
	boom := errors.New("boom")
	c := FromGrouping(Grouping{Documents: d, Queries: q, IDs: ByKey, Text: func(*dedup.Document) (string, error) { return "", boom }})
	testkit.ErrIs(t, testkit.Err(Write(c, []Format{TREC}, memory{}.create)), boom, "error of a text")
	d, q = grouping(t)
	c = FromGrouping(Grouping{Documents: d, Queries: q})
	for range c.Documents {
		break // stopping early ends the reader
	}
}
