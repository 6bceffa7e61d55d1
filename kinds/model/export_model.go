package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/decode"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/export"
	"github.com/redsi/redsi/internal/retrieve"
	"github.com/redsi/redsi/internal/tokenize"
	"github.com/redsi/redsi/internal/unpack"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// exportModelConfig makes a model's folder whole.
type exportModelConfig struct {
	Model     step.Input  `hcl:"model" accepts:"dsi/model" help:"trained model"`
	IDs       step.Input  `hcl:"ids" accepts:"docid/ids" help:"the identifiers that it was trained on"`
	Tokenizer step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json, plain or compressed"`
	Documents step.Input  `hcl:"documents,optional" accepts:"nq/documents" help:"collection, for the titles of its documents"`
	Reports   step.Inputs `hcl:"reports,optional" accepts:"dsi/metrics" help:"reports of evaluate steps that the card shows, with labels"`
	Labels    []string    `hcl:"labels,optional" help:"labels of the reports"`
	Name      string      `hcl:"name" help:"name of the model"`
	License   string      `hcl:"license,optional" help:"licence of the weights, as the hub writes it"`
	Base      string      `hcl:"base,optional" help:"repository of the model that it was trained from"`
	Dataset   string      `hcl:"dataset,optional" help:"repository of the collection"`
	Settings  []string    `hcl:"settings,optional" help:"how it was trained, each as NAME=VALUE"`
	Command   string      `hcl:"command,optional" help:"command that rebuilds the model"`
}

var ExportModel = step.Define(step.Kind[exportModelConfig]{
	Name:    "export_model",
	Version: 1,
	Doc: `Make a trained model's folder whole: whoever has it alone can ask the model.
Beside config.json and model.safetensors there are the tokenizer, the beams'
generation_config.json, identifiers.jsonl (identifier, tokens and title of every
document) and README.md, a card with the results, how it was trained, what from, and
the lines of Python by which transformers answers a query. The tree is a repository of
the Hugging Face hub: redsi export --hub writes it into a folder. Cost: a copy.`,
	Example: `step "export_model" "naive" {
  model     = step.train.dsi["title/nci_norm/base/naive/42"].model
  ids       = step.naive_ids.nq["title/dsi"].ids
  tokenizer = step.download.t5_tokenizer.files
  documents = step.dedup.nq["title"].documents
  reports   = [step.evaluate.dsi["title/nci_norm/base/naive/42"].report]
  labels    = ["dev"]
  name      = "ReDSI T5-Base, naive"
  base      = "google-t5/t5-base"
}`,
	Outputs:  []step.Output{{Name: "files", Type: "hub/model", Tree: true, Help: "the folder"}},
	Defaults: exportModelConfig{License: "apache-2.0"},
	Check: func(c exportModelConfig) error {
		var ps step.Problems
		if len(c.Labels) != len(c.Reports) {
			ps = append(ps, step.Problem{Path: "labels", Detail: fmt.Sprintf("has %d labels for %d reports", len(c.Labels), len(c.Reports))})
		}
		for i, s := range c.Settings {
			if name, _, ok := strings.Cut(s, "="); !ok || name == "" {
				ps = append(ps, step.Problem{Path: fmt.Sprintf("settings[%d]", i), Detail: "is not NAME=VALUE"})
			}
		}
		if len(ps) > 0 {
			return ps
		}
		return nil
	},
	Run: exportModel,
})

// specialTokens are the fields of config.json that generation_config.json repeats.
type specialTokens struct {
	Start     *int64 `json:"decoder_start_token_id,omitempty"`
	BOS       *int64 `json:"bos_token_id,omitempty"`
	EOS       *int64 `json:"eos_token_id,omitempty"`
	Pad       *int64 `json:"pad_token_id,omitempty"`
	ForcedBOS *int64 `json:"forced_bos_token_id,omitempty"`
	ForcedEOS *int64 `json:"forced_eos_token_id,omitempty"`
}

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

