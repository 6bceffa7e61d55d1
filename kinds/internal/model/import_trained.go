package model

import (
	"github.com/redsi/redsi/step"
)

// ImportTrainedConfig takes a model that was trained by redsi elsewhere.
type ImportTrainedConfig struct {
	Files  step.Inputs `hcl:"files" accepts:"files,hub/model" help:"the files that export_model wrote"`
	Folder string      `hcl:"folder,optional" help:"the files are those below this folder of the trees"`
}

var ImportTrained = step.Define(step.Kind[ImportTrainedConfig]{
	Name:    "import_trained",
	Version: 1,
	Doc: `Import a trained model with its identifiers and tokenizer, as export_model wrote it.
redsi.json says how the model is queried. It is checked as by import_model, and the
identifiers must be those that it was trained on. Evaluate it with queries whose documents have the
same numbers. Cost: the files are hashed once.`,
	Example: `step "import_trained" "published" {
  files = [step.download.published.files]
}`,
	Outputs: []step.Output{
		{Name: "model", Type: "dsi/model", Tree: true, Help: "config.json, model.safetensors and redsi.json"},
		{Name: "ids", Type: "docid/ids", Help: "the identifiers of identifiers.jsonl"},
		{Name: "tokenizer", Type: "files", Tree: true, Help: "tokenizer.json"},
	},
	Needs: step.Libtorch,
	Check: func(c ImportTrainedConfig) error { return checkFolder(c.Folder) },
	Work:  ImportTrainedConfig.work,
})
