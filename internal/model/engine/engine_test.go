package engine

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	tokenizers "github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/decode/kernel"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

var cards = []search.Card{{Title: "A", Text: "a"}, {Title: "B", Text: "b"}, {Title: "C", Text: "c"}, {Title: "D", Text: "d"}, {Title: "E", Text: "e"}}

// collection writes a tiny random model and a collection of five documents.
func collection(t *testing.T, kind docid.Kind, lowercase bool) search.Files {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		testkit.Write(t, path, b)
		return path
	}
	f := search.Files{
		Model:     filepath.Join(dir, "model"),
		Tokenizer: write("tokenizer.json.gz", tokenizers.T5),
		IDs:       filepath.Join(dir, "ids"),
	}
	names := []string{"0", "1", "2", "3", "4"}
	c := t5.Defaults()
	c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 16, 8, 32, 1, 1, 2
	m := testkit.Value(seq2seq.Init(c, 7, tensor.CPU))(t)
	defer m.Close()
	var ids *docid.Set
	if kind == docid.KindAtomic {
		ids = testkit.Value(docid.Atomic(names, int32(c.VocabSize)))(t)
		testkit.None(t, m.Extend(int64(len(names)), 8))
	} else {
		tok := testkit.Value(subword.LoadT5(f.Tokenizer))(t)
		defer tok.Close()
		ids = testkit.Value(docid.Naive(names, 1000, 42, docid.GeneratorPCG, tok.EncodeBatch))(t)
	}
	testkit.None(t, m.Save(f.Model))
	settings := testkit.Value(retrieve.SettingsFor(ids, retrieve.Inputs{MaxInput: 8, MaxQuery: 9, QueryPrefix: "query:", Lowercase: lowercase}))(t)
	testkit.None(t, settings.Write(f.Model))
	w := testkit.Value(os.Create(f.IDs))(t)
	defer w.Close()
	testkit.None(t, ids.Write(w))
	return f
}

func open(t *testing.T, f search.Files, o search.Options) *Engine {
	t.Helper()
	e := testkit.Value(Open(t.Context(), f, len(cards), o))(t)
	t.Cleanup(func() { testkit.None(t, e.Close()) })
	return e
}

func ask(t *testing.T, e *Engine, k int, queries ...string) []search.Answer {
	t.Helper()
	a := testkit.Value(e.Search(context.Background(), queries, k))(t)
	testkit.None(t, search.Fill(a, cards))
	return a
}

// All documents are found, with probabilities of one.
func TestAtomic(t *testing.T) {
	e := open(t, collection(t, docid.KindAtomic, false), search.Options{Beams: 40, Device: "cpu"})
	want := search.About{Identifiers: "atomic", Documents: 5, Decoding: search.Exhaustive, Beams: 40, Device: "cpu", Precision: "fp32"}
	testkit.Is(t, e.About(), want)
	for _, a := range ask(t, e, 40, "who sings", "who is a queen") {
		sum, seen := 0.0, map[string]bool{}
		for i, h := range a.Hits {
			if h.Rank != i+1 || i > 0 && h.Score > a.Hits[i-1].Score || seen[h.Document] {
				t.Errorf("hit %d is %+v", i, h)
			}
			if math.Abs(h.Probability-math.Exp(h.Score)) > 1e-12 {
				t.Errorf("probability %v with score %v", h.Probability, h.Score)
			}
			testkit.Is(t, h.Title, string(rune('A'+h.Document[0]-'0')), h, h.Document)
			testkit.Is(t, h.Identifier, "<doc_"+h.Document+">", h, h.Document)
			sum += h.Probability
			seen[h.Document] = true
		}
		if len(a.Hits) != 5 || math.Abs(sum-1) > 1e-5 || a.Invalid != 0 {
			t.Errorf("%d documents with probability %v", len(a.Hits), sum)
		}
	}
}

