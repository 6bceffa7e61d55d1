package kinds_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/sharing/hub"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

// folderOf reads the files of a folder, under a prefix.
func folderOf(t *testing.T, folder, prefix string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[prefix+name] = readFile(t, filepath.Join(folder, name))
		}
		return err
	})
	testkit.None(t, err)
	return files
}

func names(a artifacts.Artifact) (all []string) {
	for _, f := range a.Files {
		all = append(all, f.Name)
	}
	return all
}

const smallTokenizer = "../internal/model/subword/testdata/sorts/mt5.json"

// TestImportModel: what is needed of a folder comes through, told by its headers.
func TestImportModel(t *testing.T) {
	l := newLocal(t)
	files := folderOf(t, "../internal/model/t5/testdata/sharded", "out/")
	files["out/tokenizer.json"] = readFile(t, smallTokenizer)
	files["out/flax_model.msgpack"] = []byte("of another library")
	delete(files, "out/golden.safetensors")
	res := l.made("import_model", map[string]any{"files": []any{l.tree("files", files)}, "folder": "out"})
	l.says(res.Outputs["report"], map[string]any{"model_type": "t5", "encoder": false, "parameters": 5376., "vocabulary": 160., "tokens": 149.,
		"left_out.0": "flax_model.msgpack", "left_out.1": nil})
	if got := strings.Join(names(res.Outputs["model"]), " "); !strings.HasPrefix(got, "config.json model-00001-of-00005.safetensors") || strings.Contains(got, "token") {
		t.Errorf("model %s", got)
	}
	testkit.Deep(t, names(res.Outputs["tokenizer"]), []string{"tokenizer.json"}, "tokenizer")

	encoder := tinyBERT(t)
	plain := l.made("import_model", map[string]any{"files": []any{l.tree("files", encoder)}, "tokenizer": l.bertTokenizer()})
	embed := func(model, tokenizer any) artifacts.Digest {
		t.Helper()
		got, err := l.do("embed", map[string]any{"title": false, "corpus": l.corpusOf([]string{"a text", "and another"}), "model": model,
			"tokenizer": tokenizer, "max_tokens": int64(24), "device": "cpu"})
		testkit.None(t, err)
		return got.Outputs["embeddings"].Digest
	}
	if embed(step.In(plain.Outputs["model"]), []any{step.In(plain.Outputs["tokenizer"])}) != embed(l.tree("files", encoder), l.bertTokenizer()) {
		t.Error("the imported encoder embeds otherwise")
	}
}

