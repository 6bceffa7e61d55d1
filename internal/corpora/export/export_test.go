package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// memory is a Sink that keeps files.
type memory map[string]*bytes.Buffer

type closer struct{ *bytes.Buffer }

func (closer) Close() error { return nil }

func (m memory) create(name string) (io.WriteCloser, error) {
	if _, ok := m[name]; ok {
		return nil, fmt.Errorf("%s is created twice", name)
	}
	m[name] = &bytes.Buffer{}
	return closer{m[name]}, nil
}

var testDocuments = []Document{
	{ID: "41312390", Title: "Elsa (Frozen)", Text: "Elsa\nis a \"character\" & <queen>.\tTab", Key: "41312390", URL: "https://x?title=Elsa&amp;oldid=5", OldID: 5, PageID: 41312390, ExampleID: -2692360962974527758, Train: 2, Dev: 1},
	{ID: "t:1918–19_season", Title: "1918–19 season", Key: "t:1918–19 season", URL: "u", ExampleID: 7, Dev: 1},
	{ID: "2", Title: "", Text: strings.Repeat("long ", 100), ExampleID: 8},
}

// anyNames are the formats in which documents may have any name.
var anyNames = Formats()[:4]

var testQueries = []Query{
	{ID: "-2692360962974527758", Split: nq.Train, Text: "who voices elsa", DocID: "41312390"},
	{ID: "11", Split: nq.Train, Text: "when  was\telsa\nmade", DocID: "41312390"},
	{ID: "12", Split: nq.Dev, Text: "who won <1918> & why?", DocID: "t:1918–19_season"},
	{ID: "13", Split: nq.Dev, Text: "elsa", DocID: "41312390"},
}

// each yields copies in one place, as readers that reuse memory do.
func each[T any](list []T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		var v T
		for i := range list {
			v = list[i]
			if !yield(&v, nil) {
				return
			}
			var zero T
			v = zero
		}
	}
}

func write(t *testing.T, docs []Document, queries []Query, formats ...Format) (memory, Summary) {
	t.Helper()
	m := memory{}
	s, err := Write(Collection{Documents: each(docs), Queries: each(queries)}, formats, m.create)
	testkit.None(t, err)
	return m, s
}

func TestSummary(t *testing.T) {
	m, s := write(t, testDocuments, testQueries, anyNames...)
	if s.Documents != 3 || s.Texts != 2 || s.Train != 2 || s.Dev != 2 || s.Respaced != 1 || s.Escaped != 1 {
		t.Errorf("%+v", s)
	}
	var names []string
	for _, f := range s.Files {
		names = append(names, f.Name)
		testkit.Is(t, f.Bytes, int64(m[f.Name].Len()), f)
		testkit.Is(t, len(f.SHA256), 64, f)
		if describe(Summary{}, f.Name) == "" {
			t.Errorf("the card does not describe %s", f.Name)
		}
	}
	testkit.Deep(t, names, slices.Sorted(maps.Keys(m)), "files")
	// What testdata/croissant does not have: no text, and white space.
	for name, want := range map[string]string{"jsonl/documents.jsonl.gz": `"title":"1918–19 season","key"`, "beir/corpus.jsonl": `"title":"1918–19 season","text":""`} {
		if text := string(goldens.Plain(t, m[name].Bytes())); !strings.Contains(text, want) {
			t.Errorf("%s has no %s:\n%s", name, want, text)
		}
	}
	for name, want := range map[string]string{"tsv": "11\twhen was elsa made\n", "trec": "<num> Number: 11\n<title> when was elsa made\n</top>\n\n"} {
		if text := m["trec/topics.train."+name].String(); !strings.HasSuffix(text, want) {
			t.Errorf("%q", text)
		}
	}
	again, _ := write(t, testDocuments, testQueries, anyNames...)
	for name := range m {
		if !bytes.Equal(m[name].Bytes(), again[name].Bytes()) {
			t.Errorf("%s: two writes differ", name)
		}
	}
}

