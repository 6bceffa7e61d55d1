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
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
)

// TestIdentifierOptions: what the attributes of kinds of identifiers say reaches them.
func TestIdentifierOptions(t *testing.T) {
	l := newLocal(t)
	titles := make([]string, 30)
	vectors := npy.Matrix{Rows: len(titles), Cols: 1, Data: make([]float32, len(titles))}
	for i := range titles {
		titles[i] = strconv.Itoa(i)
		vectors.Data[i] = float32(i * i % 17)
	}
	var saved bytes.Buffer
	errtest.None(t, npy.Write(&saved, vectors))
	documents, embeddings := l.collectionOf(titles...), l.blob("docid/embeddings", saved.Bytes())
	tokenizer := l.blob("files", readFile(t, fewerTokens(t, 3000)))
	made := func(kind string, config map[string]any) (*docid.Set, error) {
		config["documents"] = documents
		if kind != "atomic_ids" {
			config["tokenizer"] = tokenizer
		}
		if kind == "semantic_ids" {
			config["embeddings"], config["leaf_size"], config["clusters"] = embeddings, int64(2), int64(3)
		}
		return l.readIDs(kind, config)
	}
	texts := func(kind string, config map[string]any) string {
		t.Helper()
		s, err := made(kind, config)
		errtest.None(t, err)
		return strings.Join(textsOf(s), " ")
	}

	for _, c := range []struct {
		config map[string]any
		last   docid.Identifier
	}{
		{map[string]any{}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{32_129}}},
		{map[string]any{"eos": true}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{32_129, 1}}},
		{map[string]any{"eos": true, "eos_token": int64(2), "first_token": int64(50_265)}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{50_294, 2}}},
	} {
		s, err := made("atomic_ids", c.config)
		errtest.None(t, err)
		if got := s.Identifiers[29]; got.Text != c.last.Text || !slices.Equal(got.Tokens, c.last.Tokens) {
			t.Errorf("atomic: %+v, want %+v", got, c.last)
		}
	}

	python := texts("naive_ids", map[string]any{"times": 1.01}) // 30.3: 31 numbers
	if python != texts("naive_ids", map[string]any{"budget": int64(31)}) || python == texts("naive_ids", map[string]any{"budget": int64(30)}) {
		t.Error("naive: 1.01 x 30 documents are not 31 numbers")
	}
	if pcg := texts("naive_ids", map[string]any{"budget": int64(31), "generator": "pcg"}); pcg == python {
		t.Error("naive: both generators give the same numbers")
	}

	derived := texts("semantic_ids", map[string]any{})
	if derived == texts("semantic_ids", map[string]any{"node_seeds": "same"}) {
		t.Error("semantic: seeds of nodes change nothing")
	}
	for _, config := range []map[string]any{{"precision": "float32"}, {"n_init": int64(5)}, {"max_iter": int64(1)}, {"tol": 0.0}} {
		texts("semantic_ids", config)
	}

	mistakes(t, "atomic_ids", map[string]any{"documents": documents}, map[string]map[string]any{
		"first_token: want 0 to 2147483647, got the number -1":         {"first_token": int64(-1)},
		"eos_token: want a token id below first_token":                 {"eos_token": int64(32_100)},
		"first_token: want 0 to 2147483647, got the number 2147483648": {"first_token": int64(1) << 31},
	})
	config := map[string]any{"documents": documents, "tokenizer": []any{tokenizer}, "budget": int64(30)}
	mistakes(t, "naive_ids", config, map[string]map[string]any{"generator: ": {"generator": "numpy"}})
	delete(config, "budget")
	config["embeddings"] = embeddings
	mistakes(t, "semantic_ids", config, map[string]map[string]any{
		"seed: ": {"seed": int64(1) << 32}, "n_init: ": {"n_init": int64(0)}, "max_iter: ": {"max_iter": int64(0)}, "tol: ": {"tol": -1.0},
		"node_seeds: ": {"node_seeds": "random"}, "precision: ": {"precision": "float16"},
	})
}

// titled is a collection of documents with keys D0, D1, … and these titles, and a corpus
// with texts of them.
func (l *local) titled(titles, texts []string) (documents, texted step.Input) {
	l.t.Helper()
	var docs []dedup.Document
	for i, title := range titles {
		docs = append(docs, dedup.Document{Doc: int32(i), Key: "D" + string(rune('0'+i)), ExampleID: int64(i), Split: nq.Train, Title: title})
	}
	return l.blob("nq/documents", compressed(l.t, docs)), l.corpusOf(texts)
}

