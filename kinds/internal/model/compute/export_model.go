package compute

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/export"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

// generationConfig is generation_config.json: the search that redsi makes.
type generationConfig struct {
	specialTokens
	NumBeams           int     `json:"num_beams,omitempty"`
	NumReturnSequences int     `json:"num_return_sequences,omitempty"`
	EarlyStopping      any     `json:"early_stopping,omitempty"` // transformers': false, true or "never"
	LengthPenalty      float64 `json:"length_penalty,omitempty"`
	MaxNewTokens       int     `json:"max_new_tokens"`
	Version            string  `json:"transformers_version"`
}

// exportedIdentifier is a line of identifiers.jsonl.
type exportedIdentifier struct {
	Document string  `json:"docid"` // its number
	Title    string  `json:"title,omitempty"`
	Text     string  `json:"text"`
	Tokens   []int32 `json:"tokens"`
}

func runExportModel(ctx context.Context, x *step.IO, c model.ExportModelConfig) error {
	for _, f := range x.Files(c.Model, "model") {
		if err := x.LinkFile("files", f); err != nil {
			return err
		}
	}
	settings, err := model.Settings(x, c.Model)
	special, ownHead, errConfig := ofConfig(x, c.Model)
	ids, errIDs := inout.ReadIDs(x, c.IDs)
	if err = cmp.Or(err, errConfig, errIDs); err != nil {
		return err
	}
	if err := settings.Match(ids); err != nil {
		return step.Permanent(err)
	}
	titles, err := titlesOf(x, c.Documents, ids)
	if err != nil {
		return err
	}
	longest := 0
	err = inout.WriteFile(x, "files", "identifiers.jsonl", func(w io.Writer) error {
		b := bufio.NewWriter(w)
		lines := json.NewEncoder(b)
		lines.SetEscapeHTML(false)
		for i, id := range ids.Identifiers {
			longest = max(longest, len(id.Tokens))
			if err := lines.Encode(exportedIdentifier{id.Document, titles[i], id.Text, id.Tokens}); err != nil {
				return err
			}
		}
		return b.Flush()
	})
	if err != nil {
		return err
	}
	x.Count("documents", int64(len(ids.Identifiers)))
	if err := exportTokenizer(x, c.Tokenizer, special); err != nil {
		return err
	}
	tok, read, err := openTokenizer(x, c.Tokenizer, settings.Inputs.Reader)
	if err != nil {
		return err
	}
	defer tok.Close()
	query, err := queryInput(read)
	if err != nil {
		return err
	}
	generation := generationConfig{specialTokens: special, MaxNewTokens: 1, Version: transformersVersion}
	if !ids.Kind.OneToken() {
		o := retrieve.Default()
		generation = generationConfig{specialTokens: special, NumBeams: o.Width, NumReturnSequences: o.Width, LengthPenalty: o.LengthPenalty,
			EarlyStopping: transformersStopping[settings.Search.EarlyStopping], MaxNewTokens: longest, Version: transformersVersion}
	}
	if err := writeJSONFile(x, "generation_config.json", generation); err != nil {
		return err
	}
	card, err := modelCard(x, c, settings, query)
	if err != nil {
		return err
	}
	card.OwnHead = ownHead
	return inout.WriteFile(x, "files", "README.md", func(w io.Writer) error { return step.Permanent(export.WriteModelCard(w, card)) })
}

// transformersVersion is the version for which generation, formats and card are tested.
const transformersVersion = "4.44.1"

// transformersStopping says in transformers' terms when a search ends; nil: its default.
var transformersStopping = map[stopping.Rule]any{stopping.Full: true, stopping.Never: "never"}

