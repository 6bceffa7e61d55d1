package model

import (
	"path"
	"strings"

	"github.com/redsi/redsi/step"
)

// ImportModelConfig imports a model.
type ImportModelConfig struct {
	Files     step.Inputs `hcl:"files" accepts:"files,hf/model,hub/model" help:"config.json, the weights in one file or several, tokenizer.json; in one tree or several"`
	Folder    string      `hcl:"folder,optional" help:"the files are those below this folder of the trees"`
	Tokenizer step.Inputs `hcl:"tokenizer,optional" accepts:"files" help:"tokenizer.json, plain or compressed, if it is not among the files"`
}

var ImportModel = step.Define(step.Kind[ImportModelConfig]{
	Name:    "import_model",
	Version: 3,
	Doc: `Import a model, and check it before anything is computed with it.
The files are those of a Hugging Face folder: an encoder-decoder to be trained (T5, FLAN-T5,
mT5, umT5, BART) or an encoder for embed (BERT, RoBERTa, XLM-R, DistilBERT, MPNet, ELECTRA).
config.json must be of a model that redsi supports, the weights (safetensors or PyTorch's, in
one file or in several that an index lists) must have every tensor in its shape, and
the tokenizer's tokens must have rows in the embedding. The weights' values are not checked.
Weights in formats that are not read are left out. A tensor that has no place in the model is an
error, as is a second copy of a matrix with other numbers; poolers, heads of an encoder and the
like are named in the report. Where transformers 4.44.1 and 5.24.0 compute a folder differently,
the report's follows says which of them redsi follows. Cost: the files are hashed once.`,
	Example: `step "import_model" "flan" {
  files = [step.download.flan.files]
}`,
	Outputs: []step.Output{
		{Name: "model", Type: "hf/model", Tree: true, Help: "config.json, the weights and what else says how the model is used"},
		{Name: "tokenizer", Type: "files", Tree: true, Help: "tokenizer.json"},
		{Name: "report", Type: "model/report", Help: "what the model is, as JSON", Fields: step.FieldsOf[ImportModelReport]()},
	},
	Needs: step.Libtorch,
	Check: func(c ImportModelConfig) error { return checkFolder(c.Folder) },
	Work:  ImportModelConfig.work,
})

// ImportModelReport is the report of import_model.
type ImportModelReport struct {
	Type       string   `json:"model_type"` // of config.json
	Encoder    bool     `json:"encoder"`    // it is for embed; else an encoder-decoder
	Parameters int64    `json:"parameters,omitempty"`
	Vocabulary int64    `json:"vocabulary"`           // rows of the embedding
	Tokens     int      `json:"tokens"`               // of the tokenizer
	MaxTokens  int64    `json:"max_tokens,omitempty"` // of a text that an encoder reads
	Weights    []string `json:"weights"`              // the files that are read
	LeftOut    []string `json:"left_out"`             // files that are not
	Unused     []string `json:"unused,omitempty"`     // tensors of the weights that nothing is computed with
	Follows    []string `json:"follows,omitempty"`    // which transformers, where 4.44.1 and 5.24.0 compute the folder differently
}

// checkFolder says that a folder is one inside of a tree.
func checkFolder(folder string) error {
	if folder != "" && (path.Clean(folder) != folder || path.IsAbs(folder) || folder == ".." || strings.HasPrefix(folder, "../")) {
		return step.Problems{{Path: "folder", Detail: "must be a relative path such as model/final"}}
	}
	return nil
}
