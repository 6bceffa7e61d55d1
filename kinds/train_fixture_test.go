package kinds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
)

// training is a hand-made collection of 20 documents. Each has words of its own,
// that its three training queries and its development query ask with, in other
// combinations.
type training struct {
	*local
	tok     *subword.Subword
	encode  docid.Encoder
	words   int32 // tokens of the tokenizer
	rows    int32 // of the model's embedding
	queries []dedup.Query
	config  map[string]any // of a train step with naive identifiers
}

const trainedDocuments = 20

// t5Tokenizer is T5's own.
var t5Tokenizer = filepath.Join("..", "assets", "tokenizers", "t5-tokenizer.json.gz")

// newTraining is with a small T5, whose tokens are the first 3,000 of T5's: most of what a tenth of
// the rows saves is time.
func newTraining(t *testing.T, l *local) *training {
	t.Helper()
	return newTrainingOf(t, l, fewerTokens(t, 3000), map[string]any{"vocabulary": int64(3072)})
}

// pieces are the texts that fewerTokens has made, by number.
var pieces sync.Map

// fewerTokens is a file of T5's tokenizer with its first n pieces, which have every letter.
func fewerTokens(t *testing.T, n int) string {
	t.Helper()
	text, ok := pieces.Load(n)
	if !ok {
		var all map[string]any
		goldens.JSON(t, t5Tokenizer, &all)
		model := all["model"].(map[string]any)
		model["vocab"] = model["vocab"].([]any)[:n]
		all["added_tokens"] = all["added_tokens"].([]any)[:3] // <pad>, </s>, <unk>
		var err error
		if text, err = json.Marshal(all); err != nil {
			t.Fatal(err)
		}
		pieces.Store(n, text)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	filetest.Write(t, path, text.([]byte))
	return path
}

// newBARTTraining is with a small BART, whose tokens are those of a small byte-level BPE:
// more for a text than T5's. It has 600, the embedding 40 rows more.
func newBARTTraining(t *testing.T, l *local) *training {
	t.Helper()
	f := newTrainingOf(t, l, filepath.Join("..", "internal", "model", "subword", "testdata", "bart-tokenizer.json"),
		map[string]any{"family": "bart", "vocabulary": int64(640)})
	f.config["max_input"], f.config["learning_rate"] = int64(48), 2e-2 // BART's first weights are small, so are its scaled steps
	return f
}

// newTrainingOf is with a small random model of options.
func newTrainingOf(t *testing.T, l *local, tokenizer string, options map[string]any) *training {
	t.Helper()
	tensor.SetNumThreads(1)
	tok, err := subword.LoadSubword(tokenizer)
	errtest.None(t, err)
	t.Cleanup(func() { tok.Close() })
	f := &training{local: l, tok: tok, encode: tok.EncodeBatch, words: int32(tok.VocabSize()), rows: 32_128}
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	id := int64(0)
	ask := func(split nq.Split, doc int, text string, args ...any) {
		id++
		f.queries = append(f.queries, dedup.Query{ExampleID: id, Split: split, Question: fmt.Sprintf(text, args...), Doc: int32(doc)})
	}
	for doc := range trainedDocuments {
		w := make([]any, 4)
		for i := range w {
			word := ""
			for range 3 {
				word += string("bdfgklmnprstvz"[r.IntN(14)]) + string("aeiou"[r.IntN(5)])
			}
			w[i] = word
		}
		//lint:ignore SA5009 w has four words
		texts = append(texts, fmt.Sprintf("%s %s is a %s of the %s kind", w...))
		ask(nq.Train, doc, "who made %s %s", w[0], w[1])
		ask(nq.Train, doc, "where is the %s near %s", w[1], w[2])
		ask(nq.Train, doc, "what %s has a %s", w[3], w[0])
		ask(nq.Dev, doc, "tell me of %s and %s", w[0], w[2])
	}
	sizes := map[string]any{"layers": int64(1), "d_model": int64(32), "d_kv": int64(8), "d_ff": int64(64), "heads": int64(4)}
	maps.Copy(sizes, options)
	if n, ok := options["vocabulary"]; ok {
		f.rows = int32(n.(int64))
	}
	toy, err := l.do("random_t5", sizes)
	errtest.None(t, err)
	f.config = map[string]any{
		"model": step.In(toy.Outputs["model"]), "ids": f.set(f.ids(docid.KindNaive)), "corpus": f.corpusOf(texts), "queries": f.lines(f.queries),
		"tokenizer": f.blob("files", readFile(t, tokenizer)), "device": "cpu",
		"max_input": int64(16), "batch": int64(16), "learning_rate": 1e-2, "dropout": 0.0,
	}
	return f
}

// atomic are the collection's identifiers from a token on.
func (f *training) atomic(first int32, eos ...int32) *docid.Set {
	f.t.Helper()
	set, err := docid.Atomic(f.names(), first, eos...)
	errtest.None(f.t, err)
	return set
}

func (f *training) names() []string {
	names := make([]string, trainedDocuments)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// ids are the collection's identifiers; those of embeddings are of random vectors.
func (f *training) ids(kind docid.Kind) *docid.Set {
	f.t.Helper()
	names := f.names()
	r := rand.New(rand.NewPCG(3, 4))
	vectors := npy.Matrix{Rows: len(names), Cols: 8, Data: make([]float32, 8*len(names))}
	for i := range vectors.Data {
		vectors.Data[i] = float32(r.NormFloat64())
	}
	var set *docid.Set
	var err error
	switch kind {
	case docid.KindAtomic:
		set = f.atomic(f.rows)
	case docid.KindNaive:
		set, err = docid.Naive(names, 1000, 42, docid.GeneratorPCG, f.encode)
	case docid.KindSemantic:
		set, _, err = docid.Semantic(context.Background(), names, vectors, docid.SemanticOptions{Clusters: 10, LeafSize: 5, Seed: 42}, f.encode)
	case docid.KindResidual: // some documents have equal codes
		set, _, err = docid.Residual(context.Background(), names, vectors, docid.ResidualOptions{Levels: 2, Codes: 4, FirstToken: f.rows, EOS: 1, Seed: 42})
	case docid.KindTitle, docid.KindKeyword, docid.KindOther: // some are equal, but for a number
		titles := make([]string, len(names))
		for i := range titles {
			titles[i] = "The " + []string{"Sea", "Hill", "Song"}[i%3] + []string{"", " of Kings"}[i%2]
		}
		set, _, err = docid.Title(docid.KindTitle, names, titles, 8, f.tok)
		set.Kind = kind
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return set
}

// with is the train step with some attributes changed; of two changes the first
// counts.
func (f *training) with(changes ...map[string]any) map[string]any {
	config := maps.Clone(f.config)
	for _, c := range slices.Backward(changes) {
		maps.Copy(config, c)
	}
	return config
}

// edited is the tree of an input with other files.
func edited(t *testing.T, input any, change func([]artifacts.File) []artifacts.File) artifacts.Artifact {
	t.Helper()
	was := input.(step.Input).Artifact
	tree, err := artifacts.Tree(was.Type, change(slices.Clone(was.Files)))
	errtest.None(t, err)
	return tree
}

// onlyConfig leaves of a model's files what its weights are not.
func onlyConfig(files []artifacts.File) []artifacts.File {
	return slices.DeleteFunc(files, func(f artifacts.File) bool { return f.Name != "config.json" })
}
