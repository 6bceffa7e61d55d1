package kinds_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/sharing/hub"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/kinds/internal/model"
)

// TestExportModel: the folder has what transformers and the hub ask for, and says how the
// model is asked; tools/golden/model_card.py asks such folders.
func TestExportModel(t *testing.T) {
	var of model.Evaluation
	errtest.None(t, json.Unmarshal([]byte(`{"percent":{"post_filtered":{"hits_1":25,"hits_10":50,"mrr_10":31.25},"invalid_40":12.5},"width":40,"parameters":1234}`), &of))
	report, err := json.Marshal(of)
	errtest.None(t, err)
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
		settings, err := retrieve.SettingsFor(e.ids, c.inputs)
		errtest.None(t, err)
		settings.Search = c.search
		config := map[string]any{"model": e.with(settings), "ids": e.set(e.ids), "tokenizer": e.config["tokenizer"], "name": "A model", "base": "lab/base",
			"reports":  []any{e.blob("dsi/metrics", report)},
			"labels":   []any{"dev"},
			"settings": []any{"steps=100"}, "command": "redsi run -t x"}
		r, err := e.do("export_model", config)
		errtest.None(t, err)
		tree := r.Outputs["files"]
		content := map[string][]byte{}
		for _, f := range tree.Files {
			content[f.Name] = e.bytes(artifacts.Artifact{Digest: f.Digest})
		}
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
	other := *e.ids
	other.Identifiers = append([]docid.Identifier(nil), other.Identifiers...)
	other.Identifiers[0], other.Identifiers[1] = docid.Identifier{Document: "0", Text: other.Identifiers[1].Text, Tokens: other.Identifiers[1].Tokens},
		docid.Identifier{Document: "1", Text: other.Identifiers[0].Text, Tokens: other.Identifiers[0].Tokens}
	bart := readFile(t, "../internal/model/subword/testdata/bart-tokenizer.json")
	for want, change := range map[string]map[string]any{
		"another assignment of naive identifiers": {"ids": e.set(&other)},
		"it is not the model's":                   {"tokenizer": e.blob("files", []byte(`{"added_tokens": []}`))},
		"tokenizer":                               {"tokenizer": e.blob("files", bart[:100])},
	} {
		config := map[string]any{"model": e.config["model"], "ids": e.set(e.ids), "tokenizer": e.config["tokenizer"], "name": "A model"}
		for k, v := range change {
			config[k] = v
		}
		errtest.Says(t, errtest.Of(e.do("export_model", config)), want)
	}
}
