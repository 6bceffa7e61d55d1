package kinds_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/system/errtest"
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
	errtest.None(t, err)
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
	res, err := l.do("import_model", map[string]any{"files": []any{l.tree("files", files)}, "folder": "out"})
	errtest.None(t, err)
	var report map[string]any
	errtest.None(t, json.Unmarshal(l.bytes(res.Outputs["report"]), &report))
	if report["model_type"] != "t5" || report["encoder"] != false || report["parameters"] != 5376.0 || report["vocabulary"] != 160.0 || report["tokens"] != 149.0 ||
		!reflect.DeepEqual(report["left_out"], []any{"flax_model.msgpack"}) {
		t.Errorf("report %v", report)
	}
	if got := strings.Join(names(res.Outputs["model"]), " "); !strings.HasPrefix(got, "config.json model-00001-of-00005.safetensors") || strings.Contains(got, "token") {
		t.Errorf("model %s", got)
	}
	if got := names(res.Outputs["tokenizer"]); !reflect.DeepEqual(got, []string{"tokenizer.json"}) {
		t.Errorf("tokenizer %v", got)
	}

	encoder := tinyBERT(t)
	plain, err := l.do("import_model", map[string]any{"files": []any{l.tree("files", encoder)}, "tokenizer": l.bertTokenizer()})
	errtest.None(t, err)
	embed := func(model, tokenizer any) artifacts.Digest {
		t.Helper()
		got, err := l.do("embed", map[string]any{"title": false, "corpus": l.corpusOf([]string{"a text", "and another"}), "model": model,
			"tokenizer": tokenizer, "max_tokens": int64(24), "device": "cpu"})
		errtest.None(t, err)
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
			errtest.None(t, json.Unmarshal(files["tokenizer.json"], &all))
			all["post_processor"] = nil
			files["tokenizer.json"], _ = json.Marshal(all)
		},
		"tokenizer.json ends texts with token 2, eos_token_id of config.json is 1": func(files map[string][]byte) {
			files["tokenizer.json"] = readFile(t, "../internal/model/subword/testdata/sorts/xlm-roberta.json")
		},
		"tokenizer.json has 32100 tokens, the model embeds 160": func(files map[string][]byte) {
			delete(files, "tokenizer.json")
			files["tokenizer.json.gz"] = readFile(t, "../assets/tokenizers/t5-tokenizer.json.gz")
		},
		`none of 4 is below "there/"`: func(files map[string][]byte) {},
	} {
		files := maps.Clone(good)
		change(files)
		if strings.Contains(want, "tokenizer.json.gz") {
			want = strings.Replace(want, "tokenizer.json ", "tokenizer.json.gz ", 1)
		}
		tree := map[string]any{"files": []any{l.tree("files", files)}}
		if strings.HasPrefix(want, "none of") {
			tree["folder"] = "there"
		}
		_, err := l.do("import_model", tree)
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || !app.NonRetryable() || !strings.Contains(strings.ReplaceAll(err.Error(), "tokenizer.json.gz", "tokenizer.json"), want) {
			t.Errorf("got %v, want %q, permanent", err, want)
		}
	}
	twice := []any{l.tree("files", good), l.tree("files", map[string][]byte{"config.json": []byte("{}")})}
	errtest.Says(t, errtest.Of(l.do("import_model", map[string]any{"files": twice})), "config.json is given twice")
	errtest.Says(t, errtest.Of(l.Registry.Lookup("import_model").Complete(map[string]any{"files": twice, "folder": "../x"})), "folder: must be a relative path")
}

// TestImportTrained: what export_model wrote comes in as what it was made of.
func TestImportTrained(t *testing.T) {
	e := newAsked(t, docid.KindNaive)
	exported, err := e.do("export_model", map[string]any{"model": e.config["model"], "ids": e.set(e.ids), "tokenizer": e.config["tokenizer"], "name": "A model"})
	errtest.None(t, err)
	tree := exported.Outputs["files"]
	res, err := e.do("import_trained", map[string]any{"files": []any{step.In(tree)}})
	errtest.None(t, err)
	if got, want := res.Outputs["ids"].Digest, e.set(e.ids).Artifact.Digest; got != want {
		t.Errorf("identifiers %s, want %s", got, want)
	}
	if got, want := res.Outputs["model"].Digest, e.config["model"].(step.Input).Artifact.Digest; got != want {
		t.Errorf("model %v, want %s", names(res.Outputs["model"]), want)
	}
	files := map[string][]byte{}
	for _, f := range tree.Files {
		files[f.Name] = e.bytes(artifacts.Artifact{Digest: f.Digest})
	}
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
		errtest.Says(t, errtest.Of(e.do("import_trained", map[string]any{"files": []any{e.tree("files", files)}})), want)
	}
	encoder := e.tree("files", tinyBERT(t))
	tokenizer := e.tree("files", map[string][]byte{"tokenizer.json.gz": readFile(t, tinyTokenizer)})
	errtest.Says(t, errtest.Of(e.do("import_trained", map[string]any{"files": []any{encoder, tokenizer}})), "is an encoder (bert)")
}
