package msmarco

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
)

func TestParseDocument(t *testing.T) {
	for line, want := range map[string]Document{
		"D301595\thttp://a.example/x y\tA \"title\"\ta\tb\\t\x00 \"c": {301595, []byte("http://a.example/x y"), []byte(`A "title"`), []byte("a\tb\\t\x00 \"c")},
		"D0\t\t\t":                          {0, []byte{}, []byte{}, []byte{}},
		"D9223372036854775807\tu\t東京\tbody": {9223372036854775807, []byte("u"), []byte("東京"), []byte("body")},
	} {
		got, err := ParseDocument([]byte(line))
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
	for line, want := range map[string]string{
		"D1\tu\tt":                        "3 fields, want 4",
		"D1":                              "1 fields, want 4",
		"D1\tu\t\xff\tb":                  "not UTF-8",
		"1\tu\tt\tb":                      `docid "1" is not D and a number`,
		"D01\tu\tt\tb":                    `docid D "01"`,
		"D+1\tu\tt\tb":                    `docid D "+1"`,
		"D-1\tu\tt\tb":                    `docid D "-1"`,
		"D9223372036854775808\tu\tt\tb":   "want a whole number",
		"msmarco_doc_00_0\tu\ttitle\tbod": "is not D and a number",
	} {
		if _, err := ParseDocument([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func FuzzParseDocument(f *testing.F) {
	for _, s := range []string{"D1\tu\tt\tb", "D301595\thttp://a\t\"\t\t\x00", "D\t\t\t", "D1\tu\tt", "\xff\t\t\t", "D007\t\t\t"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		d, err := ParseDocument(line)
		if err != nil {
			if !errors.As(err, new(*fault)) {
				t.Fatalf("%q: %v is not a bad line", line, err)
			}
			return
		}
		if again := fmt.Sprintf("%s\t%s\t%s\t%s", Name(d.ID), d.URL, d.Title, d.Body); again != string(line) {
			t.Fatalf("%q is written as %q", line, again)
		}
		for _, form := range []Form{Content, TitleContent} {
			if text := form.Text(&d); len(text) > len(line) || d.Empty() && form == Content && strings.TrimSpace(text) != "" {
				t.Fatalf("%q: %s %q", line, form, text)
			}
		}
	})
}

// FuzzQuestions reads any lines as queries and as judgments.
func FuzzQuestions(f *testing.F) {
	f.Add([]byte("1\twho\n2\twhat\n"), []byte("1 0 D1 1\n2 0 D1 0\n3 0 D1 1\n1\t0\tD2\t2\r\n"))
	f.Add([]byte("1\n\xff\t\n1\twho\n1\twho"), []byte("1 0 1 1\nx 0 D1 1\n1 0 D1\n"))
	f.Fuzz(func(t *testing.T, queries, qrels []byte) {
		var q Questions
		var c QuestionCounts
		skip := Policy{Skip: true}
		if err := skip.EachLine(bytes.NewReader(queries), "queries", &c.Queries, q.AddQuery); err != nil {
			return // the input is a damaged file
		}
		read := len(q.Queries)
		if err := skip.EachLine(bytes.NewReader(qrels), "qrels", &c.Judgments, func(line []byte) error { return q.AddJudgment(line, false, &c) }); err != nil {
			return
		}
		q.Draw(3, 1, &c)
		if int64(read) != c.Queries.Records || int64(read) != c.Unjudged+c.NotDrawn+int64(len(q.Queries)) || len(q.Queries) > 3 || len(q.Relevant) != len(q.Queries) {
			t.Fatalf("%q %q: %d queries, %+v", queries, qrels, len(q.Queries), c)
		}
	})
}

func TestEachLine(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	fmt.Fprint(w, "one\r\n\n  \nbad\ntwo")
	w.Close()
	read := func(in []byte, p Policy) (lines []string, c nq.Counts, err error) {
		err = p.EachLine(bytes.NewReader(in), "f.tsv.gz", &c, func(line []byte) error {
			if string(line) == "bad" {
				return faultf(nq.BadType, "it is bad")
			}
			lines = append(lines, string(line))
			return nil
		})
		return lines, c, err
	}
	lines, c, err := read(z.Bytes(), Policy{Skip: true})
	if err != nil || !slices.Equal(lines, []string{"one", "two"}) || c.Records != 2 || c.Blank != 2 || c.SkippedTotal() != 1 || c.Named[0].Line != 4 || c.BytesIn != int64(z.Len()) {
		t.Errorf("%q %+v %v", lines, c, err)
	}
	for _, k := range []struct {
		in   []byte
		p    Policy
		want string
	}{
		{z.Bytes(), Policy{}, "f.tsv.gz:4: it is bad (type)"},
		{z.Bytes()[:z.Len()-9], Policy{Skip: true}, "f.tsv.gz:"},
		{[]byte("<!DOCTYPE html><html>"), Policy{Skip: true}, "f.tsv.gz:1: "},
		{nil, Policy{}, "f.tsv.gz:1: the file has no usable lines (empty-file)"},
		{[]byte("bad\n"), Policy{Skip: true}, ""},
		{nil, Policy{Empty: true}, ""},
	} {
		if _, _, err := read(k.in, k.p); k.want == "" && err != nil || k.want != "" && (err == nil || !strings.Contains(err.Error(), k.want)) {
			t.Errorf("%.40q: %v, want %q", k.in, err, k.want)
		}
	}
	failed := errors.New("the disk is gone")
	if err := (Policy{Skip: true}).EachLine(iotest.ErrReader(failed), "f", &c, nil); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	if err := (Policy{Skip: true}).EachLine(strings.NewReader("x\ny\n"), "f", &c, func([]byte) error { return failed }); !errors.Is(err, failed) || err.Error() != "f:1: the disk is gone" {
		t.Errorf("%v", err)
	}
}

// TestSample: the choice depends on neither order nor the files between which the numbers are
// divided.
func TestSample(t *testing.T) {
	numbers := rand.New(rand.NewPCG(1, 2)).Perm(1000)
	chosen := func(n int, seed uint64, lists ...[]int) (out []int) {
		joined := NewSample(n, seed)
		for _, list := range lists {
			part := NewSample(n, seed)
			for _, id := range list {
				if part.Offer(int64(id)) {
					joined.Offer(int64(id))
				}
			}
		}
		for id := range 1000 {
			if joined.Has(int64(id)) {
				out = append(out, id)
			}
		}
		return out
	}
	want := chosen(100, 42, numbers)
	slices.Sort(numbers)
	if len(want) != 100 || !slices.Equal(want, chosen(100, 42, numbers[:300], numbers[300:310], numbers[310:])) {
		t.Errorf("chosen %v", want)
	}
	if slices.Equal(want, chosen(100, 43, numbers)) {
		t.Error("another seed chooses the same")
	}
	for n, want := range map[int]int{0: 0, -1: 1000, 999: 999, 5000: 1000} {
		if got := chosen(n, 1, numbers); len(got) != want {
			t.Errorf("of %d: %d", n, len(got))
		}
	}
}

// TestCollection: what has no title to compare is one of its own, and a query of documents
// that became one has it once.
func TestCollection(t *testing.T) {
	c := NewCollection(func(title string) string { return strings.ReplaceAll(strings.ToLower(title), "[unk]", "[UNK]") })
	for i, title := range []string{"Fox", "", "FOX", "", "[UNK] !", "[UNK] !", "fox", "d1"} {
		if err := c.Add(&Document{ID: int64(i), Title: []byte(title)}); err != nil {
			t.Fatal(err)
		}
	}
	c.Drop(99)
	if err := c.Add(&Document{ID: 3}); err == nil || !strings.Contains(err.Error(), "D3 is in an earlier file") {
		t.Errorf("%v", err)
	}
	if c.Len() != 6 || c.Untitled() != 4 || c.Merged() != 2 {
		t.Errorf("%d documents, %d untitled, %d merged", c.Len(), c.Untitled(), c.Merged())
	}
	var q Questions
	var n QuestionCounts
	for _, line := range []string{"1\twho", "2\twhat", "3\twhere", "4\twhen"} {
		if err := q.AddQuery([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"1 0 D6 1", "1 0 D0 2", "1 0 D1 1", "2 0 D99 1", "3 0 D100 1", "3 0 D7 1"} {
		if err := q.AddJudgment([]byte(line), true, &n); err != nil {
			t.Fatal(err)
		}
	}
	q.Draw(0, 1, &n)
	var got []string
	put := func(q *dedup.Query) error {
		got = append(got, fmt.Sprint(q.Split, q.ExampleID, q.Question, q.Doc))
		return nil
	}
	if err := c.Ask(nq.Dev, &q, true, &QuestionCounts{}, put); err == nil || !strings.Contains(err.Error(), "dev query 3 and document D100: the document is in none") {
		t.Errorf("%v", err)
	}
	got = nil
	if err := c.Ask(nq.Train, &q, false, &n, put); err != nil {
		t.Fatal(err)
	}
	if want := []string{"train1who0", "train1who1", "train3where5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n.Asked != 2 || n.Several != 1 || n.Merged != 1 || n.Dropped != 1 || n.Missing != 1 || n.Documentless != 1 || n.Unjudged != 1 {
		t.Errorf("%+v", n)
	}
	if err := c.Ask(nq.Dev, &Questions{}, false, &QuestionCounts{}, put); err == nil || !strings.Contains(err.Error(), "no dev query has a document") {
		t.Errorf("%v", err)
	}
	if d, ok := c.Represents(&Document{ID: 1, URL: []byte("u"), Title: []byte(" ")}, 1); !ok || d != (dedup.Document{Doc: 1, Key: "D1", ExampleID: 1, URL: "u", Train: 1, Dev: 1}) {
		t.Errorf("%+v, %v", d, ok)
	}
	if _, ok := c.Represents(&Document{ID: 2}, 2); ok {
		t.Error("a merged document represents itself")
	}
}

func TestAddJudgment(t *testing.T) {
	var q Questions
	if err := q.AddQuery([]byte("1\twho")); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"1 0 D1":    "3 fields, want 4",
		"1 0 1 1":   `docid "1" is not D and a number`,
		"q1 0 D1 1": `query "q1"`,
		"2 0 D1 1":  "query 2 and document D1: the query is in none of the files",
	} {
		if err := q.AddJudgment([]byte(line), true, &QuestionCounts{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	for line, want := range map[string]string{"1\twhat": "query 1 was there before", "2": "1 field", "2\t ": "no words", "2\t\xff": "UTF-8", "02\tq": "whole number"} {
		if err := q.AddQuery([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
