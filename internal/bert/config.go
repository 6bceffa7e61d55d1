//go:build !notorch

package bert

import (
	"encoding/json"
	"fmt"
)

// Config is Hugging Face's config.json of a BERT model.
type Config struct {
	VocabSize    int64   `json:"vocab_size"`
	Hidden       int64   `json:"hidden_size"`
	Layers       int64   `json:"num_hidden_layers"`
	Heads        int64   `json:"num_attention_heads"`
	Intermediate int64   `json:"intermediate_size"`
	MaxPositions int64   `json:"max_position_embeddings"`
	Types        int64   `json:"type_vocab_size"`
	Activation   string  `json:"hidden_act"`
	Epsilon      float64 `json:"layer_norm_eps"`
	ModelType    string  `json:"model_type"`
	Positions    string  `json:"position_embedding_type"`
}

// parse reads config.json; what it leaves out has transformers' default.
func parse(text []byte) (Config, error) {
	c := Config{VocabSize: 30522, Hidden: 768, Layers: 12, Heads: 12, Intermediate: 3072, MaxPositions: 512, Types: 2,
		Activation: "gelu", Epsilon: 1e-12, ModelType: "bert", Positions: "absolute"}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("config.json: %w", err)
	}
	for _, f := range []struct {
		name      string
		v, atMost int64
	}{{"vocab_size", c.VocabSize, 1 << 24}, {"hidden_size", c.Hidden, 1 << 16}, {"num_hidden_layers", c.Layers, 1000}, {"num_attention_heads", c.Heads, 1000},
		{"intermediate_size", c.Intermediate, 1 << 18}, {"max_position_embeddings", c.MaxPositions, 1 << 20}, {"type_vocab_size", c.Types, 1000}} {
		if f.v < 1 || f.v > f.atMost {
			return c, fmt.Errorf("BERT config: %s is %d, want 1 to %d", f.name, f.v, f.atMost)
		}
	}
	switch {
	case c.ModelType != "bert":
		return c, fmt.Errorf("BERT config: model_type is %q, want \"bert\"", c.ModelType)
	case c.Activation != "gelu":
		return c, fmt.Errorf("BERT config: hidden_act is %q; gelu is known", c.Activation)
	case c.Positions != "absolute":
		return c, fmt.Errorf("BERT config: position_embedding_type is %q; absolute is known", c.Positions)
	case c.Hidden%c.Heads != 0:
		return c, fmt.Errorf("BERT config: hidden_size %d is no multiple of %d heads", c.Hidden, c.Heads)
	case !(c.Epsilon > 0):
		return c, fmt.Errorf("BERT config: layer_norm_eps is %g", c.Epsilon)
	}
	return c, nil
}
