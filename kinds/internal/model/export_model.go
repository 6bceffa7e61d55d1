package model

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/corpora/export"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type ExportModelConfig struct {
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
	Language  string      `hcl:"language,added" help:"language of questions and identifiers, as the hub writes it: en, de; default: the card says none"`
}

var ExportModel = step.Define(step.Kind[ExportModelConfig]{
	Name:    "export_model",
	Version: 3,
	Doc: `Complete a trained model's folder: it is all one needs to query the model.
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
	Defaults: ExportModelConfig{License: "apache-2.0"},
	Check: inout.Checks(func(c ExportModelConfig, ps *step.Problems) {
		inout.Check(ps, "language", export.LanguageTag.MatchString(c.Language), "%q is not a code such as de, zh or pt-BR", c.Language)
		inout.Check(ps, "labels", len(c.Labels) == len(c.Reports), "has %d labels for %d reports", len(c.Labels), len(c.Reports))
		for i, s := range c.Settings {
			name, _, ok := strings.Cut(s, "=")
			inout.Check(ps, fmt.Sprintf("settings[%d]", i), ok && name != "", "is not NAME=VALUE")
		}
	}),
	Needs: step.Tokenizers,
})
