package model

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type ImportModelConfig struct {
	Files     step.Inputs `hcl:"files" accepts:"files,hf/model,hub/model" help:"config.json, the weights in one file or several, tokenizer.json; in one tree or several"`
	Folder    string      `hcl:"folder,optional" help:"the files are those below this folder of the trees"`
	Tokenizer step.Inputs `hcl:"tokenizer,optional" accepts:"files" help:"tokenizer.json, plain or compressed, if it is not among the files"`
}

var ImportModel = step.Define(step.Kind[ImportModelConfig]{
	Name:    "import_model",
	Version: 3,
	Doc: `Import a model, and check it before anything is computed with it.
The files are a Hugging Face folder's: an encoder-decoder to be trained (T5, FLAN-T5,
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
	Check: inout.Checks(func(c ImportModelConfig, ps *step.Problems) { checkFolder(ps, c.Folder) }),
	Work:  func(c ImportModelConfig) step.Work { return like(c.Files) },
})

type ImportModelReport struct {
	Type       string   `json:"model_type"` // of config.json
	Encoder    bool     `json:"encoder"`    // it is for embed; else an encoder-decoder
	Parameters int64    `json:"parameters,omitempty"`
	Vocabulary int64    `json:"vocabulary"`           // rows of the embedding
	Tokens     int      `json:"tokens"`               // of the tokenizer
	MaxTokens  int64    `json:"max_tokens,omitempty"` // of a text that an encoder reads
	Weights    []string `json:"weights"`              // files that are read
	LeftOut    []string `json:"left_out"`             // files that are left out
	Unused     []string `json:"unused,omitempty"`     // tensors of the weights that nothing is computed with
	Follows    []string `json:"follows,omitempty"`    // which transformers, where 4.44.1 and 5.24.0 compute the folder differently
}

// checkFolder adds a problem unless folder is inside of a tree.
func checkFolder(ps *step.Problems, folder string) {
	inout.Check(ps, "folder", folder == "" || path.Clean(folder) == folder && filepath.IsLocal(folder), "must be a relative path such as model/final")
}

type ImportTrainedConfig struct {
	Files  step.Inputs `hcl:"files" accepts:"files,hub/model" help:"the files that export_model wrote"`
	Folder string      `hcl:"folder,optional" help:"the files are those below this folder of the trees"`
}

var ImportTrained = step.Define(step.Kind[ImportTrainedConfig]{
	Name:    "import_trained",
	Version: 1,
	Doc: `Import a trained model with its identifiers and tokenizer, as export_model wrote it.
redsi.json says how the model is queried. It is checked as by import_model, and the
identifiers must be the ones of its training. Evaluate it with queries whose documents have the
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
	Check: inout.Checks(func(c ImportTrainedConfig, ps *step.Problems) { checkFolder(ps, c.Folder) }),
	Work:  func(c ImportTrainedConfig) step.Work { return like(c.Files) },
})

type RandomT5Config struct {
	Family        string  `hcl:"family,added" enum:"t5,mt5,umt5,bart" help:"what the model is; sizes are named as T5's for each"`
	Layers        int     `hcl:"layers" min:"1" max:"1000" help:"encoder layers"`
	DecoderLayers int     `hcl:"decoder_layers,optional" min:"0" max:"1000" help:"default: as many as layers"`
	DModel        int     `hcl:"d_model" min:"1" max:"65536" help:"width of the model"`
	DKV           int     `hcl:"d_kv" min:"1" max:"65536" help:"width of a head's keys and values; heads x d_kv need not be d_model in T5"`
	DFF           int     `hcl:"d_ff" min:"1" max:"262144" help:"width of the feed-forward layer"`
	Heads         int     `hcl:"heads" min:"1" max:"1000" help:"attention heads"`
	Dropout       float64 `hcl:"dropout,optional" min:"0" below:"1" help:"dropout_rate of config.json (BART: dropout)"`
	Vocabulary    int     `hcl:"vocabulary,optional" min:"2" max:"16777216" help:"rows of the embedding; T5's has 32128, 28 more than its tokenizer has entries; mT5's 250112, BART's 50265"`
	FeedForward   string  `hcl:"feed_forward,optional" enum:"relu,gelu,gated-relu,gated-gelu,gated-silu" help:"not for BART. relu: T5 1.0, whose output matrix is the embedding, as gelu's is; gated-gelu: T5 1.1, FLAN-T5, mT5 and umT5, which have a separate one, as the other gated ones do"`
	Seed          int     `hcl:"seed,optional" min:"0" help:"for the weights"`
}

var RandomT5 = step.Define(step.Kind[RandomT5Config]{
	Name:    "random_t5",
	Version: 2,
	Doc: `Make a T5, mT5, umT5 or BART model with random weights, where no pretrained one is at hand.
Weights are drawn as transformers' T5PreTrainedModel or BartPreTrainedModel draws them,
from a seed; the same on every machine of one architecture. Cost: memory and time grow with the
number of parameters, of which vocabulary x d_model are the embedding.`,
	Example: `step "random_t5" "toy" {
  layers  = 2
  d_model = 64
  d_kv    = 16
  d_ff    = 256
  heads   = 4
}`,
	Outputs:  []step.Output{{Name: "model", Type: "hf/model", Tree: true, Help: "config.json and model.safetensors, which transformers opens"}},
	Defaults: RandomT5Config{Family: "t5", Dropout: 0.1, Vocabulary: 32128, FeedForward: "relu", Seed: 42},
	Needs:    step.Libtorch,
	Check: inout.Checks(func(c RandomT5Config, ps *step.Problems) {
		bart, multilingual := c.Family == "bart", strings.HasSuffix(c.Family, "mt5")
		inout.Check(ps, "d_kv", !bart || c.Heads*c.DKV == c.DModel, "for BART, heads x d_kv must be d_model")
		inout.Check(ps, "feed_forward", !bart || c.FeedForward == "relu", "a BART has its own")
		inout.Check(ps, "feed_forward", !multilingual || strings.HasPrefix(c.FeedForward, "gated-"), "must be a gated one for a multilingual T5: published ones have gated-gelu")
	}),
	Work: func(c RandomT5Config) (w step.Work) { // that of the published model with the same sizes
		for _, s := range rates.Shapes() {
			if c.Family == "t5" && !s.Encoder && c.FeedForward == "relu" && c.Vocabulary == s.Vocabulary && c.Layers == s.Layers && cmp.Or(c.DecoderLayers, c.Layers) == s.Layers &&
				c.DModel == s.Width && c.DKV == 64 && c.DFF == s.FF && c.Heads == s.Heads {
				w.Shape = s.Name
				w.Counts = map[string]step.Amount{step.BytesCount: step.Exactly(float64(s.Bytes()))}
			}
		}
		return w
	},
})
