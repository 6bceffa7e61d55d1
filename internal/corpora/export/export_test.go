package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/errtest"
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
	errtest.None(t, err)
	return m, s
}

func TestSummary(t *testing.T) {
	m, s := write(t, testDocuments, testQueries, anyNames...)
	if s.Documents != 3 || s.Texts != 2 || s.Train != 2 || s.Dev != 2 || s.Respaced != 1 {
		t.Errorf("%+v", s)
	}
	var names []string
	for _, f := range s.Files {
		names = append(names, f.Name)
		if f.Bytes != int64(m[f.Name].Len()) || len(f.SHA256) != 64 {
			t.Errorf("%+v: %d bytes", f, m[f.Name].Len())
		}
		if describe(Summary{}, f.Name) == "" {
			t.Errorf("the card does not describe %s", f.Name)
		}
	}
	if want := slices.Sorted(maps.Keys(m)); !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
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

func TestJSONLRoundTrip(t *testing.T) {
	m, _ := write(t, testDocuments, testQueries, JSONL)
	if got := readJSONLines[Document](t, gunzip(t, m["jsonl/documents.jsonl.gz"])); !reflect.DeepEqual(got, testDocuments) {
		t.Errorf("%+v", got)
	}
	var queries []Query
	for _, s := range []nq.Split{nq.Train, nq.Dev} {
		queries = append(queries, readJSONLines[Query](t, gunzip(t, m["jsonl/queries."+string(s)+".jsonl.gz"]))...)
	}
	if !reflect.DeepEqual(queries, testQueries) {
		t.Errorf("%+v", queries)
	}
}

func readParquet[T any](t *testing.T, b *bytes.Buffer) []T {
	t.Helper()
	rows, err := parquet.Read[T](bytes.NewReader(b.Bytes()), int64(b.Len()))
	errtest.None(t, err)
	return rows
}

func absent[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func TestParquetRoundTrip(t *testing.T) {
	m, _ := write(t, testDocuments, testQueries, Parquet)
	var docs []Document
	for _, r := range readParquet[documentRow](t, m["parquet/documents.parquet"]) {
		if r.Text != nil && *r.Text == "" {
			t.Error("an absent text is not null")
		}
		docs = append(docs, Document{ID: r.ID, Title: r.Title, Text: absent(r.Text), Key: r.Key, URL: r.URL, OldID: absent(r.OldID), PageID: absent(r.PageID), ExampleID: r.ExampleID, Train: r.Train, Dev: r.Dev})
	}
	if !reflect.DeepEqual(docs, testDocuments) {
		t.Errorf("%+v", docs)
	}
	var queries []Query
	for _, s := range []nq.Split{nq.Train, nq.Dev} {
		for _, r := range readParquet[queryRow](t, m["parquet/queries-"+string(s)+".parquet"]) {
			queries = append(queries, Query{ID: r.ID, Split: nq.Split(r.Split), Text: r.Text, DocID: r.DocID})
		}
	}
	if !reflect.DeepEqual(queries, testQueries) {
		t.Errorf("%+v", queries)
	}
}

// Memory is bounded by row groups: many large texts make several.
func TestParquetRowGroups(t *testing.T) {
	m := memory{}
	out := &files{create: m.create}
	table, err := openTable[queryRow](out, "x.parquet")
	errtest.None(t, err)
	table.limit = 400
	for i := range 9 {
		errtest.None(t, table.add(queryRow{ID: fmt.Sprint(i)}, 100))
	}
	errtest.None(t, out.close())
	b := m["x.parquet"].Bytes()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	errtest.None(t, err)
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
		errtest.None(t, WriteCard(&card, Card{Name: "n", Origin: NaturalQuestions}, s))
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
	if err != nil || len(rows) != 2 || rows[1][1] != name {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestTRECRoundTrip(t *testing.T) {
	m, _ := write(t, testDocuments, testQueries, TREC)
	var queries []Query
	for _, s := range []nq.Split{nq.Train, nq.Dev} {
		text := map[string]string{}
		for _, top := range strings.Split(m["trec/topics."+string(s)+".trec"].String(), "<top>\n")[1:] {
			lines := strings.Split(top, "\n")
			if lines[2] != "</top>" {
				t.Fatalf("topic %q", top)
			}
			text[strings.TrimPrefix(lines[0], "<num> Number: ")] = html.UnescapeString(strings.TrimPrefix(lines[1], "<title> "))
			if strings.ContainsAny(strings.TrimPrefix(lines[1], "<title>"), "<>") {
				t.Errorf("topic %q has markup of its own", lines[1])
			}
		}
		target := map[string]string{}
		for line := range strings.Lines(m["trec/qrels."+string(s)+".txt"].String()) {
			f := strings.Fields(line)
			if len(f) != 4 || f[1] != "0" || f[3] != "1" {
				t.Fatalf("judgement %q", line)
			}
			target[f[0]] = f[2]
		}
		for line := range strings.Lines(m["trec/topics."+string(s)+".tsv"].String()) {
			id, question, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !ok || text[id] != question {
				t.Errorf("topic %q in TREC form is %q", line, text[id])
			}
			queries = append(queries, Query{ID: id, Split: s, Text: question, DocID: target[id]})
		}
	}
	want := slices.Clone(testQueries)
	want[1].Text = "when was elsa made"
	if !reflect.DeepEqual(queries, want) {
		t.Errorf("%+v", queries)
	}
}

func TestBEIRRoundTrip(t *testing.T) {
	m, _ := write(t, testDocuments, testQueries, BEIR)
	docs := readJSONLines[beirDocument](t, m["beir/corpus.jsonl"])
	for i, d := range docs {
		w := testDocuments[i]
		if d != (beirDocument{w.ID, w.Title, w.Text, beirMetadata{w.URL, w.OldID, w.PageID}}) {
			t.Errorf("%+v", d)
		}
	}
	texts := map[string]string{}
	for _, q := range readJSONLines[beirQuery](t, m["beir/queries.jsonl"]) {
		texts[q.ID] = q.Text
	}
	var queries []Query
	for _, s := range []nq.Split{nq.Train, nq.Dev} {
		lines := slices.Collect(strings.Lines(m["beir/qrels/"+string(s)+".tsv"].String()))
		if lines[0] != "query-id\tcorpus-id\tscore\n" {
			t.Errorf("head %q", lines[0])
		}
		for _, line := range lines[1:] {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(f) != 3 || f[2] != "1" {
				t.Fatalf("judgement %q", line)
			}
			queries = append(queries, Query{ID: f[0], Split: s, Text: texts[f[0]], DocID: f[1]})
		}
	}
	if len(docs) != 3 || !reflect.DeepEqual(queries, testQueries) {
		t.Errorf("%d documents, %+v", len(docs), queries)
	}
}

// TestSeveralDocuments: a question with two documents is one topic with two judgments.
func TestSeveralDocuments(t *testing.T) {
	query := func(id, target string) Query { return Query{ID: id, Split: nq.Dev, Text: "who", DocID: target} }
	m := memory{}
	s, err := Write(Collection{Documents: each([]Document{{ID: "a"}, {ID: "b"}}), Queries: each([]Query{query("1", "b"), query("1", "a"), query("2", "a")})}, []Format{JSONL, TREC, BEIR}, m.create)
	if err != nil || s.Dev != 2 {
		t.Fatal(s, err)
	}
	for name, want := range map[string]string{
		"trec/topics.dev.tsv": "1\twho\n2\twho\n",
		"trec/qrels.dev.txt":  "1 0 b 1\n1 0 a 1\n2 0 a 1\n",
		"beir/qrels/dev.tsv":  "query-id\tcorpus-id\tscore\n1\tb\t1\n1\ta\t1\n2\ta\t1\n",
	} {
		if got := m[name].String(); got != want {
			t.Errorf("%s\n%swant\n%s", name, got, want)
		}
	}
	if n := strings.Count(m["beir/queries.jsonl"].String(), "\n"); n != 2 {
		t.Errorf("%d topics", n)
	}
}