func (l *local) readIDs(kind string, config map[string]any) (*docid.Set, error) {
	l.t.Helper()
	res, err := l.do(kind, config)
	if err != nil {
		return nil, err
	}
	return docid.Read(bytes.NewReader(l.bytes(res.Outputs["ids"])))
}

func textsOf(s *docid.Set) []string {
	var all []string
	for _, id := range s.Identifiers {
		all = append(all, id.Text)
	}
	return all
}

// TestTitleIDs: with the tokenizers of T5, which has no Ä, and BART, the text of an identifier
// is what its tokens spell, whatever the title.
func TestTitleIDs(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	documents, texts := l.titled(
		[]string{"The Walking Dead (season 8)", "  Ärmelkanal \t–  Tunnel ", "The Walking Dead (season 8)", "", "東京", "</s> <pad>", "Ångström ﬁne", strings.Repeat("long title ", 40)},
		[]string{"a", "b", "c", "one two three four", " ", "hill top", "d", "e"})
	for name, c := range map[string]struct {
		tokenizer string
		want      []string // of T5
	}{
		"t5": {filepath.Join("..", "assets", "tokenizers", "t5-tokenizer.json.gz"), []string{"The Walking Dead (season 8)", "rmelkanal – Tunnel",
			"The Walking Dead (season 8) (2)", "one two three", "untitled", "hill top", "ngström fine", strings.TrimSpace(strings.Repeat("long title ", 12))}},
		"bart": {filepath.Join("..", "internal", "model", "subword", "testdata", "bart-tokenizer.json"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			tok, err := subword.LoadSubword(c.tokenizer)
			errtest.None(t, err)
			defer tok.Close()
			config := map[string]any{"documents": documents, "corpus": texts, "tokenizer": l.blob("files", readFile(t, c.tokenizer)), "words": int64(3)}
			set, err := l.readIDs("title_ids", config)
			errtest.None(t, err)
			around := tok.WithSpecialTokens(nil)
			for _, id := range set.Identifiers {
				if spelled := strings.TrimSpace(tok.Decode(id.Tokens, true)); spelled != id.Text || len(id.Tokens) > 24+len(around) || id.Tokens[len(id.Tokens)-1] != around[len(around)-1] {
					t.Errorf("document %s: %q is tokens %v, which spell %q", id.Document, id.Text, id.Tokens, spelled)
				}
			}
			if got := textsOf(set); c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if set, err = l.readIDs("title_ids", changed(config, map[string]any{"lowercase": true})); err != nil || set.Identifiers[0].Text != "the walking dead (season 8)" {
				t.Errorf("lower-cased: %q, %v", textsOf(set)[0], err)
			}
			delete(config, "corpus")
			l.refuses("title_ids", config, `document 3, "D3", has no title that the tokenizer can spell: give corpus`)
		})
	}
}

// TestKeywordIDs: words that no other document has come first; what is left without words
// is untitled, and a corpus of another collection is refused.
func TestKeywordIDs(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	documents, texts := l.titled(make([]string, 4), []string{"The sea is deep. The sea!", "The hill is high", "The hill, the hill", " "})
	tokenizer := l.blob("files", readFile(t, filepath.Join("..", "assets", "tokenizers", "t5-tokenizer.json.gz")))
	config := map[string]any{"documents": documents, "corpus": texts, "tokenizer": tokenizer, "words": int64(2)}
	set, err := l.readIDs("keyword_ids", config)
	errtest.None(t, err)
	if want := []string{"sea deep", "high hill", "hill the", "untitled"}; set.Kind != docid.KindKeyword || !slices.Equal(textsOf(set), want) {
		t.Errorf("%q, want %q", textsOf(set), want)
	}
	for _, texts := range [][]string{make([]string, 3), make([]string, 5)} {
		l.refuses("keyword_ids", changed(config, map[string]any{"corpus": l.corpusOf(texts)}), "corpus lacks some of the 4 documents")
	}
}

