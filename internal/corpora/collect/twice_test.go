package collect

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// sifted reads files of documents through Sift, as parts do, and joins what each kept.
func sifted(t *testing.T, o Options, queries, qrels string, documents ...string) (docs []string, c *Collection) {
	t.Helper()
	asked := func() *Questions {
		q := NewQuestions(o)
		testkit.None(t, testkit.Err(q.ReadQueries(t.Context(), memory("q", queries), Reading{Format: TSV}, nq.Train)))
		testkit.None(t, testkit.Err(q.ReadJudgments(t.Context(), memory("r", qrels), Reading{Format: TSV}, nq.Train)))
		q.Settle()
		return q
	}
	c = NewCollection(asked())
	var kept []File
	for i, text := range documents {
		part := NewCollection(asked())
		var b strings.Builder
		testkit.None(t, testkit.Err(part.Sift(t.Context(), memory(fmt.Sprint("d", i), text), Reading{Format: TSV}, func(d Sifted) error {
			return json.NewEncoder(&b).Encode(&d)
		})))
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
			testkit.None(t, testkit.Err(c.Gather(t.Context(), f, Reading{Format: JSONL})))
		}
		c.Number()
	}
	for _, f := range kept {
		testkit.None(t, read(f))
	}
	testkit.None(t, c.Finish())
	return docs, c
}

func TestSift(t *testing.T) {
	docs, c := sifted(t, Options{Relevant: 1, Keep: KeepRelevant, Drop: true}, "1\twho\n2\twhat\n", "1 0 D1 1\n2 0 D2 1\n2 0 D3 0\n2 0 D4 1\n",
		"D1\tu\tOne\ta\nD9\tu\tNine\tb\n", "D2\tu\tTwo\tc\nD3\tu\tThree\td\nD4\tu\tFour\t \n")
	testkit.Is(t, strings.Join(docs, "; "), "0 D1 a 1; 1 D2 c 1")
	if r := c.Report; r.Unjudged != 2 || r.Dropped != 1 || r.Empty != 1 || r.Judged != 2 || r.Lines.Records != 5 {
		t.Errorf("%+v", r)
	}
}

// TestMerged: documents are one by their titles, the first stands for all; what has no title to
// compare is one of its own, and a query of documents that became one has it once.
func TestMerged(t *testing.T) {
	o := Options{Relevant: 1, Normalize: func(title string) string { return strings.ReplaceAll(strings.ToLower(title), "[unk]", "[UNK]") }}
	var first, second strings.Builder
	for i, title := range []string{"Fox", "", "FOX", "", "[UNK] !", "[UNK] !", "fox", "d1"} {
		into := &first
		if i >= 4 {
			into = &second
		}
		fmt.Fprintf(into, "D%d\tu\t%s\ttext %d\n", i, title, i)
	}
	docs, c := sifted(t, o, "1\twho\n2\twhat\n3\twhere\n", "1 0 D6 1\n1 0 D0 2\n1 0 D1 1\n2 0 D100 1\n3 0 D7 1\n", first.String(), second.String())
	if got := strings.Join(docs, "; "); got != "0 fox text 0 1; 1 D1 text 1 1; 2 D3 text 3 0; 3 D4 text 4 0; 4 D5 text 5 0; 5 d1 text 7 1" {
		t.Errorf("%s", got)
	}
	if r := c.Report; r.Union != 6 || r.Untitled != 4 || r.Merged != 2 || r.Judged != 4 || r.Others != 4 {
		t.Errorf("%+v", r)
	}
	r := c.questions.Report.Train
	if r.Asked != 2 || r.Several != 1 || r.Merged != 1 || r.Missing != 1 || r.Documentless != 1 || r.Targets != 3 {
		t.Errorf("%+v", r)
	}
	var got []string
	testkit.None(t, c.EachQuery(func(q *dedup.Query) error {
		got = append(got, fmt.Sprintf("%s %d %d", q.Name, q.Doc, q.Grade))
		return nil
	}))
	testkit.Deep(t, got, []string{"1 0 2", "1 1 0", "3 5 0"})
	judged, err := c.Qrels(nq.Train)
	testkit.None(t, err)
	if grade, ok := judged.Query("0").Grade("0"); !ok || grade != 2 {
		t.Errorf("grade %d, %v", grade, ok)
	}
}

// TestMergedTexts: as many documents are empty as remain, and all that remain have texts.
func TestMergedTexts(t *testing.T) {
	docs, _ := sifted(t, Options{Relevant: 1, Normalize: strings.ToLower}, "1\twho\n", "1 0 D1 1\n", "D1\tu\tX\tone\nD2\tu\tx\t\nD3\tu\tY\tthree\nD4\tu\ty\t\n")
	testkit.Is(t, strings.Join(docs, "; "), "0 x one 1; 1 y three 0")
}

// TestLimits: a draw depends only on seed and names, not on the files of the documents, and
// wanted documents stand beside it.
func TestLimits(t *testing.T) {
	const queries, qrels = "1\twho\n2\twhat\n3\twhere\n", "1 0 D1 1\n2 0 D2 1\n3 0 D3 1\n"
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "D%d\tu\tTitle %d\ta text\n", i, i)
		}
		return b.String()
	}
	drawn := func(o Options, documents ...string) string {
		o.Relevant = 1
		docs, _ := sifted(t, o, queries, qrels, documents...)
		for i, d := range docs {
			docs[i] = strings.Fields(d)[1]
		}
		return strings.Join(docs, " ")
	}
	want := drawn(Options{Others: 7}, lines(1, 60))
	testkit.That(t, strings.HasPrefix(want, "D1 D2 D3 ") && strings.Count(want, " ") == 3+7-1, want)
	testkit.Is(t, drawn(Options{Others: 7}, lines(1, 10), lines(10, 40), lines(40, 60)), want)
	if got := drawn(Options{Others: 7, Seed: 7}, lines(1, 60)); got == want {
		t.Error("another seed draws the same")
	}
	if got := drawn(Options{Keep: KeepRelevant, Limit: map[nq.Split]int{nq.Train: 1}}, lines(1, 60)); strings.Contains(got, " ") {
		t.Errorf("documents of one query: %s", got)
	}
}

// TestSample: the choice depends on neither order nor the files between which what is offered is divided.
func TestSample(t *testing.T) {
	numbers := rand.New(rand.NewPCG(1, 2)).Perm(1000)
	chosen := func(n int, seed uint64, lists ...[]int) (out []int) {
		hash := func(id int) uint64 { return hashOf(fmt.Sprint(id), seed) }
		joined := sample{n: n}
		for _, list := range lists {
			part := sample{n: n}
			for _, id := range list {
				if part.offer(hash(id)) {
					joined.offer(hash(id))
				}
			}
		}
		for id := range 1000 {
			if joined.has(hash(id)) {
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
	for n, want := range map[int]int{0: 0, 999: 999, 5000: 1000} {
		testkit.Is(t, len(chosen(n, 1, numbers)), want, "of", n)
	}
}
