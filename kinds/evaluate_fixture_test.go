package kinds_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// asked is a hand-made collection of 30 documents with 8 development queries, whose models
// have the first 3,000 of T5's tokens.
type asked struct {
	*local
	ids     *docid.Set
	queries []dedup.Query
	config  map[string]any // of an evaluate step
}

// questions are of all sorts: an evaluation must not fail at any.
var questions = []string{
	"who sings does he love me with reba", "", " \t ", "when did the Walking Dead season 8 come out", "\x00",
	"ärmelkanal 東京 \u200b \U0001F600", strings.Repeat("how many ", 400), "what is 14 + 19",
}

// targets are chosen for what the model of naive identifiers ranks: high, low and
// not at all.
var targets = []int32{7, 19, 14, 9, 15, 27, 0, 1}

const askedRows = 3072 // of a model's embedding

func newAsked(t *testing.T, kind docid.Kind) *asked {
	t.Helper()
	e := &asked{local: newLocal(t)}
	tokenizer := fewerTokens(t, 3000)
	names := make([]string, 30)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	var err error
	if kind == docid.KindAtomic {
		e.ids, err = docid.Atomic(names, askedRows)
	} else {
		tok, loadErr := subword.LoadSubword(tokenizer)
		if loadErr != nil {
			t.Fatal(loadErr)
		}
		defer tok.Close()
		e.ids, err = docid.Naive(names, 40, 42, docid.GeneratorPCG, tok.EncodeBatch)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range questions {
		e.queries = append(e.queries,
			dedup.Query{ExampleID: int64(1000 + i), Split: nq.Dev, Question: q, Doc: targets[i]},
			dedup.Query{ExampleID: int64(2000 + i), Split: nq.Train, Question: q, Doc: 1})
	}
	e.config = map[string]any{
		"model": e.model(e.ids), "ids": e.set(e.ids), "queries": e.lines(e.queries),
		"tokenizer": e.blob("files", readFile(t, tokenizer)), "device": "cpu",
	}
	return e
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (l *local) set(ids *docid.Set) step.Input {
	l.t.Helper()
	var b bytes.Buffer
	errtest.None(l.t, ids.Write(&b))
	return l.blob("docid/ids", b.Bytes())
}

func (l *local) lines(queries []dedup.Query) step.Input {
	l.t.Helper()
	return l.blob("nq/queries", compressed(l.t, queries))
}

// compressed is JSON lines, as dedup stores them.
func compressed[T any](t *testing.T, values []T) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	errtest.None(t, err)
	e := json.NewEncoder(z)
	for _, v := range values {
		errtest.None(t, e.Encode(v))
	}
	errtest.None(t, z.Close())
	return b.Bytes()
}

// model has random weights, but prefers the tokens of identifiers and </s>, so that
// some of its hypotheses are identifiers: each embedding has one large coordinate,
// which is what </s> is scored by.
func (l *local) model(ids *docid.Set) step.Input {
	l.t.Helper()
	c := t5.Defaults()
	c.VocabSize = askedRows
	c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads, c.TieEmbeddings = 16, 8, 32, 1, 1, 2, false
	m, err := seq2seq.Init(c, 11, tensor.CPU)
	errtest.None(l.t, err)
	defer m.Close()
	if ids.Kind == docid.KindAtomic {
		_, last := ids.TokenRange() // some documents take rows that there are
		errtest.None(l.t, m.Extend(int64(last)+1-c.VocabSize, 12))
	} else {
		scale, ends, large := make([]float32, c.VocabSize), make([]float32, c.VocabSize*c.DModel), make([]float32, c.DModel)
		for _, id := range ids.Identifiers {
			for _, token := range id.Tokens {
				scale[token] = 0.2
			}
		}
		large[0], ends[c.EOSToken*c.DModel] = 4, 12
		err = tensor.Run(func(s *tensor.Scope) {
			tensor.NoGrad(func() {
				embedding, head := m.Param("shared.weight"), m.Param("lm_head.weight")
				s.AddInPlace(embedding, s.FromFloat32s(large, tensor.CPU, 1, c.DModel))
				s.CopyInPlace(head, s.Mul(head, s.FromFloat32s(scale, tensor.CPU, c.VocabSize, 1)))
				s.AddInPlace(head, s.FromFloat32s(ends, tensor.CPU, c.VocabSize, c.DModel))
			})
		})
		errtest.None(l.t, err)
	}
	folder := l.t.TempDir()
	errtest.None(l.t, m.Save(folder))
	settings, err := retrieve.SettingsFor(ids, retrieve.Inputs{MaxInput: 12, MaxQuery: 11, Lowercase: true})
	errtest.None(l.t, err)
	errtest.None(l.t, settings.Write(folder))
	return l.folder("dsi/model", folder, seq2seq.ConfigFile, seq2seq.WeightsFile, retrieve.SettingsFile)
}

// trainedOn is the model as if it had been trained on ids.
func (e *asked) trainedOn(ids *docid.Set) step.Input {
	e.t.Helper()
	settings, err := retrieve.SettingsFor(ids, retrieve.Inputs{MaxInput: 12, MaxQuery: 11, Lowercase: true})
	errtest.None(e.t, err)
	return e.with(settings)
}

// with is the model with other settings.
func (e *asked) with(settings retrieve.Settings) step.Input {
	e.t.Helper()
	text, err := json.Marshal(settings)
	errtest.None(e.t, err)
	b := e.blob("", text).Artifact
	return step.In(edited(e.t, e.config["model"], func(files []artifacts.File) []artifacts.File {
		for i, f := range files {
			if f.Name == retrieve.SettingsFile {
				files[i].Digest, files[i].Size = b.Digest, b.Size
			}
		}
		return files
	}))
}

// changed is the evaluate step with some attributes changed.
func (e *asked) changed(change map[string]any) map[string]any {
	config := maps.Clone(e.config)
	maps.Copy(config, change)
	return config
}

// try runs the step: its outputs as text.
func (e *asked) try(change map[string]any) (map[string]string, error) {
	e.t.Helper()
	res, err := e.inParts("evaluate", e.changed(change))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, a := range res.Outputs {
		out[name] = e.text(a.Digest)
	}
	return out, nil
}

func (e *asked) evaluate(change map[string]any) map[string]string {
	e.t.Helper()
	out, err := e.try(change)
	errtest.None(e.t, err)
	return out
}