// titlesOf returns the documents' titles by the places of their identifiers; empty titles without documents.
func titlesOf(x *step.IO, in step.Input, ids *docid.Set) ([]string, error) {
	titles := make([]string, len(ids.Identifiers))
	if !in.Set() {
		return titles, nil
	}
	pairing := ids.PairWith("documents")
	err := inout.EachRow(x, in, "documents", func(d *dedup.Document) error {
		place, err := pairing.Find(int(d.Doc))
		if err == nil {
			titles[place] = d.Title
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return titles, step.Permanent(pairing.Complete())
}

func writeJSONFile(x *step.IO, name string, v any) error {
	return inout.WriteFile(x, "files", name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}

// queryInput says how the tokenizer on its own makes the reader's tokens of a text with its prefix.
func queryInput(read retrieve.Reader) (export.QueryInput, error) {
	how, tok := read.Inputs, read.Tokenizer
	q := export.QueryInput{Tokens: how.MaxQuery + len(tok.WithSpecialTokens(nil)), Lowercase: how.Lowercase}
	if how.QueryPrefix == "" {
		return q, nil
	}
	const probe = "who played"
	want := slices.Concat(tok.Pieces(how.QueryPrefix), tok.Pieces(probe))
	for _, between := range []string{" ", ""} { // T5's pieces begin with a blank, BART's do not
		if q.Prefix = how.QueryPrefix + between; slices.Equal(tok.Pieces(q.Prefix+probe), want) {
			return q, nil
		}
	}
	return q, step.Permanent(fmt.Errorf("the tokenizer has other tokens for a query after the prefix %q than for prefix and query one by one: no text stands for what the model reads", how.QueryPrefix))
}

func modelCard(x *step.IO, c model.ExportModelConfig, s retrieve.Settings, query export.QueryInput) (export.ModelCard, error) {
	card := export.ModelCard{Name: c.Name, License: c.License, Language: c.Language, Base: c.Base, Dataset: c.Dataset, Command: c.Command,
		Identifiers: string(s.Identifiers), OneToken: s.Identifiers.OneToken(), Documents: s.Documents,
		Query: query, Valid: string(s.Search.Validity), Ends: string(s.Search.EarlyStopping)}
	for _, set := range c.Settings {
		name, value, _ := strings.Cut(set, "=")
		card.Settings = append(card.Settings, export.Setting{Name: name, Value: value})
	}
	source := func(name string, in step.Input) {
		if in.Set() {
			card.Sources = append(card.Sources, export.Setting{Name: name, Value: in.Artifact.Digest.String()})
		}
	}
	source("model", c.Model)
	source("ids", c.IDs)
	source("documents", c.Documents)
	for i, in := range c.Reports {
		source("report, "+c.Labels[i], in)
		var e model.Evaluation
		if err := inout.ReadJSON(x, in, &e); err != nil {
			return card, err
		}
		card.Parameters = e.Parameters
		card.Results = append(card.Results, resultOf(e, c.Labels[i]))
	}
	return card, nil
}

func resultOf(e model.Evaluation, label string) export.Result {
	m := e.Percent.PostFiltered
	r := export.Result{Name: label, Scores: []export.Score{{Metric: "Hits@1", Value: m.Hits1}, {Metric: "Hits@10", Value: m.Hits10}, {Metric: "MRR@10", Value: m.MRR10}}}
	if invalid := cmp.Or(e.Percent.Invalid, e.Percent.InvalidBeam); invalid != nil {
		r.Scores = append(r.Scores, export.Score{Metric: model.InvalidMetric(e.Width), Value: *invalid})
	}
	return r
}

// specialTokens are the fields of config.json that generation_config.json repeats.
type specialTokens struct {
	Start     *int64 `json:"decoder_start_token_id,omitempty"`
	BOS       *int64 `json:"bos_token_id,omitempty"`
	EOS       *int64 `json:"eos_token_id,omitempty"`
	Pad       *int64 `json:"pad_token_id,omitempty"`
	ForcedBOS *int64 `json:"forced_bos_token_id,omitempty"`
	ForcedEOS *int64 `json:"forced_eos_token_id,omitempty"`
}

// ofConfig reads from a model's config.json its special tokens, and whether it has an output matrix beside the embedding.
func ofConfig(x *step.IO, of step.Input) (specialTokens, bool, error) {
	config := struct {
		specialTokens
		Tied bool `json:"tie_word_embeddings"`
	}{Tied: true}
	text, err := model.File(x, of, "config.json")
	if err != nil || text == nil {
		return specialTokens{}, false, err
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return specialTokens{}, false, step.Permanent(fmt.Errorf("config.json: %w", err))
	}
	return config.specialTokens, !config.Tied, nil
}

// tokenizerConfig is the tokenizer_config.json of a tokenizer that tokenizer.json describes completely.
type tokenizerConfig struct {
	Class         string `json:"tokenizer_class"`
	MaxLength     int    `json:"model_max_length"`
	CleanUpSpaces bool   `json:"clean_up_tokenization_spaces"`
	BOS           string `json:"bos_token,omitempty"`
	EOS           string `json:"eos_token,omitempty"`
	Pad           string `json:"pad_token,omitempty"`
	Unknown       string `json:"unk_token,omitempty"`
}

// exportTokenizer writes tokenizer.json uncompressed, and its names of the special tokens as tokenizer_config.json.
func exportTokenizer(x *step.IO, in step.Inputs, special specialTokens) error {
	var plain []byte
	tokenizer, err := inout.OpenTokenizer(x, in, "tokenizer", func(path string) (*tokenize.File, error) {
		return tokenize.Load(path, func(data []byte) (file *tokenize.File, err error) {
			file, plain, err = tokenize.Parse(data)
			return file, err
		})
	})
	if err != nil {
		return err
	}
	name := func(id *int64) string {
		for _, a := range tokenizer.AddedTokens {
			if id != nil && int64(a.ID) == *id {
				return a.Content
			}
		}
		return ""
	}
	config := tokenizerConfig{Class: "PreTrainedTokenizerFast", MaxLength: 512, CleanUpSpaces: true,
		BOS: name(special.BOS), EOS: name(special.EOS), Pad: name(special.Pad), Unknown: name(tokenizer.Model.UnknownID)}
	if config.EOS == "" || config.Pad == "" {
		return step.Permanent(errors.New("tokenizer: its added_tokens do not have the tokens that config.json names as eos_token_id and pad_token_id: it is not the model's"))
	}
	if err := inout.WriteFile(x, "files", "tokenizer.json", func(w io.Writer) error { _, err := w.Write(plain); return err }); err != nil {
		return err
	}
	return writeJSONFile(x, "tokenizer_config.json", config)
}
