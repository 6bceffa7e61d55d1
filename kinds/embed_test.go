package kinds_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

const (
	tinyHidden    = 32
	tinyPositions = 40
	tinyTokenizer = "../assets/tokenizers/bert-base-uncased-tokenizer.json.gz"
)

// tinyBERT is a model folder of two layers with random weights.
func tinyBERT(t *testing.T) map[string][]byte {
	t.Helper()
	config, err := json.Marshal(map[string]any{"model_type": "bert", "vocab_size": 30522, "hidden_size": tinyHidden, "num_hidden_layers": 2,
		"num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": tinyPositions})
	testkit.None(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	var sources []safetensors.Source
	add := func(name string, shape ...int64) {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		values := make([]byte, 0, 4*n)
		for range n {
			v := rng.NormFloat64() / 5
			if strings.HasSuffix(name, "LayerNorm.weight") {
				v++
			}
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(float32(v)))
		}
		sources = append(sources, safetensors.Source{Name: name, DType: "F32", Shape: shape, Write: func(w io.Writer) error {
			_, err := w.Write(values)
			return err
		}})
	}
	dense := func(name string, out, in int64) { add(name+".weight", out, in); add(name+".bias", out) }
	norm := func(name string) { add(name+".weight", tinyHidden); add(name+".bias", tinyHidden) }
	add("embeddings.word_embeddings.weight", 30522, tinyHidden)
	add("embeddings.position_embeddings.weight", tinyPositions, tinyHidden)
	add("embeddings.token_type_embeddings.weight", 2, tinyHidden)
	norm("embeddings.LayerNorm")
	for i := range 2 {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, part := range []string{"self.query", "self.key", "self.value", "output.dense"} {
			dense(at+"attention."+part, tinyHidden, tinyHidden)
		}
		norm(at + "attention.output.LayerNorm")
		dense(at+"intermediate.dense", 64, tinyHidden)
		dense(at+"output.dense", tinyHidden, 64)
		norm(at + "output.LayerNorm")
	}
	var weights bytes.Buffer
	testkit.None(t, safetensors.Write(&weights, nil, sources))
	return map[string][]byte{"config.json": config, "model.safetensors": weights.Bytes()}
}

// corpusOf stores texts as the documents 0, 1, ….
func (l *local) corpusOf(texts []string) step.Input {
	l.t.Helper()
	numbered, numbers := map[int32]string{}, make([]int32, len(texts))
	for i, text := range texts {
		numbered[int32(i)], numbers[i] = text, int32(i)
	}
	return l.numbered(numbered, numbers...)
}

// encoder is the attributes of an embed step with a model.
func (l *local) encoder(model map[string][]byte) map[string]any {
	l.t.Helper()
	return map[string]any{"model": l.tree("files", model), "tokenizer": l.bertTokenizer(), "max_tokens": int64(24), "device": "cpu"}
}

func (l *local) bertTokenizer() []any {
	l.t.Helper()
	return []any{l.tree("files", map[string][]byte{"tokenizer.json.gz": readFile(l.t, tinyTokenizer)})}
}

// TestEmbed: what the kind writes is what the model says of each text by itself.
func TestEmbed(t *testing.T) {
	l := newLocal(t)
	model := tinyBERT(t)
	texts := []string{"", "Naïve Bayes", strings.Repeat("long text ", 100), " \n"}
	for i := range 300 { // more than are read ahead
		texts = append(texts, strings.Repeat(fmt.Sprintf("document %d . ", i), i%9))
	}
	folder := t.TempDir()
	for name, data := range model {
		testkit.Write(t, filepath.Join(folder, name), data)
	}
	tok := testkit.Value(tokenize.LoadBERT(tinyTokenizer))(t)
	config := changed(l.encoder(model), map[string]any{"title": false, "corpus": l.corpusOf(texts), "batch_tokens": int64(100)})
	for _, c := range []struct {
		pooling   bert.Pooling
		precision string // in another one it is what the model says once it is rounded
		far       float64
	}{{bert.CLS, "fp32", 1e-5}, {bert.Mean, "fp32", 1e-5}, {bert.CLS, "bf16", 0.05}, {bert.CLS, "int8", 0.1}} {
		m := testkit.Value(bert.Load(folder, tensor.CPU))(t)
		defer m.Close()
		testkit.None(t, m.In(c.precision))
		res := l.made("embed", changed(config, map[string]any{"pooling": string(c.pooling), "precision": c.precision}))
		got := l.vectors(res)
		if got.Rows != len(texts) || got.Cols != tinyHidden {
			t.Fatalf("%d x %d vectors, want %d x %d", got.Rows, got.Cols, len(texts), tinyHidden)
		}
		for i, text := range texts {
			tokens, _ := tok.EncodeTruncated(text, 24)
			want := testkit.Value(m.Embed([][]int32{tokens}, c.pooling, 1))(t)
			for j, v := range want[0] {
				if d := math.Abs(float64(v - got.Row(i)[j])); !(d <= c.far) {
					t.Fatalf("%+v: document %d, number %d: %g, want %g", c, i, j, got.Row(i)[j], v)
				}
			}
		}
		if l.counted(res, map[string]int64{"documents": int64(len(texts)), "empty_texts": 36}); res.Counts["truncated_texts"] == 0 {
			t.Errorf("counts %v", res.Counts)
		}
	}
	none := l.made("embed", changed(config, map[string]any{"corpus": l.corpusOf(nil)}))
	if m := l.vectors(none); m.Rows != 0 || m.Cols != tinyHidden {
		t.Errorf("no documents: %d x %d", m.Rows, m.Cols)
	}
}