// In bf16 and int8 scores are others, and near.
func TestPrecision(t *testing.T) {
	f := collection(t, docid.KindAtomic, false)
	options := search.Options{Beams: 5, Device: "cpu"}
	want := ask(t, open(t, f, options), 5, "who sings")[0].Hits
	score := map[string]float64{}
	for _, h := range want {
		score[h.Document] = h.Score
	}
	for precision, fast := range map[string]bool{"bf16": tensor.MultipliesBF16(), "int8": kernel.Int8()} {
		options.Precision = precision
		e := open(t, f, options)
		if about := e.About(); about.Precision != precision || (about.Warning == "") != fast {
			t.Errorf("search.About is %+v", about)
		}
		for _, h := range ask(t, e, 5, "who sings")[0].Hits {
			if d := math.Abs(h.Score - score[h.Document]); d > 0.03 || d == 0 {
				t.Errorf("document %s has score %v in %s, %v in fp32", h.Document, h.Score, precision, score[h.Document])
			}
		}
	}
}

// A constrained search names documents only; a smaller k is the beginning.
func TestConstrained(t *testing.T) {
	e := open(t, collection(t, docid.KindNaive, false), search.Options{Beams: 40, Device: "auto"})
	testkit.Is(t, e.About().Decoding, search.Constrained, "decoding")
	all := ask(t, e, 40, "who sings baby love", "x")
	if len(all[0].Hits) != 5 || all[0].Invalid != 0 {
		t.Fatalf("%d hits and %d invalid; all 5 identifiers fit 40 beams", len(all[0].Hits), all[0].Invalid)
	}
	for i, a := range ask(t, e, 2, "who sings baby love", "x") {
		testkit.Deep(t, a.Hits, all[i].Hits[:2], "2 of them")
	}
	for _, h := range all[0].Hits {
		// Score is per token, and an identifier below 1000 has at least a digit and </s>.
		if h.Probability <= 0 || h.Probability > math.Exp(2*h.Score)*(1+1e-9) {
			t.Errorf("probability %v of score %v", h.Probability, h.Score)
		}
	}
}

// A random model without constraint names no document, and says so.
func TestUnconstrained(t *testing.T) {
	e := open(t, collection(t, docid.KindNaive, false), search.Options{Beams: 4, Unconstrained: true, Device: "cpu"})
	testkit.Is(t, e.About().Decoding, search.Unconstrained, "decoding")
	if a := ask(t, e, 4, "who sings")[0]; a.Invalid+len(a.Hits) != 4 || a.Invalid == 0 {
		t.Errorf("%d hits, %d invalid of 4 hypotheses", len(a.Hits), a.Invalid)
	}
}

// The model is asked as it was trained: lowercased, with its number of tokens, by its
// search.
func TestSettings(t *testing.T) {
	lower := open(t, collection(t, docid.KindAtomic, true), search.Options{Beams: 5, Device: "cpu"})
	cased := open(t, collection(t, docid.KindAtomic, false), search.Options{Beams: 5, Device: "cpu"})
	const query = "WHO SINGS"
	if a, b := ask(t, lower, 5, query), ask(t, cased, 5, strings.ToLower(query)); !reflect.DeepEqual(a, b) {
		t.Errorf("lowercased by the engine %v, by hand %v", a, b)
	}
	if a, b := ask(t, lower, 5, query), ask(t, cased, 5, query); reflect.DeepEqual(a, b) {
		t.Error("case makes no difference to a model that was trained with case")
	}
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("the ", n)) }
	seven, eight := ask(t, cased, 5, words(7))[0], ask(t, cased, 5, words(8))[0]
	if seven.Truncated || !eight.Truncated || !reflect.DeepEqual(seven.Hits, eight.Hits) {
		t.Errorf("of 9 tokens, 2 of them the prefix: %+v and %+v", seven, eight)
	}
	f := collection(t, docid.KindNaive, true)
	s := testkit.Value(retrieve.ReadSettings(f.Model))(t)
	s.Search = retrieve.Search{EarlyStopping: stopping.Never, Validity: retrieve.ByText}
	testkit.None(t, s.Write(f.Model))
	e := open(t, f, search.Options{Beams: 4, Unconstrained: true, Device: "cpu"})
	if a := ask(t, e, 4, query)[0]; e.options.Search != s.Search || a.Invalid+len(a.Hits) > 4 {
		t.Errorf("searched by %+v, trained by %+v: %+v", e.options.Search, s.Search, a)
	}
}

