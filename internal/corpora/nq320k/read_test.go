package nq320k

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// folder is a package in memory, files by name, uncompressed.
type folder map[string]string

func (f folder) open(name string) (io.ReadCloser, error) {
	text, ok := f[name]
	if !ok {
		return nil, errors.New("no " + name)
	}
	if !strings.HasSuffix(name, ".gz") {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		return nil, err
	}
	return io.NopCloser(&b), z.Close()
}

// three is a package of three documents: document 0 has a dev and two train queries.
func three(t *testing.T) folder {
	t.Helper()
	f := folder{}
	add := func(name string, rows ...Row) int {
		var b []byte
		for i := range rows {
			b = rows[i].Append(b)
		}
		f[name] = string(b)
		return len(rows)
	}
	counts := [3]int{
		add(Documents, Row{"0", DocumentRow, "text\nof 0", "Zero", []string{"13", "-1", "11"}}, Row{"1", DocumentRow, "", "One", []string{"12"}}, Row{"2", DocumentRow, "text of 2", "", []string{"14"}}),
		add(TrainQueries, Row{"0", QueryRow, "q -1", "", []string{"-1"}}, Row{"0", QueryRow, "q 11", "", []string{"11"}}, Row{"2", QueryRow, "q 14", "", []string{"14"}}),
		add(ValidationQueries, Row{"1", QueryRow, "q 12", "", []string{"12"}}, Row{"0", QueryRow, "q 13", "", []string{"13"}}),
	}
	var b bytes.Buffer
	testkit.None(t, WriteMetadata(&b, Variant{"htmlnorm", "pageid"}, counts))
	f[MetadataFile] = b.String()
	return f
}

func (f folder) read() (c Contents, documents []dedup.Document, queries []dedup.Query, texts []string, err error) {
	c, err = Read(f.open, Visitor{
		Query: func(q *dedup.Query) error { queries = append(queries, *q); return nil },
		Document: func(d *dedup.Document, text string) error {
			documents, texts = append(documents, *d), append(texts, text)
			return nil
		},
	})
	return c, documents, queries, texts, err
}