func TestEmbedMistakes(t *testing.T) {
	l := newLocal(t)
	model := tinyBERT(t)
	without := func(name string) map[string][]byte {
		files := maps.Clone(model)
		delete(files, name)
		return files
	}
	with := func(old, new string) map[string][]byte {
		files := maps.Clone(model)
		files["config.json"] = bytes.Replace(files["config.json"], []byte(old), []byte(new), 1)
		return files
	}
	broken := maps.Clone(model)
	weights := bytes.Clone(model["model.safetensors"])
	copy(weights[len(weights)-4:], "\x00\x00\xc0\x7f") // NaN, in the bias of the last norm
	broken["model.safetensors"] = weights
	corpus, tokenizer := l.corpusOf([]string{"a"}), l.bertTokenizer()
	for want, files := range map[string]map[string][]byte{
		"config.json: no such file or directory; want config.json and model.safetensors": without("config.json"),
		"has none of [model.safetensors model.safetensors.index.json pytorch_model.bin":  without("model.safetensors"),
		`model_type is "t5"`: with(`"bert"`, `"t5"`),
		"safetensors":        {"config.json": model["config.json"], "model.safetensors": model["model.safetensors"][:5000]},
		"vector 0 of the documents is not finite": broken,
	} {
		l.refuses("embed", map[string]any{"title": false, "corpus": corpus, "model": l.tree("hf/model", files), "tokenizer": tokenizer, "max_tokens": int64(8)}, want)
	}
	config := map[string]any{"title": false, "corpus": corpus, "model": l.tree("files", model), "tokenizer": tokenizer, "max_tokens": int64(64)}
	l.refuses("embed", config, "max_tokens is 64, the model has 40 positions")
	unknown := []any{l.tree("files", map[string][]byte{"tokenizer.json": []byte("{}")})}
	l.refuses("embed", changed(config, map[string]any{"tokenizer": unknown}), `tokenizer: its model is "", want Unigram`)
	mistakes(t, "embed", config, map[string]map[string]any{
		"int8 is computed on processors only": {"device": "cuda", "precision": "int8"},
		"auto, cpu, cuda or":                  {"device": "gpu"},
		"max_tokens: want 2 or":               {"max_tokens": int64(-1), "device": "cuda:x"},
	})
}

// splitQueries are queries of three splits, of which one has two documents.
func splitQueries() []dedup.Query {
	return []dedup.Query{
		{ExampleID: 7, Split: nq.Train, Question: "who trains", Doc: 0},
		{ExampleID: 9, Split: nq.Dev, Question: "who was first", Doc: 1},
		{ExampleID: 9, Split: nq.Dev, Question: "who was first", Doc: 0},
		{ExampleID: 8, Split: nq.Dev, Question: "what came second", Doc: 1},
		{ExampleID: 3, Split: nq.Test, Question: "is this the test", Doc: 0},
	}
}

func (l *local) vectors(res *artifacts.Result) npy.Matrix {
	l.t.Helper()
	m := testkit.Value(npy.Read(bytes.NewReader(l.bytes(res.Outputs["embeddings"]))))(l.t)
	return m
}

