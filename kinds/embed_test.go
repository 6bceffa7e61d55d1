package kinds_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
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
	errtest.None(t, err)
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
	errtest.None(t, safetensors.Write(&weights, nil, sources))
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
		filetest.Write(t, filepath.Join(folder, name), data)
	}
	m, err := bert.Load(folder, tensor.CPU)
	errtest.None(t, err)
	defer m.Close()
	tok, err := tokenize.LoadBERT(tinyTokenizer)
	errtest.None(t, err)
	corpus, files, tokenizer := l.corpusOf(texts), l.tree("files", model), l.bertTokenizer()
	for _, pooling := range []bert.Pooling{bert.CLS, bert.Mean} {
		res, err := l.do("embed", map[string]any{"title": false, "corpus": corpus, "model": files, "tokenizer": tokenizer,
			"pooling": string(pooling), "max_tokens": int64(24), "batch_tokens": int64(100), "device": "cpu"})
		errtest.None(t, err)
		got, err := npy.Read(bytes.NewReader(l.bytes(res.Outputs["embeddings"])))
		errtest.None(t, err)
		if got.Rows != len(texts) || got.Cols != tinyHidden {
			t.Fatalf("%d x %d vectors, want %d x %d", got.Rows, got.Cols, len(texts), tinyHidden)
		}
		for i, text := range texts {
			want, err := m.Embed([][]int32{tok.Encode(text, 24)}, pooling, 1)
			errtest.None(t, err)
			for j, v := range want[0] {
				if d := math.Abs(float64(v - got.Data[i*tinyHidden+j])); !(d <= 1e-5) {
					t.Fatalf("%s: document %d, number %d: %g, want %g", pooling, i, j, got.Data[i*tinyHidden+j], v)
				}
			}
		}
		n := res.Counts
		if n["documents"] != int64(len(texts)) || n["truncated_texts"] == 0 || n["empty_texts"] != 36 {
			t.Errorf("counts %v", n)
		}
	}
	// In another precision it is what the model says once it is rounded.
	for precision, far := range map[string]float64{"bf16": 0.05, "int8": 0.1} {
		m, err := bert.Load(folder, tensor.CPU)
		errtest.None(t, err)
		defer m.Close()
		errtest.None(t, m.In(precision))
		res, err := l.do("embed", map[string]any{"title": false, "corpus": corpus, "model": files, "tokenizer": tokenizer, "precision": precision,
			"pooling": "cls", "max_tokens": int64(24), "batch_tokens": int64(100), "device": "cpu"})
		errtest.None(t, err)
		rounded, err := npy.Read(bytes.NewReader(l.bytes(res.Outputs["embeddings"])))
		errtest.None(t, err)
		for i, text := range texts {
			want, err := m.Embed([][]int32{tok.Encode(text, 24)}, bert.CLS, 1)
			errtest.None(t, err)
			for j, v := range want[0] {
				if d := math.Abs(float64(v - rounded.Data[i*tinyHidden+j])); !(d <= far) {
					t.Fatalf("%s: document %d, number %d: %g, want %g", precision, i, j, rounded.Data[i*tinyHidden+j], v)
				}
			}
		}
	}
	first, err := l.do("embed", map[string]any{"title": false, "corpus": l.corpusOf(nil), "model": files, "tokenizer": tokenizer, "max_tokens": int64(24)})
	errtest.None(t, err)
	if m, err := npy.Read(bytes.NewReader(l.bytes(first.Outputs["embeddings"]))); err != nil || m.Rows != 0 || m.Cols != tinyHidden {
		t.Errorf("no documents: %d x %d, %v", m.Rows, m.Cols, err)
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
	for name, c := range map[string]struct {
		files  map[string][]byte
		tokens int64
		want   string
	}{
		"no configuration": {without("config.json"), 8, "config.json: no such file or directory; want config.json and model.safetensors"},
		"no weights":       {without("model.safetensors"), 8, "has none of [model.safetensors model.safetensors.index.json pytorch_model.bin"},
		"another model":    {with(`"bert"`, `"t5"`), 8, `model_type is "t5"`},
		"cut short":        {map[string][]byte{"config.json": model["config.json"], "model.safetensors": model["model.safetensors"][:5000]}, 8, "safetensors"},
		"no numbers":       {broken, 8, "vector 0 of the documents is not finite"},
		"few positions":    {model, 64, "max_tokens is 64, the model has 40 positions"},
	} {
		_, err := l.do("embed", map[string]any{"title": false, "corpus": corpus, "model": l.tree("hf/model", c.files), "tokenizer": tokenizer, "max_tokens": c.tokens})
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || !app.NonRetryable() || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q, permanent", name, err, c.want)
		}
	}
	spec := l.Registry.Lookup("embed")
	for want, attrs := range map[string]map[string]any{
		"int8 is computed on processors only": {"device": "cuda", "precision": "int8"},
		"auto, cpu, cuda or":                  {"device": "gpu"},
		"max_tokens: want 2 or":               {"max_tokens": int64(-1), "device": "cuda:x"},
	} {
		tree := map[string]any{"corpus": corpus, "model": l.tree("files", model), "tokenizer": tokenizer}
		maps.Copy(tree, attrs)
		errtest.Says(t, errtest.Of(spec.Complete(tree)), want)
	}
}