// tokenizerConfig is tokenizer_config.json of a tokenizer that its tokenizer.json says all of.
type tokenizerConfig struct {
	Class         string `json:"tokenizer_class"`
	MaxLength     int    `json:"model_max_length"`
	CleanUpSpaces bool   `json:"clean_up_tokenization_spaces"`
	BOS           string `json:"bos_token,omitempty"`
	EOS           string `json:"eos_token,omitempty"`
	Pad           string `json:"pad_token,omitempty"`
	Unknown       string `json:"unk_token,omitempty"`
}

// exportedIdentifier is a line of identifiers.jsonl.
type exportedIdentifier struct {
	Document string  `json:"docid"` // its number
	Title    string  `json:"title,omitempty"`
	Text     string  `json:"text"`
	Tokens   []int32 `json:"tokens"`
}

func exportModel(ctx context.Context, x *step.IO, c exportModelConfig) error {
	var settings retrieve.Settings
	var special specialTokens
	for _, f := range x.Files(c.Model, "model") {
		if err := x.LinkFile("files", f); err != nil {
			return err
		}
		path, err := x.Path(f.Digest)
		if err != nil {
			return err
		}
		switch f.Name {
		case retrieve.SettingsFile:
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if settings, err = retrieve.ParseSettings(text); err != nil {
				return step.Permanent(err)
			}
		case "config.json":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(text, &special); err != nil {
				return step.Permanent(fmt.Errorf("config.json: %w", err))
			}
		}
	}
	ids, err := readIDs(x, c.IDs)
	if err != nil {
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
	err = writeFile(x, "identifiers.jsonl", func(w io.Writer) error {
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
	query, err := queryInput(x, c.Tokenizer, settings.Inputs)
	if err != nil {
		return err
	}
	generation := generationConfig{specialTokens: special, MaxNewTokens: 1, Version: transformersVersion}
	if !ids.Kind.OneToken() {
		o := retrieve.Default()
		generation = generationConfig{specialTokens: special, NumBeams: o.Width, NumReturnSequences: o.Width, LengthPenalty: o.LengthPenalty,
			EarlyStopping: transformersStopping(settings.Search.EarlyStopping), MaxNewTokens: longest, Version: transformersVersion}
	}
	if err := writeJSONFile(x, "generation_config.json", generation); err != nil {
		return err
	}
	card, err := c.card(x, settings, query)
	if err != nil {
		return err
	}
	return writeFile(x, "README.md", func(w io.Writer) error { return step.Permanent(export.WriteModelCard(w, card)) })
}

// transformersVersion is the one whose generation, formats and card are checked.
const transformersVersion = "4.44.1"

// transformersStopping is how transformers writes when a search ends.
func transformersStopping(s decode.EarlyStopping) any {
	switch s {
	case decode.StopFull:
		return true
	case decode.StopNever:
		return "never"
	}
	return nil // its default
}

// titlesOf are the titles of the documents, by the places of their identifiers; empty
// without documents.
func titlesOf(x *step.IO, in step.Input, ids *docid.Set) ([]string, error) {
	titles := make([]string, len(ids.Identifiers))
	if !in.Set() {
		return titles, nil
	}
	r, err := x.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	pairing := ids.PairWith("documents")
	err = dedup.ReadDocuments(r, func(d *dedup.Document) error {
		place, err := pairing.Find(int(d.Doc))
		if err == nil {
			titles[place] = d.Title
		}
		return err
	})
	if err != nil {
		return nil, inout.DataError(fmt.Errorf("documents: %w", err))
	}
	return titles, step.Permanent(pairing.Complete())
}

// exportTokenizer writes tokenizer.json plain, and tokenizer_config.json by the names that
// it gives the model's special tokens.
func exportTokenizer(x *step.IO, in step.Inputs, special specialTokens) error {
	path, err := inout.OnlyFile(x, in, "tokenizer")
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := unpack.Open(f)
	if err != nil {
		return inout.DataError(err)
	}
	defer plain.Close()
	text, err := io.ReadAll(plain)
	if err != nil {
		return inout.DataError(err)
	}
	var tokenizer struct {
		Added []struct {
			ID      int64  `json:"id"`
			Content string `json:"content"`
		} `json:"added_tokens"`
		Model struct {
			UnknownID *int64 `json:"unk_id"` // of a Unigram
		} `json:"model"`
	}
	if err := json.Unmarshal(text, &tokenizer); err != nil {
		return step.Permanent(fmt.Errorf("tokenizer: %w", err))
	}
	name := func(id *int64) string {
		for _, a := range tokenizer.Added {
			if id != nil && a.ID == *id {
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
	if err := writeFile(x, "tokenizer.json", func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	return writeJSONFile(x, "tokenizer_config.json", config)
}

// queryInput is how the tokenizer alone, given a text with its prefix, makes the tokens that
// a Reader makes.
func queryInput(x *step.IO, in step.Inputs, how retrieve.Inputs) (export.QueryInput, error) {
	path, err := inout.OnlyFile(x, in, "tokenizer")
	if err != nil {
		return export.QueryInput{}, err
	}
	tok, err := tokenize.LoadSubword(path)
	if err != nil {
		return export.QueryInput{}, step.Permanent(err)
	}
	defer tok.Close()
	if how.MaxQuery == 0 { // of before prefixes
		return export.QueryInput{Tokens: how.MaxInput, Lowercase: how.Lowercase}, nil
	}
	q := export.QueryInput{Tokens: how.MaxQuery + len(tok.Whole(nil)), Lowercase: how.Lowercase}
	if how.QueryPrefix == "" {
		return q, nil
	}
	const probe = "who played"
	want := slices.Concat(tok.Pieces(how.QueryPrefix), tok.Pieces(probe))
	for _, between := range []string{" ", ""} { // T5's pieces begin with a blank, those of BART do not
		if q.Prefix = how.QueryPrefix + between; slices.Equal(tok.Pieces(q.Prefix+probe), want) {
			return q, nil
		}
	}
	return q, step.Permanent(fmt.Errorf("the tokenizer has other tokens for a query after the prefix %q than for both alone: no text stands for what the model reads", how.QueryPrefix))
}

func (c exportModelConfig) card(x *step.IO, s retrieve.Settings, query export.QueryInput) (export.ModelCard, error) {
	card := export.ModelCard{Name: c.Name, License: c.License, Base: c.Base, Dataset: c.Dataset, Command: c.Command,
		Identifiers: string(s.Identifiers), OneToken: s.Identifiers.OneToken(), Documents: s.Documents,
		Query: query, Valid: string(s.Search.Validity)}
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
		var e evaluation
		if err := inout.ReadJSON(x, in, &e); err != nil {
			return card, err
		}
		card.Parameters = e.Parameters
		card.Results = append(card.Results, e.result(c.Labels[i]))
	}
	return card, nil
}

// result is what a card shows of an evaluation.
func (e evaluation) result(label string) export.Result {
	m := e.Percent.PostFiltered
	r := export.Result{Name: label, Scores: []export.Score{{Metric: "Hits@1", Value: m.Hits1}, {Metric: "Hits@10", Value: m.Hits10}, {Metric: "MRR@10", Value: m.MRR10}}}
	if e.Percent.Invalid != nil {
		r.Scores = append(r.Scores, export.Score{Metric: "Invalid@40", Value: *e.Percent.Invalid})
	}
	return r
}

func writeFile(x *step.IO, name string, write func(io.Writer) error) error {
	w, err := x.CreateFile("files", name)
	if err != nil {
		return err
	}
	return errors.Join(write(w), w.Close())
}

func writeJSONFile(x *step.IO, name string, v any) error {
	return writeFile(x, name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}