// TestEmbedQueries: the rows of a split's queries are what the same texts have as documents,
// one for each query, in their order.
func TestEmbedQueries(t *testing.T) {
	l := newLocal(t)
	queries := l.lines(splitQueries())
	for kind, config := range map[string]map[string]any{
		"embed":         l.encoder(tinyBERT(t)),
		"embed_hashing": {},
	} {
		do := func(tree map[string]any) *artifacts.Result {
			t.Helper()
			res := l.made(kind, changed(config, tree))
			return res
		}
		for split, texts := range map[string][]string{"dev": {"who was first", "what came second"}, "test": {"is this the test"}} {
			got := do(map[string]any{"queries": queries, "split": split})
			want := do(map[string]any{"title": false, "corpus": l.corpusOf(texts)})
			testkit.Is(t, got.Outputs["embeddings"].Digest, want.Outputs["embeddings"].Digest, kind, split)
			l.counted(got, map[string]int64{"queries": int64(len(texts))})
		}
		mistakes(t, kind, config, map[string]map[string]any{
			"corpus: set either corpus or queries": {},
			"queries: and corpus are both given":   {"queries": queries, "corpus": l.corpusOf(nil)},
			"documents: applies only to a corpus":  {"queries": queries, "documents": l.collectionOf("a")},
			`"train", "dev", "test"`:               {"queries": queries, "split": "eval"},
		})
		l.refuses(kind, changed(config, map[string]any{"queries": l.lines(splitQueries()[:1])}), "there are no dev queries")
	}
}

// TestEmbedOptions: a prefix is text before the text, and normalized vectors are the others
// in unit length.
func TestEmbedOptions(t *testing.T) {
	l := newLocal(t)
	queries := l.lines(splitQueries())
	embed := func(tree map[string]any) npy.Matrix {
		t.Helper()
		res := l.made("embed", changed(l.encoder(tinyBERT(t)), tree))
		return l.vectors(res)
	}
	plain := embed(map[string]any{"title": false, "corpus": l.corpusOf([]string{"query: who was first", "query: what came second"}), "pooling": "mean"})
	got := embed(map[string]any{"queries": queries, "prefix": "query: ", "pooling": "mean", "normalize": true})
	for row := range got.Rows {
		norm := 0.0
		for _, v := range plain.Row(row) {
			norm += float64(v) * float64(v)
		}
		for i, v := range plain.Row(row) {
			if d := math.Abs(float64(v)/math.Sqrt(norm) - float64(got.Row(row)[i])); d > 1e-6 {
				t.Fatalf("row %d, number %d is %g apart", row, i, d)
			}
		}
	}
}

// numbered stores texts as documents of these numbers.
func (l *local) numbered(texts map[int32]string, numbers ...int32) step.Input {
	l.t.Helper()
	var documents []corpus.Document
	for _, n := range numbers {
		documents = append(documents, corpus.Document{Doc: n, Text: texts[n]})
	}
	return l.blob("nq/corpus", compressed(l.t, documents))
}

// collectionOf stores documents with these titles in their URLs.
func (l *local) collectionOf(titles ...string) step.Input {
	l.t.Helper()
	var documents []dedup.Document
	for i, title := range titles {
		documents = append(documents, dedup.Document{Doc: int32(i), Key: title, ExampleID: int64(i), Split: nq.Train, Train: 1,
			URL: fmt.Sprintf("//en.wikipedia.org/w/index.php?title=%s&amp;oldid=%d", title, i+1), Title: "not " + title})
	}
	return l.blob("nq/documents", compressed(l.t, documents))
}

// TestOwnTitles: a document without a URL has its own title, one without either none.
func TestOwnTitles(t *testing.T) {
	l := newLocal(t)
	documents := l.blob("nq/documents", compressed(t, []dedup.Document{{Doc: 0, Title: "Naïve Bayes"}, {Doc: 1, ExampleID: 1}}))
	got := l.made("embed_hashing", map[string]any{"corpus": l.corpusOf([]string{"alpha", "beta"}), "documents": documents})
	want := testkit.Value(l.do("embed_hashing", map[string]any{"title": false, "corpus": l.corpusOf([]string{"naïve bayes alpha", "beta"})}))(t)
	if got.Outputs["embeddings"].Digest != want.Outputs["embeddings"].Digest {
		t.Error("the vectors are not those of the documents' own titles and texts")
	}
}