// Several goroutines may ask at once and get what each alone would get.
func TestConcurrent(t *testing.T) {
	e := open(t, collection(t, docid.KindNaive, false), search.Options{Beams: 5, Device: "cpu"})
	want := make([]string, 4)
	for i := range want {
		want[i] = fmt.Sprint(documentsOf(ask(t, e, 5, fmt.Sprint("query ", i))[0]))
	}
	var wg sync.WaitGroup
	for i := range want {
		wg.Go(func() {
			a, err := e.Search(context.Background(), []string{fmt.Sprint("query ", i)}, 5)
			if err != nil || fmt.Sprint(documentsOf(a[0])) != want[i] {
				t.Errorf("query %d: %v, %v; alone %s", i, a, err, want[i])
			}
		})
	}
	wg.Wait()
}

func documentsOf(a search.Answer) []string {
	return lists.Map(a.Hits, func(h search.Hit) string { return h.Document })
}

func TestOpenErrors(t *testing.T) {
	atomic, naive := collection(t, docid.KindAtomic, false), collection(t, docid.KindNaive, false)
	options := search.Options{Beams: 40, Device: "cpu"}
	with := func(f search.Files, change func(*search.Files)) search.Files { change(&f); return f }
	for _, c := range map[string]struct {
		files   search.Files
		options search.Options
		want    string
	}{
		"other identifiers": {with(atomic, func(f *search.Files) { f.IDs = naive.IDs }), options, "trained on atomic identifiers of 5 documents, ids are naive"},
		"no settings":       {with(atomic, func(f *search.Files) { f.Model = t.TempDir() }), options, "train it with a train step"},
		"no weights":        {with(atomic, func(f *search.Files) { f.Model = onlySettings(t, f.IDs) }), options, "config.json"},
		"no tokenizer":      {with(atomic, func(f *search.Files) { f.Tokenizer = f.IDs }), options, ""},
		"no identifiers":    {with(atomic, func(f *search.Files) { f.IDs = f.Tokenizer }), options, "identifiers: line 1"},
		"no beams":          {atomic, search.Options{Device: "cpu"}, "width 0"},
		"precision":         {atomic, search.Options{Beams: 1, Device: "cpu", Precision: "int4"}, `"int4"`},
		"device":            {atomic, search.Options{Beams: 1, Device: "abacus"}, `unknown device "abacus"`},
	} {
		testkit.ErrSays(t, testkit.Err(Open(t.Context(), c.files, len(cards), c.options)), c.want)
	}
	testkit.ErrSays(t, testkit.Err(Open(t.Context(), atomic, 4, options)), "document 4 of ids is not in the texts")
	e := open(t, atomic, options)
	for _, k := range []int{0, 41} {
		testkit.Some(t, testkit.Err(e.Search(context.Background(), []string{"x"}, k)), k)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	testkit.Some(t, testkit.Err(e.Search(ctx, []string{"x"}, 1)), "a cancelled search gives no error")
}

func onlySettings(t *testing.T, ids string) string {
	t.Helper()
	set := testkit.Value(readIDs(ids))(t)
	settings := testkit.Value(retrieve.SettingsFor(set, retrieve.Inputs{MaxInput: 8, MaxQuery: 8}))(t)
	dir := t.TempDir()
	testkit.None(t, settings.Write(dir))
	return dir
}
