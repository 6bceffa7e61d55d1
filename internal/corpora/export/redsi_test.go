package export

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// stored is the collection of testdata/redsi, as tools/golden/exports.py reads it too.
type stored struct {
	Style, Key string
	Documents  []struct {
		ID, Title, Text string
		Examples        []int64
	}
	Queries []struct {
		ID, Split, Text string
		DocID           string `json:"doc_id"`
	}
}

// numbered is that collection with identifiers.
func numbered(t *testing.T) Collection {
	t.Helper()
	var s stored
	goldens.JSON(t, filepath.Join("testdata", "redsi", "collection.json"), &s)
	var docs []Document
	var ids []Identifier
	for i, d := range s.Documents {
		docs = append(docs, Document{ID: d.ID, Title: "not this one", Text: d.Text, URLTitle: d.Title, Examples: d.Examples})
		ids = append(ids, Identifier{DocID: d.ID, Text: strings.Repeat("7", i+1), Tokens: []int32{int32(i), 1}})
	}
	var queries []Query
	for _, q := range s.Queries {
		queries = append(queries, Query{ID: q.ID, Split: nq.Split(q.Split), Text: q.Text, DocID: q.DocID})
	}
	return Collection{Documents: each(docs), Queries: each(queries), Identifiers: []Identifiers{{"naive", each(ids)}},
		Variant: nq320k.Variant{Style: s.Style, Key: s.Key}}
}

// TestRedsiGolden: the bytes are as Python writes them: tools/golden/exports.py.
func TestRedsiGolden(t *testing.T) {
	m := memory{}
	s, err := Write(numbered(t), []Format{Redsi}, m.create)
	testkit.None(t, err)
	for _, name := range nq320k.Files() {
		got := m["data/simplenorm/ncititle/"+name]
		if strings.HasSuffix(name, ".gz") {
			if stamp := got.Bytes()[3:8]; !bytes.Equal(stamp, make([]byte, 5)) {
				t.Errorf("%s: flags and time %v in its head", name, stamp)
			}
			got = gunzip(t, got)
		}
		want := goldens.Text(t, filepath.Join("testdata", "redsi", strings.TrimSuffix(name, ".gz")))
		testkit.Is(t, got.String(), string(want), name, got)
	}
	testkit.That(t, len(s.Files) == 5 && s.Variant.Config() == "simplenorm-ncititle", s)
}

// TestIdentifiers: every document has one of each type, under the name that it has in the other files.
func TestIdentifiers(t *testing.T) {
	m := memory{}
	s, err := Write(numbered(t), Formats(), m.create)
	testkit.None(t, err)
	want := []Identifier{{"0", "7", []int32{0, 1}}, {"1", "77", []int32{1, 1}}, {"2", "777", []int32{2, 1}}}
	testkit.Deep(t, readJSONLines[Identifier](t, gunzip(t, m["identifiers/naive.jsonl.gz"])), want)
	testkit.Deep(t, readParquet[Identifier](t, m["parquet/identifiers-naive.parquet"]), want)
	var card bytes.Buffer
	testkit.None(t, WriteCard(&card, Card{Name: "n", Origin: NaturalQuestions}, s))
	for _, want := range []string{
		"- config_name: identifiers\n  data_files:\n  - split: naive\n    path: parquet/identifiers-naive.parquet\n",
		`load_dataset("json", data_files={"documents": "data/simplenorm/ncititle/documents.jsonl.gz", "train_queries": `,
	} {
		testkit.Says(t, card.String(), want)
	}
	for _, f := range s.Files {
		if describe(s, f.Name) == "" {
			t.Errorf("the card does not describe %s", f.Name)
		}
	}
	if strings.Contains(card.String(), "config_name: simplenorm") {
		t.Errorf("the card has configurations of several types of files:\n%s", card.String())
	}
	// Without Parquet the configurations name the JSON lines.
	if s, err = Write(numbered(t), []Format{JSONL, Redsi}, memory{}.create); err != nil {
		t.Fatal(err)
	}
	card.Reset()
	testkit.None(t, WriteCard(&card, Card{Name: "n", Origin: NaturalQuestions}, s))
	for _, config := range []string{"  data_files: jsonl/documents.jsonl.gz\n", "path: identifiers/naive.jsonl.gz\n",
		"- config_name: simplenorm-ncititle\n  data_files:\n  - split: documents\n    path: data/simplenorm/ncititle/documents.jsonl.gz\n"} {
		testkit.Says(t, card.String(), config)
	}
}

func TestRedsiRefuses(t *testing.T) {
	for want, edit := range map[string]func(*Collection){
		"documents by number":           func(c *Collection) { c.Documents = each([]Document{{ID: "a"}}) },
		"needs a style and a key":       func(c *Collection) { c.Variant = nq320k.Variant{} },
		"a name has lower-case letters": func(c *Collection) { c.Identifiers[0].Name = "../naive" },
		"0 for 3 documents":             func(c *Collection) { c.Identifiers[0].Each = each([]Identifier{}) },
		"has several documents": func(c *Collection) {
			c.Queries = each([]Query{{ID: "1", Split: nq.Dev, DocID: "0"}, {ID: "1", Split: nq.Dev, DocID: "1"}})
		},
		`"7" is not a document`: func(c *Collection) { c.Identifiers[0].Each = each([]Identifier{{DocID: "7"}}) },
		`document "0" has two`:  func(c *Collection) { c.Identifiers[0].Each = each([]Identifier{{DocID: "0"}, {DocID: "0"}}) },
	} {
		c := numbered(t)
		edit(&c)
		if s, err := Write(c, Formats(), memory{}.create); err == nil || !strings.Contains(err.Error(), want) || s.Files != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}