func TestImportModelMistakes(t *testing.T) {
	l := newLocal(t)
	good := folderOf(t, "../internal/model/t5/testdata/gated_silu", "")
	good["tokenizer.json"] = readFile(t, smallTokenizer)
	config := string(good["config.json"])
	for want, change := range map[string]func(files map[string][]byte){
		"there is no config.json":                           func(files map[string][]byte) { delete(files, "config.json") },
		"has none of [model.safetensors":                    func(files map[string][]byte) { delete(files, "model.safetensors") },
		"there is no tokenizer.json: give one as tokenizer": func(files map[string][]byte) { delete(files, "tokenizer.json") },
		`config.json: model_type is "opt", want "t5"`:       func(files map[string][]byte) { files["config.json"] = []byte(`{"model_type":"opt"}`) },
		`T5 config: feed_forward_proj is "gated-mish"`: func(files map[string][]byte) {
			files["config.json"] = []byte(`{"model_type":"t5","feed_forward_proj":"gated-mish"}`)
		},
		"files: model.safetensors: safetensors": func(files map[string][]byte) { files["model.safetensors"] = files["model.safetensors"][:900] },
		`files: model.safetensors: tensor "shared.weight" has shape [160 8], the configuration asks for [159 8]`: func(files map[string][]byte) {
			files["config.json"] = []byte(strings.Replace(config, `"vocab_size": 160`, `"vocab_size": 159`, 1))
		},
		`files: model.safetensors: tensors "lm_head.weight" and "shared.weight" have other numbers`: func(files map[string][]byte) {
			files["config.json"] = []byte(strings.Replace(config, `"tie_word_embeddings": false`, `"tie_word_embeddings": true`, 1))
		},
		"tokenizer.json: tokenizer: it puts no end token after": func(files map[string][]byte) {
			var all map[string]any
			testkit.None(t, json.Unmarshal(files["tokenizer.json"], &all))
			all["post_processor"] = nil
			files["tokenizer.json"], _ = json.Marshal(all)
		},
		"tokenizer.json ends texts with token 2, eos_token_id of config.json is 1": func(files map[string][]byte) {
			files["tokenizer.json"] = readFile(t, "../internal/model/subword/testdata/sorts/xlm-roberta.json")
		},
		"tokenizer.json.gz has 32100 tokens, the model embeds 160": func(files map[string][]byte) {
			delete(files, "tokenizer.json")
			files["tokenizer.json.gz"] = readFile(t, "../assets/tokenizers/t5-tokenizer.json.gz")
		},
		`4 are given, and none of them is below "there/"`: func(files map[string][]byte) {},
	} {
		files := maps.Clone(good)
		change(files)
		tree := map[string]any{"files": []any{l.tree("files", files)}}
		if strings.HasPrefix(want, "4 are given") {
			tree["folder"] = "there"
		}
		l.refuses("import_model", tree, want)
	}
	twice := []any{l.tree("files", good), l.tree("files", map[string][]byte{"config.json": []byte("{}")})}
	l.refuses("import_model", map[string]any{"files": twice}, "config.json is given twice")
	mistakes(t, "import_model", nil, map[string]map[string]any{"folder: must be a relative path": {"files": twice, "folder": "../x"}})
}

// TestImportTrained: what export_model wrote comes in as what it was made of.
func TestImportTrained(t *testing.T) {
	e := newAsked(t, docid.KindNaive)
	exported := e.made("export_model", map[string]any{"model": e.config["model"], "ids": e.set(e.ids), "tokenizer": e.config["tokenizer"], "name": "A model"})
	tree := exported.Outputs["files"]
	res := e.made("import_trained", map[string]any{"files": []any{step.In(tree)}})
	if got, want := res.Outputs["ids"].Digest, e.set(e.ids).Artifact.Digest; got != want {
		t.Errorf("identifiers %s, want %s", got, want)
	}
	if got, want := res.Outputs["model"].Digest, e.config["model"].(step.Input).Artifact.Digest; got != want {
		t.Errorf("model %v, want %s", names(res.Outputs["model"]), want)
	}
	files := e.content(tree)
	lines := strings.SplitAfter(string(files["identifiers.jsonl"]), "\n")
	for want, change := range map[string]func(files map[string][]byte){
		"there is no redsi.json":             func(files map[string][]byte) { delete(files, "redsi.json") },
		"there is no identifiers.jsonl":      func(files map[string][]byte) { delete(files, "identifiers.jsonl") },
		"identifiers.jsonl: line 2: invalid": func(files map[string][]byte) { files["identifiers.jsonl"] = []byte(lines[0] + "?\n") },
		"identifiers.jsonl: the model was trained on naive identifiers of 30 documents, ids are naive identifiers of 1": func(files map[string][]byte) {
			files["identifiers.jsonl"] = []byte(lines[0])
		},
		"line 1: token 99999999 is outside": func(files map[string][]byte) {
			files["identifiers.jsonl"] = []byte(`{"docid":"0","text":"0","tokens":[99999999]}`)
		},
	} {
		files := maps.Clone(files)
		change(files)
		e.refuses("import_trained", map[string]any{"files": []any{e.tree("files", files)}}, want)
	}
	encoder := e.tree("files", tinyBERT(t))
	tokenizer := e.tree("files", map[string][]byte{"tokenizer.json.gz": readFile(t, tinyTokenizer)})
	e.refuses("import_trained", map[string]any{"files": []any{encoder, tokenizer}}, "is an encoder (bert)")
}

