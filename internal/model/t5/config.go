package t5

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// The families that this package reads: T5 1.0, 1.1 and FLAN-T5; mT5, which is T5 1.1 with
// more tokens; umT5, of which every layer has relative positions of its own.
var (
	Family = family("t5")
	MT5    = family("mt5")
	UMT5   = family("umt5")
)

func family(modelType string) seq2seq.Family {
	return seq2seq.Family{Type: modelType, Parse: func(config []byte) (seq2seq.Config, error) {
		c := DefaultsOf(modelType)
		err := json.Unmarshal(config, &c)
		return c, err
	}}
}

// Config is Hugging Face's config.json of a T5, mT5 or umT5 model. Fields that this package
// does not use are kept and written.
type Config struct {
	ModelType         string  `json:"model_type"`
	VocabSize         int64   `json:"vocab_size"`
	DModel            int64   `json:"d_model"`
	DKV               int64   `json:"d_kv"` // per head; num_heads*d_kv need not be d_model
	DFF               int64   `json:"d_ff"`
	NumLayers         int64   `json:"num_layers"`
	NumDecoderLayers  int64   `json:"num_decoder_layers"`
	NumHeads          int64   `json:"num_heads"`
	Buckets           int64   `json:"relative_attention_num_buckets"`
	MaxDistance       int64   `json:"relative_attention_max_distance"`
	DropoutRate       float64 `json:"dropout_rate"`
	LayerNormEpsilon  float64 `json:"layer_norm_epsilon"`
	InitializerFactor float64 `json:"initializer_factor"`
	FeedForward       string  `json:"feed_forward_proj"`   // "relu" (v1.0), "gated-gelu" (v1.1), "gated-silu" …
	TieEmbeddings     bool    `json:"tie_word_embeddings"` // the output matrix is the embedding (v1.0)
	// ScaleOutputs says whether states are scaled before they are multiplied by the output matrix. nil: where that is the
	// embedding. transformers 5 writes it, with tie_word_embeddings = true whatever the weights are.
	ScaleOutputs *bool `json:"scale_decoder_outputs,omitempty"`
	PadToken     int64 `json:"pad_token_id"`
	EOSToken     int64 `json:"eos_token_id"`
	DecoderStart int64 `json:"decoder_start_token_id"`

	// What a file says beside feed_forward_proj, which then does not count, as in transformers; nil: nothing.
	DenseAct *string `json:"dense_act_fn,omitempty"`
	GatedAct *bool   `json:"is_gated_act,omitempty"`
	Version  string  `json:"transformers_version,omitempty"`

	tied  bool // TieEmbeddings as the file has it, which is all that transformers 4 reads
	other map[string]json.RawMessage
}

// Defaults are transformers' T5Config defaults, which are t5-small's sizes.
func Defaults() Config {
	return Config{
		ModelType: "t5",
		VocabSize: 32128, DModel: 512, DKV: 64, DFF: 2048, NumLayers: 6, NumDecoderLayers: 6, NumHeads: 8,
		Buckets: 32, MaxDistance: 128, DropoutRate: 0.1, LayerNormEpsilon: 1e-6, InitializerFactor: 1,
		FeedForward: "relu", TieEmbeddings: true, PadToken: 0, EOSToken: 1, DecoderStart: 0,
	}
}

// DefaultsOf returns transformers' defaults of a model_type; mT5 and umT5 differ from T5.
func DefaultsOf(modelType string) Config {
	c := Defaults()
	if c.ModelType = modelType; modelType != "t5" {
		c.VocabSize, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 250112, 1024, 8, 8, 6
		c.FeedForward, c.TieEmbeddings = "gated-gelu", modelType == "umt5"
	}
	return c
}

// fields is Config without its methods, for the JSON package.
type fields Config

// UnmarshalJSON reads config.json; what it leaves out stays as it is, which is to be transformers' default.
func (c *Config) UnmarshalJSON(data []byte) error {
	f := fields(*c)
	if f.ModelType == "" {
		f = fields(Defaults())
	}
	f.NumDecoderLayers = -1
	other, err := seq2seq.UnmarshalConfig(data, &f)
	if err != nil {
		return err
	}
	f.tied, f.other = f.TieEmbeddings, other
	if f.NumDecoderLayers < 0 {
		f.NumDecoderLayers = f.NumLayers
	}
	if major, _, _ := strings.Cut(f.Version, "."); f.ModelType == "mt5" && f.ScaleOutputs == nil && len(major) == 1 && major >= "5" {
		f.ScaleOutputs = new(bool) // NOTE transformers 5 scales no mT5's, and writes no scale_decoder_outputs for it
	}
	*c = Config(f)
	return nil
}

// MarshalJSON writes config.json so that transformers' AutoModel opens it.
func (c Config) MarshalJSON() ([]byte, error) {
	return seq2seq.MarshalConfig(fields(c), c.other, map[string]any{
		"architectures": []string{architectures[c.ModelType]}, "is_encoder_decoder": true, "output_past": true,
		"use_cache": true, "n_positions": 512,
	})
}

// architectures are the classes of transformers.
var architectures = map[string]string{"t5": "T5ForConditionalGeneration", "mt5": "MT5ForConditionalGeneration", "umt5": "UMT5ForConditionalGeneration"}

