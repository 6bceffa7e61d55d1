package collect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// sifted reads files of documents through Sift, as parts do, and joins what each kept.
func sifted(t *testing.T, o Options, queries, qrels string, documents ...string) (docs []string, c *Collection) {
	t.Helper()
	asked := func() *Questions {
		q := NewQuestions(o)
		if _, err := q.ReadQueries(t.Context(), memory("q", queries), Reading{Format: TSV}, nq.Train); err != nil {
			t.Fatal(err)
		}
		if _, err := q.ReadJudgments(t.Context(), memory("r", qrels), Reading{Format: TSV}, nq.Train); err != nil {
			t.Fatal(err)
		}
		q.Settle()
		return q
	}
	c = NewCollection(asked())
	var kept []File
	for i, text := range documents {
		part := NewCollection(asked())
		var b strings.Builder
		if _, err := part.Sift(t.Context(), memory(fmt.Sprint("d", i), text), Reading{Format: TSV}, func(d Sifted) error {
			return json.NewEncoder(&b).Encode(&d)
		}); err != nil {
			t.Fatal(err)
		}
		c.Join(part.Report)
		kept = append(kept, memory(fmt.Sprint("d", i), b.String()))
	}
	put := func(d *Document) error {
		docs = append(docs, fmt.Sprintf("%d %s %s %d", d.Doc, d.Key, d.Text, d.Train))
		return nil
	}
	read := func(f File) (err error) {
		if c.Twice() {
			return c.Rewrite(t.Context(), f, Reading{Format: JSONL}, put)
		}
		_, err = c.ReadDocuments(t.Context(), f, Reading{Format: JSONL}, put)
		return err
	}
	if c.Twice() {
		for _, f := range kept {
			if _, err := c.Gather(t.Context(), f, Reading{Format: JSONL}); err != nil {
				t.Fatal(err)
			}
		}
		c.Number()
	}
	for _, f := range kept {
		if err := read(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	return docs, c
}

func TestSift(t *testing.T) {
	docs, c := sifted(t, Options{Relevant: 1, Keep: KeepRelevant, Drop: true}, "1\twho\n2\twhat\n", "1 0 D1 1\n2 0 D2 1\n2 0 D3 0\n2 0 D4 1\n",
		"D1\tu\tOne\ta\nD9\tu\tNine\tb\n", "D2\tu\tTwo\tc\nD3\tu\tThree\td\nD4\tu\tFour\t \n")
	if got := strings.Join(docs, "; "); got != "0 D1 a 1; 1 D2 c 1" {
		t.Errorf("%s", got)
	}
	if r := c.Report; r.Unjudged != 2 || r.Dropped != 1 || r.Empty != 1 || r.Judged != 2 || r.Lines.Records != 5 {
		t.Errorf("%+v", r)
	}
}