// TestExportModel: the folder has what transformers and the hub ask for, and says how the
// model is asked; tools/golden/model_card.py asks such folders.
func TestExportModel(t *testing.T) {
	var of model.Evaluation
	testkit.None(t, json.Unmarshal([]byte(`{"percent":{"post_filtered":{"hits_1":25,"hits_10":50,"mrr_10":31.25},"invalid_40":12.5},"width":40,"parameters":1234}`), &of))
	report := testkit.Value(json.Marshal(of))(t)
	for _, c := range []struct {
		kind   docid.Kind
		inputs retrieve.Inputs
		search retrieve.Search
		says   []string // in the card
		beams  string   // generation_config.json
	}{
		{docid.KindNaive, retrieve.Inputs{MaxInput: 12, MaxQuery: 11, Lowercase: true}, retrieve.DefaultSearch(),
			[]string{"tokenizer(query.lower(), truncation=True, max_length=12,", "known = {tuple(", "`early_stopping` is true"}, `"num_beams": 40, "num_return_sequences": 40, "early_stopping": true, "length_penalty": 1, "max_new_tokens": 3`},
		{docid.KindNaive, retrieve.Inputs{MaxInput: 12, MaxQuery: 64, QueryPrefix: "query:"}, retrieve.Search{EarlyStopping: stopping.Never, Validity: retrieve.ByText},
			[]string{`tokenizer("query: " + query, truncation=True, max_length=65,`, "for t in dict.fromkeys(found) if t in known", "its text is an identifier"}, `"early_stopping": "never"`},
		{docid.KindNaive, retrieve.Inputs{MaxInput: 12, MaxQuery: 11, Lowercase: true}, retrieve.Search{EarlyStopping: stopping.Heuristic, Validity: retrieve.ByTokens},
			[]string{"max_length=12,", "its tokens are those of an identifier", "`early_stopping` is false"}, `"num_return_sequences": 40, "length_penalty": 1`},
		{docid.KindAtomic, retrieve.Inputs{MaxInput: 12, MaxQuery: 64, QueryPrefix: "query:"}, retrieve.DefaultSearch(),
			[]string{"decoder_input_ids=start"}, `"max_new_tokens": 1, "transformers_version"`},
	} {
		e := newAsked(t, c.kind)
		settings := testkit.Value(retrieve.SettingsFor(e.ids, c.inputs))(t)
		settings.Search = c.search
		config := map[string]any{"model": e.with(settings), "ids": e.set(e.ids), "tokenizer": e.config["tokenizer"], "name": "A model", "base": "lab/base",
			"reports":  []any{e.blob("dsi/metrics", report)},
			"labels":   []any{"dev"},
			"settings": []any{"steps=100"}, "command": "redsi run -t x"}
		r := e.made("export_model", config)
		tree := r.Outputs["files"]
		content := e.content(tree)
		kind, ok := hub.KindOf(tree.Type)
		if err := hub.Check(kind, content[hub.Card], tree.Files); err != nil || !ok {
			t.Errorf("%s: %v, %v", tree.Type, ok, err)
		}
		card := string(content[hub.Card])
		for _, says := range append(c.says, "base_model: \"lab/base\"", "license: \"apache-2.0\"", "| dev | 25.00 | 50.00 | 31.25 | 12.50 |",
			"1,234 parameters", "- steps: `100`", "    redsi run -t x", "- model: `", "- report, dev: `") {
			if !strings.Contains(card, says) {
				t.Errorf("%s: the card does not say %q:\n%s", c.kind, says, card)
			}
		}
		if got := string(regexp.MustCompile(`\s+`).ReplaceAll(content["generation_config.json"], []byte(" "))); !strings.Contains(got, c.beams) {
			t.Errorf("%s: generation_config.json is %s; want %s", c.kind, got, c.beams)
		}
		var tokenizer map[string]any
		if err := json.Unmarshal(content["tokenizer_config.json"], &tokenizer); err != nil || tokenizer["eos_token"] != "</s>" || tokenizer["pad_token"] != "<pad>" || tokenizer["unk_token"] != "<unk>" {
			t.Errorf("tokenizer_config.json: %v, %v", tokenizer, err)
		}
		if !json.Valid(content["tokenizer.json"]) {
			t.Error("tokenizer.json is no JSON")
		}
		lines := bytes.Split(bytes.TrimSpace(content["identifiers.jsonl"]), []byte("\n"))
		var first struct {
			DocID, Text string
			Tokens      []int32
		}
		if err := json.Unmarshal(lines[0], &first); err != nil || len(lines) != len(e.ids.Identifiers) ||
			!reflect.DeepEqual(docid.Identifier{Document: first.DocID, Text: first.Text, Tokens: first.Tokens}, e.ids.Identifiers[0]) {
			t.Errorf("%d identifiers, the first %s, %v", len(lines), lines[0], err)
		}
	}
}