// TestEmbeddedTitles: the title in a document's URL comes before its text, both kinds of
// embeddings agree on that, and vectors are those of the documents of their places.
func TestEmbeddedTitles(t *testing.T) {
	l := newLocal(t)
	texts := map[int32]string{0: "alpha is one", 1: "beta is two", 2: "gamma is three", 3: "delta"}
	titles := l.collectionOf("The_Walking_Dead_%28season_8%29", "Caf%C3%A9", "")
	joined := l.corpusOf([]string{"The Walking Dead (season 8) alpha is one", "Café beta is two", " gamma is three"})
	whole := l.numbered(texts, 0, 1, 2)
	for kind, config := range map[string]map[string]any{
		"embed":         l.encoder(tinyBERT(t)),
		"embed_hashing": {},
	} {
		of := func(corpus, documents any) map[string]any {
			tree := changed(config, map[string]any{"corpus": corpus, "title": documents != nil})
			if documents != nil {
				tree["documents"] = documents
			}
			return tree
		}
		embed := func(corpus, documents any) artifacts.Digest {
			t.Helper()
			res := l.made(kind, of(corpus, documents))
			return res.Outputs["embeddings"].Digest
		}
		if got := embed(whole, titles); got != embed(joined, nil) || got == embed(whole, nil) {
			t.Errorf("%s: the vectors are not those of titles and texts", kind)
		}
		for message, c := range map[string]struct{ corpus, documents any }{
			"corpus: document 2 where 1 was expected":               {l.numbered(texts, 0, 2, 3), nil},
			"corpus: document 1 where 0 was expected":               {l.numbered(texts, 1, 2, 3), titles},
			"corpus has 2 documents, documents 3":                   {l.numbered(texts, 0, 1), titles},
			"document 3 of corpus is not one of the 3 in documents": {l.numbered(texts, 0, 1, 2, 3), titles},
		} {
			l.refuses(kind, of(c.corpus, c.documents), message)
		}
		mistakes(t, kind, config, map[string]map[string]any{"documents: is needed": {"corpus": whole}})
	}
}

// TestEmbedOtherEncoders: encoders with tokenizers of other sorts, whose texts are cut to the
// model's length with the special tokens around.
func TestEmbedOtherEncoders(t *testing.T) {
	l := newLocal(t)
	texts := []string{"", "the King of the castle", strings.Repeat("who sings ", 40), "Ärmelkanal"}
	for model, tokenizer := range map[string]string{"mpnet": "mpnet", "roberta": "xlm-roberta", "distilbert": "bert-cased"} {
		folder, path := "../internal/model/bert/testdata/"+model, "../internal/model/subword/testdata/sorts/"+tokenizer+".json"
		m := testkit.Value(bert.Load(folder, tensor.CPU))(t)
		defer m.Close()
		tok := testkit.Value(subword.LoadEncoder(path))(t)
		defer tok.Close()
		tree := map[string]any{"title": false, "corpus": l.corpusOf(texts), "model": l.tree("files", folderOf(t, folder, "")), "pooling": "max",
			"tokenizer": []any{l.tree("files", map[string][]byte{"tokenizer.json": readFile(t, path)})}, "max_tokens": m.Config.MaxTokens(), "device": "cpu"}
		res := l.made("embed", tree)
		got := l.vectors(res)
		for i, text := range texts {
			ids, _ := tok.EncodeTruncated(text, int(m.Config.MaxTokens()))
			want := testkit.Value(m.Embed([][]int32{ids}, bert.Max, 1))(t)
			for j, v := range want[0] {
				if d := math.Abs(float64(v - got.Row(i)[j])); !(d <= 1e-5) {
					t.Fatalf("%s: text %d, number %d is %g apart", model, i, j, d)
				}
			}
		}
		if n := res.Counts; n["truncated_texts"] != 1 || n["empty_texts"] != 1 {
			t.Errorf("%s: counts %v", model, n)
		}
		tree["max_tokens"] = m.Config.MaxTokens() + 1
		testkit.ErrSays(t, testkit.Err(l.do("embed", tree)), fmt.Sprintf("the model has %d positions", m.Config.MaxTokens()))
	}
}

// TestEmbedAsPublished: what sentence-transformers would compute otherwise is counted.
func TestEmbedAsPublished(t *testing.T) {
	l := newLocal(t)
	model := tinyBERT(t)
	model["modules.json"] = []byte(`[{"path":"","type":"sentence_transformers.models.Transformer"},
		{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}, {"path":"2_Normalize","type":"sentence_transformers.models.Normalize"}]`)
	model["1_Pooling/config.json"] = []byte(`{"pooling_mode_cls_token":false,"pooling_mode_mean_tokens":true}`)
	elsewhere := tinyBERT(t)
	elsewhere["modules.json"] = []byte(`[{"path":"pool/first","type":"sentence_transformers.models.Pooling"},{"path":"2","type":"sentence_transformers.models.Normalize"}]`)
	elsewhere["pool/first/config.json"] = model["1_Pooling/config.json"]
	untold := maps.Clone(elsewhere)
	delete(untold, "pool/first/config.json")
	dense := maps.Clone(model)
	dense["modules.json"] = []byte(`[{"path":"2_Dense","type":"sentence_transformers.models.Dense"}]`)
	outside := maps.Clone(model)
	outside["modules.json"] = []byte(`[{"path":"../x","type":"sentence_transformers.models.Pooling"}]`)
	embed := func(files map[string][]byte, pooling string, normalize bool) (int64, error) {
		res, err := l.do("embed", changed(l.encoder(files), map[string]any{"title": false, "corpus": l.corpusOf([]string{"a"}), "pooling": pooling, "normalize": normalize}))
		if err != nil {
			return 0, err
		}
		return res.Counts["other_than_published"], nil
	}
	for _, c := range []struct {
		files     map[string][]byte
		pooling   string
		normalize bool
		want      int64
	}{{model, "mean", true, 0}, {model, "cls", true, 1}, {model, "cls", false, 2}, {dense, "mean", false, 1}, {elsewhere, "mean", true, 0}, {elsewhere, "cls", false, 2}, {untold, "cls", false, 2}, {tinyBERT(t), "cls", false, 0}} {
		testkit.Of(t, c.want, c.pooling, c.normalize)(embed(c.files, c.pooling, c.normalize))
	}
	testkit.ErrSays(t, testkit.Err(embed(outside, "cls", false)), "is not below the folder")
}