func readJSONLines[T any](t *testing.T, b *bytes.Buffer) []T {
	t.Helper()
	dec := json.NewDecoder(b)
	dec.DisallowUnknownFields()
	var out []T
	for {
		var v T
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
}

func gunzip(t *testing.T, b *bytes.Buffer) *bytes.Buffer {
	t.Helper()
	return bytes.NewBuffer(goldens.Plain(t, b.Bytes()))
}

func readParquet[T any](t *testing.T, b *bytes.Buffer) []T {
	t.Helper()
	rows, err := parquet.Read[T](bytes.NewReader(b.Bytes()), int64(b.Len()))
	testkit.None(t, err)
	return rows
}

func TestParquetRoundTrip(t *testing.T) {
	m, _ := write(t, testDocuments, testQueries, Parquet)
	docs := readParquet[Document](t, m["parquet/documents.parquet"])
	nulls := readParquet[struct {
		Text *string `parquet:"text,optional"`
	}](t, m["parquet/documents.parquet"])
	testkit.That(t, nulls[0].Text != nil && nulls[1].Text == nil, "an absent text is not null, or a text is")
	testkit.Deep(t, docs, testDocuments)
	var queries []Query
	for _, s := range []nq.Split{nq.Train, nq.Dev} {
		for _, r := range readParquet[queryRow](t, m["parquet/queries-"+string(s)+".parquet"]) {
			queries = append(queries, Query{ID: r.ID, Split: nq.Split(r.Split), Text: r.Text, DocID: r.DocID})
		}
	}
	testkit.Deep(t, queries, testQueries)
}

// Memory is bounded by row groups: many large texts make several.
func TestParquetRowGroups(t *testing.T) {
	m := memory{}
	out := &files{create: m.create}
	table, err := openTable[queryRow](out, "x.parquet")
	testkit.None(t, err)
	table.limit = 400
	for i := range 9 {
		testkit.None(t, table.add(queryRow{ID: fmt.Sprint(i)}, 100))
	}
	testkit.None(t, out.close())
	b := m["x.parquet"].Bytes()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	testkit.None(t, err)
	if n := len(f.RowGroups()); n != 3 || f.NumRows() != 9 {
		t.Errorf("%d row groups, %d rows", n, f.NumRows())
	}
}

// TestOneSplit: a split without queries has no files, and the card lists none.
func TestOneSplit(t *testing.T) {
	for _, c := range []struct {
		queries       []Query
		have, havenot string
	}{{testQueries[:2], "train", "dev"}, {testQueries[2:], "dev", "train"}, {nil, "", ""}} {
		m, s := write(t, testDocuments, c.queries, anyNames...)
		for name := range m {
			if c.havenot != "" && strings.Contains(name, c.havenot) || c.have == "" && strings.Contains(name, "queries-") {
				t.Errorf("%s is written for queries %+v", name, c.queries)
			}
		}
		for _, name := range []string{"jsonl/queries.%s.jsonl.gz", "parquet/queries-%s.parquet", "trec/topics.%s.trec", "trec/topics.%s.tsv", "trec/qrels.%s.txt", "beir/qrels/%s.tsv"} {
			if c.have != "" && m[fmt.Sprintf(name, c.have)] == nil {
				t.Errorf("%s is missing", fmt.Sprintf(name, c.have))
			}
		}
		var card bytes.Buffer
		testkit.None(t, WriteCard(&card, Card{Name: "n", Origin: NaturalQuestions}, s))
		if c.have == "" {
			if strings.Contains(card.String(), "split:") {
				t.Errorf("%s", card.String())
			}
			continue
		}
		if text := card.String(); strings.Contains(text, "split: "+c.havenot) || !strings.Contains(text, "split: "+c.have) || !strings.Contains(text, "It has no "+c.havenot+" split.") {
			t.Errorf("%s", text)
		}
	}
}

// TestQuotedNames: a document that is named by a title in quotes keeps its name for a
// loader that reads the judgements as CSV with tabs.
func TestQuotedNames(t *testing.T) {
	const name = `"Heroes"_(song)`
	m, _ := write(t, []Document{{ID: name, Title: "x", Train: 1}}, []Query{{ID: "1", Split: nq.Train, Text: "q", DocID: name}}, BEIR)
	r := csv.NewReader(m["beir/qrels/train.tsv"])
	r.Comma = '\t'
	rows, err := r.ReadAll()
	testkit.That(t, err == nil && len(rows) == 2 && rows[1][1] == name, rows, err)
}
