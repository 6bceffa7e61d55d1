package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/decode"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/export"
	"github.com/redsi/redsi/internal/retrieve"
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
		return ps.Err()
	},
	Run: exportModel,
})

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

func exportModel(ctx context.Context, x *step.IO, c exportModelConfig) error {
	for _, f := range x.Files(c.Model, "model") {
		if err := x.LinkFile("files", f); err != nil {
			return err
		}
	}
	settings, err := modelSettings(x, c.Model)
	if err != nil {
		return err
	}
	special, err := specialTokensOf(x, c.Model)
	if err != nil {
		return err
	}
	ids, err := inout.ReadIDs(x, c.IDs)
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
	read, err := openReader(x, c.Tokenizer, settings.Inputs)
	if err != nil {
		return err
	}
	defer read.Tokenizer.Close()
	query, err := queryInput(read)
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
