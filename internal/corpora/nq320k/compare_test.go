package nq320k

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// group is a document with the examples that ask for it.
type group struct {
	title, text string
	examples    []int64 // negative ones are of dev
}

// collection stores groups, numbered in order.
func collection(t *testing.T, groups []group, question func(int64) string) Collection {
	t.Helper()
	var documents, queries, texts bytes.Buffer
	w, err := corpus.NewWriter(&texts)
	testkit.None(t, err)
	err = dedup.WriteLines(&documents, func(document func(any) error) error {
		return dedup.WriteLines(&queries, func(query func(any) error) error {
			for i, g := range groups {
				d := dedup.Document{Doc: int32(i), ExampleID: g.examples[0], Title: g.title}
				for _, id := range g.examples {
					q := dedup.Query{ExampleID: id, Split: nq.Train, Question: question(id), Doc: int32(i)}
					if d.Train++; id < 0 {
						d.Train--
						d.Dev++
						q.Split, q.ExampleID = nq.Dev, -id
					}
					if err := query(&q); err != nil {
						return err
					}
				}
				if err := document(&d); err != nil {
					return err
				}
				if g.text != "" {
					if err := w.Write(corpus.Document{Doc: int32(i), Text: g.text}); err != nil {
						return err
					}
				}
			}
			return w.Close()
		})
	})
	testkit.None(t, err)
	file := func(b *bytes.Buffer) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	}
	return Collection{Documents: file(&documents), Queries: file(&queries), Corpus: func() (*corpus.Reader, func(), error) {
		r, err := corpus.NewReader(bytes.NewReader(texts.Bytes()))
		return r, func() { r.Close() }, err
	}}
}

func question(id int64) string { return "q" }

func compare(t *testing.T, a, b []group, limit int) *Comparison {
	t.Helper()
	c, err := Compare(collection(t, a, question), collection(t, b, question), limit)
	testkit.None(t, err)
	return c
}

func TestCompareSame(t *testing.T) {
	same := []group{{"A", "text", []int64{1, -2}}, {"B", "", []int64{3}}}
	for _, limit := range []int{0, 5} {
		c := compare(t, same, same, limit)
		if !c.AllSame || c.Documents.SameRecords != 2 || c.Documents.SameNumber != 2 || c.Texts.Same != 2 || c.Titles.Same != 2 || c.Queries.Both != 3 {
			t.Errorf("%+v", c)
		}
	}
}

// TestCompare has each kind of difference once.
func TestCompare(t *testing.T) {
	long := strings.Repeat("ä", 100)
	ours := []group{
		{"A", "same text", []int64{1, 2}},
		{"B", long + "x" + long, []int64{3}},
		{"C c", "white  space", []int64{-4}},
		{"D", "", []int64{5}},
		{"only", "t", []int64{6}},
		{"whole", "t", []int64{-7, 8, 9}},
		{"moved", "t", []int64{10}},
	}
	theirs := []group{
		{"B", long + "yz", []int64{3}},
		{"A", "same text", []int64{1, 2}},
		{"C d", "white space", []int64{-4}},
		{"D", "text", []int64{5}},
		{"theirs", "t", []int64{60}},
		{"whole", "t", []int64{-7, 8}},
		{"moved", "t", []int64{-10}},
		{"part", "t", []int64{9}},
	}
	got := compare(t, ours, theirs, 2)
	want := &Comparison{}
	d := &want.Documents
	d.Ours, d.Package, d.Pairs, d.SameRecords, d.SameNumber = 7, 8, 6, 5, 4
	d.OnlyOurs, d.OnlyPackage, d.RegroupedPackage = 1, 1, 1
	want.Titles.Same, want.Titles.Differ = 5, 1
	want.Texts.Same, want.Texts.OnlyWhiteSpace, want.Texts.Differ, want.Texts.OnlyOneHasAText = 3, 1, 1, 1
	q := &want.Queries
	q.Ours, q.Package, q.Both, q.OtherSplit, q.OtherTarget, q.OnlyOurs, q.OnlyPackage = 10, 10, 9, 1, 1, 1, 1
	shown := got.Differences
	got.Differences = nil
	testkit.Deep(t, got, want)
	kinds := map[string]int{}
	for _, s := range shown {
		kinds[s.What]++
		switch s.What {
		case "text":
			if s.At != 100 || s.Ours != long[:2*before]+"x"+long[:2*(after-1)]+"…" || s.Package != long[:2*before]+"yz" || *s.OursDocument != 1 || *s.PackageDocument != 0 || s.ExampleID != 3 {
				t.Errorf("%+v", s)
			}
		case "text of one only":
			testkit.That(t, s.Ours == "" && s.Package == "text" && s.ExampleID == 5, s)
		case "title":
			testkit.That(t, s.At == 2 && s.Ours == "C c" && s.Package == "C d", s)
		case "split":
			testkit.That(t, s.Ours == "train" && s.Package == "dev" && s.ExampleID == 10, s)
		case "target":
			testkit.That(t, s.Ours == "whole" && s.Package == "part" && s.ExampleID == 9, s)
		}
	}
	if want := map[string]int{"text": 1, "white space": 1, "text of one only": 1, "title": 1, "number": 2, "records": 1, "split": 1, "target": 1,
		"only in ours": 1, "only in package": 1, "regrouped in package": 1, "query only in ours": 1, "query only in package": 1}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	if c := compare(t, ours, theirs, 0); c.AllSame || len(c.Differences) != 0 {
		t.Errorf("%+v", c)
	}
}

// TestCompareQuestions: a question that was rewritten.
func TestCompareQuestions(t *testing.T) {
	groups := []group{{"A", "t", []int64{1}}}
	c, err := Compare(collection(t, groups, question), collection(t, groups, func(int64) string { return "Q" }), 1)
	testkit.None(t, err)
	if c.AllSame || c.Queries.OtherText != 1 || c.Differences[0].What != "question" || c.Differences[0].Package != "Q" {
		t.Errorf("%+v", c)
	}
}

func TestCompareRefuses(t *testing.T) {
	groups := []group{{"A", "t", []int64{1}}}
	broken := collection(t, groups, question)
	broken.Queries = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("no stream")), nil }
	testkit.ErrSays(t, testkit.Err(Compare(collection(t, groups, question), broken, 1)), "the package: queries: ")
	other := collection(t, groups, question)
	other.Corpus = collection(t, append(groups, groups...), question).Corpus
	testkit.ErrSays(t, testkit.Err(Compare(other, collection(t, groups, question), 1)), "ours: the corpus has a document 1, the collection has 1")
	empty := collection(t, []group{{"A", "t", []int64{1}}, {"B", "t", []int64{2}}}, question)
	empty.Queries = collection(t, groups, question).Queries
	testkit.ErrSays(t, testkit.Err(Compare(empty, collection(t, groups, question), 1)), "ours: document 1 has no query")
}
