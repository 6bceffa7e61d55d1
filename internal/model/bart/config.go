package bart

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// Config is Hugging Face's config.json of a BART model. Fields that this package does not use are kept and written.
type Config struct {
	VocabSize         int64   `json:"vocab_size"`
	DModel            int64   `json:"d_model"`
	EncoderLayers     int64   `json:"encoder_layers"`
	DecoderLayers     int64   `json:"decoder_layers"`
	EncoderHeads      int64   `json:"encoder_attention_heads"`
	DecoderHeads      int64   `json:"decoder_attention_heads"`
	EncoderFFN        int64   `json:"encoder_ffn_dim"`
	DecoderFFN        int64   `json:"decoder_ffn_dim"`
	MaxPositions      int64   `json:"max_position_embeddings"` // tokens of the longest sequence
	Dropout           float64 `json:"dropout"`
	AttentionDropout  float64 `json:"attention_dropout"`
	ActivationDropout float64 `json:"activation_dropout"`
	EncoderLayerDrop  float64 `json:"encoder_layerdrop"`
	DecoderLayerDrop  float64 `json:"decoder_layerdrop"`
	Activation        string  `json:"activation_function"`
	InitStd           float64 `json:"init_std"`
	ScaleEmbedding    bool    `json:"scale_embedding"` // embeddings are multiplied by √d_model
	TieEmbeddings     bool    `json:"tie_word_embeddings"`
	PadToken          int64   `json:"pad_token_id"`
	EOSToken          int64   `json:"eos_token_id"`
	DecoderStart      int64   `json:"decoder_start_token_id"`
	ForcedBOS         *int64  `json:"forced_bos_token_id"` // nil: generation forces nothing
	ForcedEOS         *int64  `json:"forced_eos_token_id"`

	other map[string]json.RawMessage
}

// Defaults are transformers' BartConfig defaults, which are bart-large's sizes.
func Defaults() Config {
	eos := int64(2)
	return Config{
		VocabSize: 50265, DModel: 1024, EncoderLayers: 12, DecoderLayers: 12, EncoderHeads: 16, DecoderHeads: 16,
		EncoderFFN: 4096, DecoderFFN: 4096, MaxPositions: 1024, Dropout: 0.1, Activation: "gelu", InitStd: 0.02,
		TieEmbeddings: true, PadToken: 1, EOSToken: 2, DecoderStart: 2, ForcedEOS: &eos,
	}
}

// Family reads BART models.
var Family = seq2seq.Family{Type: "bart", Parse: func(config []byte) (seq2seq.Config, error) {
	var c Config
	err := json.Unmarshal(config, &c)
	return c, err
}}

// fields is Config without its methods, for the JSON package.
type fields Config

// UnmarshalJSON reads config.json; what it leaves out has transformers' default.
func (c *Config) UnmarshalJSON(data []byte) error {
	f := fields(Defaults())
	other, err := seq2seq.UnmarshalConfig(data, &f)
	if err != nil {
		return err
	}
	*c = Config(f)
	c.other = other
	return nil
}

// MarshalJSON writes config.json so that transformers' AutoModel opens it.
func (c Config) MarshalJSON() ([]byte, error) {
	return seq2seq.MarshalConfig(struct {
		fields
		Type string `json:"model_type"`
	}{fields(c), "bart"}, c.other, map[string]any{
		"architectures": []string{"BartForConditionalGeneration"}, "is_encoder_decoder": true, "bos_token_id": 0,
	})
}

func (c Config) Vocabulary() seq2seq.Vocabulary {
	return seq2seq.Vocabulary{Size: c.VocabSize, Pad: c.PadToken, Start: c.DecoderStart, EOS: c.EOSToken,
		ForcedBOS: c.ForcedBOS, ForcedEOS: c.ForcedEOS}
}

func (c Config) Extended(n int64) seq2seq.Config {
	c.VocabSize += n
	return c
}

func (c Config) Of(*checkpoint.File) (seq2seq.Config, error) { return c, nil }

// Unused implements seq2seq.Config: fairseq's versions, and the heads of models that were fine-tuned to tell classes.
func (c Config) Unused(name string) bool {
	name = strings.TrimPrefix(name, "model.")
	return name == "encoder.version" || name == "decoder.version" || strings.HasPrefix(name, "classification_head.") || strings.HasPrefix(name, "qa_outputs.")
}

func (c Config) WithDropout(p float64) seq2seq.Config {
	c.Dropout = p
	return c
}

// Validate says what this package cannot compute.
func (c Config) Validate() error {
	if err := c.validate(); err != nil {
		return fmt.Errorf("BART config: %w", err)
	}
	return nil
}

func (c Config) validate() error {
	size := seq2seq.CheckSize
	if err := cmp.Or(
		size("vocab_size", c.VocabSize, 1<<24), size("d_model", c.DModel, 1<<16), size("encoder_layers", c.EncoderLayers, 1000),
		size("decoder_layers", c.DecoderLayers, 1000), size("encoder_attention_heads", c.EncoderHeads, 1000), size("decoder_attention_heads", c.DecoderHeads, 1000),
		size("encoder_ffn_dim", c.EncoderFFN, 1<<18), size("decoder_ffn_dim", c.DecoderFFN, 1<<18), size("max_position_embeddings", c.MaxPositions, 1<<20),
	); err != nil {
		return err
	}
	switch {
	case c.EncoderHeads != c.DecoderHeads:
		return fmt.Errorf("encoder_attention_heads is %d and decoder_attention_heads %d; only equal numbers are supported", c.EncoderHeads, c.DecoderHeads)
	case c.DModel%c.EncoderHeads != 0:
		return fmt.Errorf("d_model %d is not a multiple of %d heads", c.DModel, c.EncoderHeads)
	case c.Activation != "gelu":
		return fmt.Errorf("activation_function is %q; only gelu is supported", c.Activation)
	case c.EncoderLayerDrop != 0 || c.DecoderLayerDrop != 0:
		return errors.New("encoder_layerdrop and decoder_layerdrop are not supported: use 0")
	case !c.TieEmbeddings:
		return errors.New("tie_word_embeddings is false; the output matrix must be the embedding")
	}
	for _, d := range []struct {
		name string
		p    float64
	}{{"dropout", c.Dropout}, {"attention_dropout", c.AttentionDropout}, {"activation_dropout", c.ActivationDropout}} {
		if !(d.p >= 0 && d.p < 1) {
			return fmt.Errorf("%s is %g, want 0 to below 1", d.name, d.p)
		}
	}
	return c.Vocabulary().Check()
}