func TestRead(t *testing.T) {
	c, documents, queries, texts, err := three(t).read()
	testkit.None(t, err)
	if want := (Contents{TextStyle: "htmlnorm", DedupMethod: "pageid", Documents: 3, Train: 3, Dev: 2, WithoutText: 1}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	if want := []dedup.Document{
		{Doc: 0, ExampleID: 13, Split: nq.Dev, Title: "Zero", Train: 2, Dev: 1},
		{Doc: 1, ExampleID: 12, Split: nq.Dev, Title: "One", Dev: 1},
		{Doc: 2, ExampleID: 14, Split: nq.Train, Train: 1},
	}; !reflect.DeepEqual(documents, want) {
		t.Errorf("%+v", documents)
	}
	if want := []dedup.Query{{ExampleID: -1, Split: nq.Train, Question: "q -1", Doc: 0}, {ExampleID: 11, Split: nq.Train, Question: "q 11", Doc: 0}, {ExampleID: 14, Split: nq.Train, Question: "q 14", Doc: 2}, {ExampleID: 12, Split: nq.Dev, Question: "q 12", Doc: 1}, {ExampleID: 13, Split: nq.Dev, Question: "q 13", Doc: 0}}; !reflect.DeepEqual(queries, want) {
		t.Errorf("%+v", queries)
	}
	testkit.Deep(t, texts, []string{"text\nof 0", "", "text of 2"})
}

// TestReadOtherSources: source ids that are not the queries' are counted, whichever way
// they differ; their order does not matter.
func TestReadOtherSources(t *testing.T) {
	for ids, want := range map[string]int{`"13", "-1", "11"`: 0, `"11", "13", "-1"`: 0, `"13", "-1"`: 1, `"13", "-1", "11", "99"`: 1, `"13", "13", "11"`: 1, ``: 1} {
		f := three(t)
		f[Documents] = strings.Replace(f[Documents], `"13", "-1", "11"`, ids, 1)
		if c, _, _, _, err := f.read(); err != nil || c.OtherSources != want {
			t.Errorf("%s: %d, %v", ids, c.OtherSources, err)
		}
	}
}

// TestReadRefuses: what is wrong is named with file and line.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, old, new, want string }{
		{"missing docid", ValidationQueries, `"docid": "0"`, `"docid": "3"`, `validation_queries.jsonl.gz: line 2: docid "3" is not a document: metadata.json says that there are 3`},
		{"no number", TrainQueries, `"docid": "2"`, `"docid": "02"`, `train_queries.jsonl.gz: line 3: docid "02" is not a number`},
		{"docid is a number", TrainQueries, `"docid": "2"`, `"docid": 2`, "train_queries.jsonl.gz: line 3: json"},
		{"no docid", TrainQueries, `"docid": "2", `, ``, "train_queries.jsonl.gz: line 3: there is no field docid"},
		{"no sources", Documents, `, "source_ids": ["14"]`, ``, "documents.jsonl.gz: line 3: there is no field source_ids"},
		{"bad source", TrainQueries, `["14"]`, `["a"]`, `train_queries.jsonl.gz: line 3: source id "a" is not an example id`},
		{"other kind", Documents, `"kind": "document", "text": ""`, `"kind": "query", "text": ""`, `documents.jsonl.gz: line 2: kind "query", want "document"`},
		{"twice", Documents, `"docid": "1"`, `"docid": "0"`, `documents.jsonl.gz: line 2: docid "0" occurs twice`},
		{"out of order", Documents, `"docid": "1"`, `"docid": "2"`, `documents.jsonl.gz: line 2: docid "2" where 1 is expected`},
		{"query twice", TrainQueries, `["11"]`, `["-1"]`, "train_queries.jsonl.gz: line 2: source id -1 occurs twice"},
		{"two sources", TrainQueries, `["11"]`, `["11", "15"]`, "train_queries.jsonl.gz: line 2: a query has one source id, this one 2"},
		{"no query", TrainQueries, `"docid": "2"`, `"docid": "1"`, "documents.jsonl.gz: line 3: no query asks for document 2"},
		{"cut", ValidationQueries, "\n", "\n!", "validation_queries.jsonl.gz: line 2: invalid character"},
		{"fewer", MetadataFile, `"num_rows": 2`, `"num_rows": 3`, "validation_queries.jsonl.gz has 2 rows, metadata.json says 3"},
		{"version", MetadataFile, `"format_version": 1`, `"format_version": 2`, `metadata.json: format "nq320k_package" version 2; this program reads "nq320k_package" version 1`},
		{"format", MetadataFile, "nq320k_package", "other", `metadata.json: format "other"`},
		{"split", MetadataFile, `"train_queries":`, `"train":`, "metadata.json: has no split train_queries"},
		{"file", MetadataFile, "documents.jsonl.gz", "d.jsonl.gz", `split documents has the data file "d.jsonl.gz"`},
		{"huge", MetadataFile, `"num_rows": 3`, `"num_rows": 3000000000000`, "documents.jsonl.gz has 3 rows, metadata.json says 3000000000000"},
		{"no JSON", MetadataFile, "{", "", "metadata.json: invalid character"},
		{"other members", Documents, `"docid": "2"`, `"docid": "2", "more": 1`, ""},
	} {
		f := three(t)
		if !strings.Contains(f[c.file], c.old) {
			t.Fatalf("%s: %s has no %s", c.name, c.file, c.old)
		}
		f[c.file] = strings.Replace(f[c.file], c.old, c.new, 1)
		if _, _, _, _, err := f.read(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, missing := range slices.Sorted(maps.Keys(three(t))) {
		f := three(t)
		delete(f, missing)
		_, _, _, _, err := f.read()
		testkit.ErrSays(t, err, missing)
	}
	f := three(t)
	cut := func(name string) (io.ReadCloser, error) {
		r, err := f.open(name)
		if err != nil || name != Documents {
			return r, err
		}
		b, err := io.ReadAll(r)
		return io.NopCloser(bytes.NewReader(b[:len(b)-9])), err
	}
	if _, err := Read(cut, Visitor{func(*dedup.Query) error { return nil }, func(*dedup.Document, string) error { return nil }}); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(fmt.Sprint(err), Documents) {
		t.Errorf("a file that ends early: %v", err)
	}
	row := Row{"3", DocumentRow, "t", "", []string{"1"}}
	f[Documents] += string(row.Append(nil))
	_, _, _, _, err := f.read()
	testkit.ErrSays(t, err, `documents.jsonl.gz: line 4: docid "3": metadata.json says that there are 3 documents`)
}

// TestReadVisitorFails: an error of the visitor keeps its place.
func TestReadVisitorFails(t *testing.T) {
	boom := errors.New("boom")
	none := func(*dedup.Query) error { return nil }
	_, err := Read(three(t).open, Visitor{Query: func(*dedup.Query) error { return boom }})
	testkit.That(t, errors.Is(err, boom) && strings.Contains(fmt.Sprint(err), TrainQueries+": line 1"), err)
	_, err = Read(three(t).open, Visitor{Query: none, Document: func(*dedup.Document, string) error { return boom }})
	testkit.That(t, errors.Is(err, boom) && strings.Contains(fmt.Sprint(err), Documents+": line 1"), err)
}