// TestExportModelRefuses: identifiers or a tokenizer that are not the model's.
func TestExportModelRefuses(t *testing.T) {
	e := newAsked(t, docid.KindNaive)
	other := docid.Set{Kind: e.ids.Kind, Identifiers: slices.Clone(e.ids.Identifiers)}
	other.Identifiers[0], other.Identifiers[1] = other.Identifiers[1], other.Identifiers[0]
	other.Identifiers[0].Document, other.Identifiers[1].Document = "0", "1"
	bart := readFile(t, "../internal/model/subword/testdata/bart-tokenizer.json")
	for want, change := range map[string]map[string]any{
		"another assignment of naive identifiers": {"ids": e.set(&other)},
		"it is not the model's":                   {"tokenizer": e.blob("files", []byte(`{"added_tokens": []}`))},
		"tokenizer":                               {"tokenizer": e.blob("files", bart[:100])},
	} {
		config := map[string]any{"model": e.config["model"], "ids": e.set(e.ids), "tokenizer": e.config["tokenizer"], "name": "A model"}
		e.refuses("export_model", changed(config, change), want)
	}
}

// TestRandomFamilies: random models of each family and feed-forward layer are what
// import_model takes for them.
func TestRandomFamilies(t *testing.T) {
	l := newLocal(t)
	tokenizer := l.tree("files", map[string][]byte{"tokenizer.json": readFile(t, smallTokenizer)})
	sizes := func(family, feedForward string) map[string]any {
		return map[string]any{"family": family, "feed_forward": feedForward, "layers": int64(1), "d_model": int64(8), "d_kv": int64(4), "d_ff": int64(8), "heads": int64(2), "vocabulary": int64(150)}
	}
	for _, c := range []struct {
		family, feedForward string
		tied                bool
	}{{"t5", "relu", true}, {"t5", "gelu", true}, {"t5", "gated-silu", false}, {"mt5", "gated-gelu", false}, {"umt5", "gated-gelu", false}} {
		made := l.made("random_t5", sizes(c.family, c.feedForward))
		model := made.Outputs["model"]
		res := l.made("import_model", map[string]any{"files": []any{step.In(model)}, "tokenizer": []any{tokenizer}})
		testkit.Is(t, res.Outputs["model"].Digest, model.Digest, c.family)
		l.says(artifacts.Artifact{Digest: fileOf(t, model, "config.json")}, map[string]any{"model_type": c.family, "tie_word_embeddings": c.tied, "feed_forward_proj": c.feedForward})
	}
	mistakes(t, "random_t5", sizes("mt5", "relu"), map[string]map[string]any{"feed_forward: must be a gated one for a multilingual T5": nil})
}