func (c Config) Vocabulary() seq2seq.Vocabulary {
	return seq2seq.Vocabulary{Size: c.VocabSize, Pad: c.PadToken, Start: c.DecoderStart, EOS: c.EOSToken}
}

func (c Config) Extended(n int64) seq2seq.Config {
	c.VocabSize += n
	return c
}

func (c Config) WithDropout(p float64) seq2seq.Config {
	c.DropoutRate = p
	return c
}

// feedForward is the activation of the feed-forward layer, and whether it gates another
// product (v1.1), as T5Config reads them.
func (c Config) feedForward() (activation string, gated bool) {
	activation, gated = c.FeedForward, false
	if rest, ok := strings.CutPrefix(c.FeedForward, "gated-"); ok {
		activation, gated = rest, true
	}
	if c.FeedForward == "gated-gelu" {
		activation = "gelu_new"
	}
	if c.DenseAct != nil {
		activation = *c.DenseAct
	}
	if c.GatedAct != nil {
		gated = *c.GatedAct
	}
	return activation, gated
}

// ownPositions says whether every layer has a table of relative positions; otherwise the first layer's serves all.
func (c Config) ownPositions() bool { return c.ModelType == "umt5" }

// scales says whether the decoder's states are multiplied by d_model^-0.5.
func (c Config) scales() bool {
	if c.ScaleOutputs != nil {
		return *c.ScaleOutputs
	}
	return c.TieEmbeddings
}

// Of implements seq2seq.Config. A configuration of transformers 5 leaves to the weights whether the output matrix is
// the embedding, as its tie_weights does: it is, unless they have another one.
func (c Config) Of(f *checkpoint.File) (_ seq2seq.Config, err error) {
	if c.ScaleOutputs != nil {
		c.TieEmbeddings = true
		if f.Has(headName) {
			c.TieEmbeddings, err = f.Same(headName, seq2seq.Specs(c)[0].In(f))
		}
	}
	return c, err
}

// Follows says which transformers is followed, of a configuration that went through Of, where 4.44.1 and 5.24.0 compute
// other logits; "": they compute the same.
func (c Config) Follows() string {
	switch scaled := c.scales(); {
	case c.ScaleOutputs == nil && c.ModelType == MT5.Type && scaled:
		return "transformers 4.44.1: the decoder's states are scaled; 5.24.0 scales no mT5's"
	case c.ScaleOutputs == nil || c.tied == scaled && c.tied == c.TieEmbeddings:
		return ""
	case c.TieEmbeddings:
		return fmt.Sprintf("transformers 5.24.0: scale_decoder_outputs is %t; 4.44.1 goes by tie_word_embeddings", scaled)
	}
	return "transformers 5.24.0: the output matrix is " + headName + "; 4.44.1 goes by tie_word_embeddings, and takes the embedding"
}

// Unused implements seq2seq.Config: published T5s have a table of positions that transformers does not read either.
func (c Config) Unused(name string) bool {
	return name == "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
}

// Validate says what this package cannot compute.
func (c Config) Validate() error {
	if err := c.validate(); err != nil {
		return fmt.Errorf("T5 config: %w", err)
	}
	return nil
}

func (c Config) validate() error {
	size := seq2seq.CheckSize
	if err := cmp.Or(
		size("vocab_size", c.VocabSize, 1<<24), size("d_model", c.DModel, 1<<16), size("d_kv", c.DKV, 1<<16),
		size("d_ff", c.DFF, 1<<18), size("num_layers", c.NumLayers, 1000), size("num_decoder_layers", c.NumDecoderLayers, 1000),
		size("num_heads", c.NumHeads, 1000), size("relative_attention_num_buckets", c.Buckets, 1<<16), size("relative_attention_max_distance", c.MaxDistance, 1<<20),
	); err != nil {
		return err
	}
	switch {
	case architectures[c.ModelType] == "":
		return fmt.Errorf("model_type is %q; t5, mt5 and umt5 are supported", c.ModelType)
	case c.Buckets < 4 || c.Buckets%2 != 0:
		return fmt.Errorf("relative_attention_num_buckets is %d, want an even number from 4 on", c.Buckets)
	case c.MaxDistance <= c.Buckets/2:
		return fmt.Errorf("relative_attention_max_distance %d must be larger than half the %d buckets", c.MaxDistance, c.Buckets)
	case !(c.DropoutRate >= 0 && c.DropoutRate < 1):
		return fmt.Errorf("dropout_rate is %g, want 0 to below 1", c.DropoutRate)
	case !(c.LayerNormEpsilon > 0):
		return fmt.Errorf("layer_norm_epsilon is %g, want a positive number", c.LayerNormEpsilon)
	}
	if name, _ := c.feedForward(); c.DenseAct != nil && tensor.ActivationOf(name) == nil {
		return fmt.Errorf("dense_act_fn is %q; %s are supported", name, tensor.ActivationNames)
	} else if tensor.ActivationOf(name) == nil {
		return fmt.Errorf("feed_forward_proj is %q; %s are supported, and with \"gated-\" before them", c.FeedForward, tensor.ActivationNames)
	}
	return c.Vocabulary().Check()
}