// TestPublishedEncoder compares embed with transformers on an encoder of this machine, if
// there is one: tools/golden/encoder.py says how.
func TestPublishedEncoder(t *testing.T) {
	folder, golden := os.Getenv("REDSI_ENCODER"), os.Getenv("REDSI_ENCODER_GOLDEN")
	if folder == "" || golden == "" {
		t.Skip("REDSI_ENCODER and REDSI_ENCODER_GOLDEN are not set")
	}
	var texts []string
	var want [][]float64
	for name, v := range map[string]any{"texts.json": &texts, "vectors.json": &want} {
		testkit.None(t, json.Unmarshal(readFile(t, filepath.Join(golden, name)), v))
	}
	l := newLocal(t)
	model := l.made("import_model", map[string]any{"files": []any{l.tree("files", folderOf(t, folder, ""))}})
	res, err := l.do("embed", map[string]any{"title": false, "corpus": l.corpusOf(texts), "model": step.In(model.Outputs["model"]),
		"tokenizer": []any{step.In(model.Outputs["tokenizer"])}, "pooling": "mean", "normalize": true, "max_tokens": int64(128), "device": "cpu"})
	testkit.None(t, err)
	got, worst := l.vectors(res), 0.0
	for i, row := range want {
		for j, v := range row {
			worst = max(worst, math.Abs(v-float64(got.Row(i)[j])))
		}
	}
	t.Logf("%d texts, %d numbers each: max |diff| %.2g; counts %v", len(want), got.Cols, worst, res.Counts)
	if !(worst <= 1e-5) {
		t.Errorf("max |diff| %g", worst)
	}
}

// TestEmbedResumes: an embedding that ends between two checkpoints goes on at the
// first, to the bytes of one that was left alone.
func TestEmbedResumes(t *testing.T) {
	var texts []string
	var queries []dedup.Query
	for i := range 2*2048 + 300 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("document %d . ", i), i%3))
		queries = append(queries, dedup.Query{ExampleID: int64(i), Split: nq.Test, Question: texts[i]})
	}
	embedResumes(t, "documents", func(l *local) map[string]any { return map[string]any{"title": false, "corpus": l.corpusOf(texts)} })
	embedResumes(t, "queries", func(l *local) map[string]any {
		return map[string]any{"queries": l.blob("nq/queries", compressed(t, queries)), "split": "test"}
	})
}

func embedResumes(t *testing.T, unit string, of func(*local) map[string]any) {
	l := newLocal(t)
	model := tinyBERT(t)
	embed := func(l *local) (*artifacts.Result, error) {
		return l.do("embed", changed(l.encoder(model), of(l)))
	}
	whole := testkit.Value(embed(l))(t)
	l = newLocal(t)
	store := l.Store
	l.Store = artifacts.Alone(storetest.Hooked(store.Own, storetest.Before(func(_ context.Context, c *storetest.Call) error {
		if c.Method == storetest.RecordsPut && strings.HasSuffix(c.Name, fmt.Sprintf("/%016d", 4096)) {
			return syscall.ENOSPC
		}
		return nil
	})))
	if _, err := embed(l); !endsFull(err, "checkpoint of 4096 "+unit) {
		t.Fatalf("error %v", err)
	}
	l.Store = store
	resumed := testkit.Value(embed(l))(t)
	if got, want := resumed.Outputs["embeddings"].Digest, whole.Outputs["embeddings"].Digest; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	l.counted(resumed, map[string]int64{unit + "_resumed": 2048, unit: 2*2048 + 300, "empty_texts": whole.Counts["empty_texts"]})
	l.leaves(0)
}
