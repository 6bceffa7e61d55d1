package model

import (
	"strings"

	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// RandomT5Config sizes a T5 or BART model.
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
	Check: func(c RandomT5Config) error {
		var ps step.Problems
		bart, multilingual := c.Family == "bart", strings.HasSuffix(c.Family, "mt5")
		inout.Check(&ps, "d_kv", !bart || c.Heads*c.DKV == c.DModel, "for BART, heads x d_kv must be d_model")
		inout.Check(&ps, "feed_forward", !bart || c.FeedForward == "relu", "a BART has its own")
		inout.Check(&ps, "feed_forward", !multilingual || strings.HasPrefix(c.FeedForward, "gated-"), "must be a gated one for a multilingual T5: published ones have gated-gelu")
		return ps.Err()
	},
	Work: RandomT5Config.work,
})