// TestImportIDs: identifiers are imported from JSON lines or columns, and errors name
// the file and the line.
func TestImportIDs(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	documents, _ := l.titled([]string{"a", "b", "c"}, make([]string, 3))
	tokenizer := l.blob("files", readFile(t, fewerTokens(t, 10_000)))
	brought := func(change map[string]any, files ...string) (*docid.Set, error) {
		named := map[string][]byte{}
		for i, f := range files {
			named["ids-"+string(rune('a'+i))] = []byte(f)
		}
		config := map[string]any{"documents": documents, "tokenizer": tokenizer, "files": l.tree("files", named)}
		maps.Copy(config, change)
		return l.readIDs("import_ids", config)
	}
	want := []docid.Identifier{{Document: "0", Text: "deep sea", Tokens: []int32{1659, 2805, 1}}, {Document: "1", Text: "hill", Tokens: []int32{9956, 1}}, {Document: "2", Text: "141913", Tokens: []int32{968, 2294, 2368, 1}}}
	for name, c := range map[string]struct {
		change map[string]any
		files  []string
	}{
		"JSON lines": {nil, []string{`{"docid":"D2","text":"141913"}` + "\n\n" + `{"document":"D0","text":"deep sea","tokens":[1659,2805,1]}` + "\r\n", `{"_id":"D1","tokens":[9956]}`}},
		"columns":    {nil, []string{"D2\t141913\nD0\tdeep sea\t1659 2805\nD1\t\t9956 1\n"}},
		"numbers":    {map[string]any{"names": "number", "type": "title"}, []string{`{"doc_id":2,"identifier":"141913"}` + "\n" + `{"doc_id":"0","identifier":"deep sea"}` + "\n" + `{"doc_id":1,"identifier":"hill"}`}},
	} {
		set, err := brought(c.change, c.files...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, id := range set.Identifiers {
			if id.Document != want[i].Document || id.Text != want[i].Text || !slices.Equal(id.Tokens, want[i].Tokens) {
				t.Errorf("%s: %+v, want %+v", name, id, want[i])
			}
		}
	}
	// What is exported comes in again.
	titles, err := l.readIDs("title_ids", map[string]any{"documents": documents, "tokenizer": tokenizer})
	errtest.None(t, err)
	exported, err := l.do("export", map[string]any{"documents": documents, "queries": l.lines([]dedup.Query{{Split: nq.Train, Question: "a"}}),
		"identifiers": map[string]any{"title": l.set(titles)}, "formats": []any{"jsonl"}, "ids": "key", "name": "X", "key": "exact", "origin": "other"})
	errtest.None(t, err)
	again, err := brought(map[string]any{"files": step.In(exported.Outputs["files"]), "file": "identifiers/*.jsonl.gz", "type": "title"}, "unread")
	if err != nil || !reflect.DeepEqual(again, titles) {
		t.Errorf("%+v, %v, want %+v", again, err, titles)
	}
	errtest.Says(t, errtest.Of(brought(map[string]any{"file": "other"}, "D0\ta\n")), `no file is named "other"; there are ["ids-a"]`)

	for _, c := range []struct {
		change map[string]any
		files  []string
		want   string
	}{
		{nil, []string{"D0\ta\nD1 b\n"}, "ids-a, line 2: want a document's name, a tab"},
		{nil, []string{"D0\ta\t5 x\n"}, `ids-a, line 1: token "x" is not a token id`},
		{nil, []string{"{\"text\":\"a\"}\n"}, "ids-a, line 1: names no document"},
		{nil, []string{"{\"id\":[1]}\n"}, "field id is neither a text nor a number"},
		{nil, []string{"{\"id\":\"D0\",\"text\":5}\n"}, "ids-a, line 1: field text is not a text"},
		{nil, []string{"{\"id\":\"D0\",\"tokens\":[\"a\"]}\n"}, "ids-a, line 1: field tokens is not the expected list"},
		{nil, []string{"{\"id\":\n"}, "ids-a, line 1: is not a JSON object"},
		{nil, []string{"D0\ta\n", "D1\tb\nD0\tc\n"}, `ids-b, line 2: document "D0" has an identifier at ids-a, line 1 already`},
		{nil, []string{"D0\ta\n", "D7\tb\n"}, `ids-b, line 1: "D7" is not one of the 3 documents`},
		{nil, []string{"D0\ta\t40000\n"}, "token 40000 is outside of the vocabulary of 10000"},
		{nil, []string{"D0\t\n"}, `document "D0": it has neither text nor tokens`},
		{nil, []string{"D0\t東京\n"}, "has no tokens for all of"},
		{map[string]any{"vocabulary": int64(10_028)}, []string{"D0\t\t10010\n"}, "its tokens spell nothing"},
		{nil, []string{""}, `3 of 3 documents have no identifier, the first is "D0"`},
	} {
		errtest.Says(t, errtest.Of(brought(c.change, c.files...)), c.want)
	}
}

// TestTokensOfTheirOwn: tokens that the tokenizer does not have are shown as what they
// stand for in the identifier.
func TestTokensOfTheirOwn(t *testing.T) {
	f := newTraining(t, newLocal(t))
	for _, kind := range []docid.Kind{docid.KindAtomic, docid.KindResidual} {
		ids := f.ids(kind)
		res := f.made("id_tokens", map[string]any{"tokenizer": f.config["tokenizer"], "ids": f.set(ids), "documents": []any{int64(0), int64(7)}})
		var report struct {
			Examples []struct{ Pieces []string }
		}
		f.json(res.Outputs["report"], &report)
		for i, place := range []int{0, 7} {
			want := strings.Split(ids.Identifiers[place].Text, "-")
			if !kind.OneToken() {
				want = append(want, "</s>")
			}
			if got := report.Examples[i].Pieces; !slices.Equal(got, want) {
				t.Errorf("%s: pieces %q, want %q", kind, got, want)
			}
		}
	}
}

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
		filetest.Write(t, filepath.Join(folder, name), data)
	}
	tok, err := tokenize.LoadBERT(tinyTokenizer)
	errtest.None(t, err)
	config := changed(l.encoder(model), map[string]any{"title": false, "corpus": l.corpusOf(texts), "batch_tokens": int64(100)})
	for _, c := range []struct {
		pooling   bert.Pooling
		precision string // in another one it is what the model says once it is rounded
		far       float64
	}{{bert.CLS, "fp32", 1e-5}, {bert.Mean, "fp32", 1e-5}, {bert.CLS, "bf16", 0.05}, {bert.CLS, "int8", 0.1}} {
		m, err := bert.Load(folder, tensor.CPU)
		errtest.None(t, err)
		defer m.Close()
		errtest.None(t, m.In(c.precision))
		res := l.made("embed", changed(config, map[string]any{"pooling": string(c.pooling), "precision": c.precision}))
		got := l.vectors(res)
		if got.Rows != len(texts) || got.Cols != tinyHidden {
			t.Fatalf("%d x %d vectors, want %d x %d", got.Rows, got.Cols, len(texts), tinyHidden)
		}
		for i, text := range texts {
			tokens, _ := tok.EncodeTruncated(text, 24)
			want, err := m.Embed([][]int32{tokens}, c.pooling, 1)
			errtest.None(t, err)
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
	m, err := npy.Read(bytes.NewReader(l.bytes(res.Outputs["embeddings"])))
	errtest.None(l.t, err)
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
			if got.Outputs["embeddings"].Digest != want.Outputs["embeddings"].Digest {
				t.Errorf("%s: the %s queries' vectors are not those of their texts", kind, split)
			}
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
	want, err := l.do("embed_hashing", map[string]any{"title": false, "corpus": l.corpusOf([]string{"naïve bayes alpha", "beta"})})
	errtest.None(t, err)
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
		m, err := bert.Load(folder, tensor.CPU)
		errtest.None(t, err)
		defer m.Close()
		tok, err := subword.LoadEncoder(path)
		errtest.None(t, err)
		defer tok.Close()
		tree := map[string]any{"title": false, "corpus": l.corpusOf(texts), "model": l.tree("files", folderOf(t, folder, "")), "pooling": "max",
			"tokenizer": []any{l.tree("files", map[string][]byte{"tokenizer.json": readFile(t, path)})}, "max_tokens": m.Config.MaxTokens(), "device": "cpu"}
		res := l.made("embed", tree)
		got := l.vectors(res)
		for i, text := range texts {
			ids, _ := tok.EncodeTruncated(text, int(m.Config.MaxTokens()))
			want, err := m.Embed([][]int32{ids}, bert.Max, 1)
			errtest.None(t, err)
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
		errtest.Says(t, errtest.Of(l.do("embed", tree)), fmt.Sprintf("the model has %d positions", m.Config.MaxTokens()))
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
		if got, err := embed(c.files, c.pooling, c.normalize); err != nil || got != c.want {
			t.Errorf("%s, %v: %d differences, want %d, %v", c.pooling, c.normalize, got, c.want, err)
		}
	}
	errtest.Says(t, errtest.Of(embed(outside, "cls", false)), "is not below the folder")
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
		errtest.None(t, json.Unmarshal(readFile(t, filepath.Join(golden, name)), v))
	}
	l := newLocal(t)
	model := l.made("import_model", map[string]any{"files": []any{l.tree("files", folderOf(t, folder, ""))}})
	res, err := l.do("embed", map[string]any{"title": false, "corpus": l.corpusOf(texts), "model": step.In(model.Outputs["model"]),
		"tokenizer": []any{step.In(model.Outputs["tokenizer"])}, "pooling": "mean", "normalize": true, "max_tokens": int64(128), "device": "cpu"})
	errtest.None(t, err)
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
	whole, err := embed(l)
	errtest.None(t, err)
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
	resumed, err := embed(l)
	errtest.None(t, err)
	if got, want := resumed.Outputs["embeddings"].Digest, whole.Outputs["embeddings"].Digest; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	l.counted(resumed, map[string]int64{unit + "_resumed": 2048, unit: 2*2048 + 300, "empty_texts": whole.Counts["empty_texts"]})
	l.leaves(0)
}
