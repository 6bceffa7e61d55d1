package export

import (
	"bytes"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestThirdSplit: a collection with names, grades and a test split keeps them in every format.
func TestThirdSplit(t *testing.T) {
	docs := []Document{{ID: "a", Title: "A", Text: "one", Test: 1}, {ID: "b", Text: "two", Test: 1}, {ID: "c", Text: "three", ExampleID: 2, Train: 1}}
	m, s := write(t, docs, []Query{
		{ID: "q1", Split: nq.Train, Text: "who", DocID: "c", Graded: true},
		{ID: "q2", Split: nq.Test, Text: "what", DocID: "a", Grade: 3, Graded: true, Judged: []Judgment{{"a", 3}, {"c", 0}, {"b", 1}}},
		{ID: "q2", Split: nq.Test, Text: "what", DocID: "b", Graded: true, Judged: []Judgment{{"a", 3}, {"c", 0}, {"b", 1}}},
	}, anyNames...)
	testkit.That(t, s.Train == 1 && s.Dev == 0 && s.Test == 1 && s.Graded, s)
	for name, want := range map[string]string{
		"trec/qrels.train.txt": "q1 0 c 1\n", "trec/qrels.test.txt": "q2 0 a 3\nq2 0 c 0\nq2 0 b 1\n",
		"beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\ta\t3\nq2\tc\t0\nq2\tb\t1\n", "trec/topics.test.tsv": "q2\twhat\n",
	} {
		if got := m[name]; got == nil || got.String() != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	rows := readParquet[gradedRow](t, m["parquet/queries-test.parquet"])
	testkit.That(t, len(rows) == 2 && rows[0].Grade == 3 && rows[1].Grade == 1 && rows[1].DocID == "b", rows)
	text := gunzip(t, m["jsonl/queries.test.jsonl.gz"]).String()
	testkit.Says(t, text, `"doc_id":"a","grade":3}`, `"doc_id":"b"}`)
	var card bytes.Buffer
	testkit.None(t, WriteCard(&card, Card{Name: "n", Origin: Other, Key: "k", KeyDoc: "k"}, s))
	for _, want := range []string{"3 documents, 1 train, 0 dev and 1 test queries.\nIt has no dev split.\n", "queries of all splits", "  - split: test\n    path: parquet/queries-test.parquet", "query, 0, document, grade"} {
		testkit.Says(t, card.String(), want)
	}
	for _, f := range s.Files {
		if describe(s, f.Name) == "" {
			t.Errorf("the card does not describe %s", f.Name)
		}
	}
}
