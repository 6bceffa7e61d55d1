package bert

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// Config is what config.json says of an encoder, by BERT's names.
type Config struct {
	ModelType    string
	VocabSize    int64
	Hidden       int64
	Embedding    int64 // width of the embeddings; ELECTRA's may differ from Hidden
	Layers       int64
	Heads        int64
	Intermediate int64
	MaxPositions int64
	Types        int64 // of tokens; 0: there are none
	Activation   string
	Epsilon      float64
	Pad          int64 // the pad token
	Buckets      int64 // of relative positions; 0: there are none

	family *family
}

// MaxTokens is how long a text may be, special tokens included.
func (c Config) MaxTokens() int64 {
	if c.family.afterPad {
		return c.MaxPositions - c.Pad - 1
	}
	return c.MaxPositions
}

// file is config.json; DistilBERT calls its sizes by names of its own.
type file struct {
	ModelType    *string  `json:"model_type"`
	VocabSize    *int64   `json:"vocab_size"`
	Hidden       *int64   `json:"hidden_size"`
	Dim          *int64   `json:"dim"`
	Embedding    *int64   `json:"embedding_size"`
	Layers       *int64   `json:"num_hidden_layers"`
	NLayers      *int64   `json:"n_layers"`
	Heads        *int64   `json:"num_attention_heads"`
	NHeads       *int64   `json:"n_heads"`
	Intermediate *int64   `json:"intermediate_size"`
	HiddenDim    *int64   `json:"hidden_dim"`
	MaxPositions *int64   `json:"max_position_embeddings"`
	Types        *int64   `json:"type_vocab_size"`
	HiddenAct    *string  `json:"hidden_act"`
	Activation   *string  `json:"activation"`
	Epsilon      *float64 `json:"layer_norm_eps"`
	Pad          *int64   `json:"pad_token_id"`
	Buckets      *int64   `json:"relative_attention_num_buckets"`
	Positions    *string  `json:"position_embedding_type"`
	Decoder      bool     `json:"is_decoder"`
}

// take is v, or what is there if the file has none.
func take[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}

// parse reads config.json; what it leaves out has transformers' default. One without
// model_type is BERT's.
func parse(text []byte) (Config, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return Config{}, fmt.Errorf("config.json: %w", err)
	}
	if err := checkpoint.Plain(text); err != nil {
		return Config{}, fmt.Errorf("config.json: %w", err)
	}
	name := "bert"
	take(&name, f.ModelType)
	of := families[name]
	if of == nil {
		var known []string
		for _, k := range slices.Sorted(maps.Keys(families)) {
			known = append(known, strconv.Quote(k))
		}
		return Config{}, fmt.Errorf("config.json: model_type is %q, want %s: an encoder", name, strings.Join(known, ", "))
	}
	c := of.defaults
	c.ModelType, c.family = name, of
	sizes := map[string]*int64{"hidden_size": f.Hidden, "num_hidden_layers": f.Layers, "num_attention_heads": f.Heads, "intermediate_size": f.Intermediate}
	act := f.HiddenAct
	if name == "distilbert" {
		sizes = map[string]*int64{"dim": f.Dim, "n_layers": f.NLayers, "n_heads": f.NHeads, "hidden_dim": f.HiddenDim}
		act = f.Activation
	} else {
		take(&c.Epsilon, f.Epsilon)
	}
	take(&c.VocabSize, f.VocabSize)
	take(&c.MaxPositions, f.MaxPositions)
	take(&c.Activation, act)
	if !of.fixedPad {
		take(&c.Pad, f.Pad)
	}
	if c.Types > 0 {
		take(&c.Types, f.Types)
	}
	if c.Buckets > 0 {
		take(&c.Buckets, f.Buckets)
	}
	for i, to := range []*int64{&c.Hidden, &c.Layers, &c.Heads, &c.Intermediate} {
		take(to, sizes[of.sizes[i]])
	}
	if name == "electra" {
		take(&c.Embedding, f.Embedding)
	} else {
		c.Embedding = c.Hidden
	}
	positions := "absolute"
	take(&positions, f.Positions)
	switch {
	case positions != "absolute":
		return c, fmt.Errorf("config.json: position_embedding_type is %q; absolute is known", positions)
	case f.Decoder:
		return c, errors.New("config.json: is_decoder is true; an encoder is wanted, whose tokens see all others")
	}
	return c, c.validate()
}

// validate says what this package cannot compute.
func (c Config) validate() error {
	size := c.family.sizes
	limits := []struct {
		name      string
		v, atMost int64
	}{{"vocab_size", c.VocabSize, 1 << 24}, {size[0], c.Hidden, 1 << 16}, {size[1], c.Layers, 1000}, {size[2], c.Heads, 1000},
		{size[3], c.Intermediate, 1 << 18}, {"max_position_embeddings", c.MaxPositions, 1 << 20}, {"embedding_size", c.Embedding, 1 << 16}}
	if c.family.defaults.Types > 0 {
		limits = append(limits, struct {
			name      string
			v, atMost int64
		}{"type_vocab_size", c.Types, 1000})
	}
	for _, f := range limits {
		if f.v < 1 || f.v > f.atMost {
			return fmt.Errorf("config.json: %s is %d, want 1 to %d", f.name, f.v, f.atMost)
		}
	}
	_, known := tensor.ActivationOf(c.Activation)
	switch {
	case !known:
		return fmt.Errorf("config.json: the activation is %q; %s are known", c.Activation, tensor.KnownActivations)
	case c.Hidden%c.Heads != 0:
		return fmt.Errorf("config.json: %s %d is not a multiple of %d heads", size[0], c.Hidden, c.Heads)
	case !(c.Epsilon > 0):
		return fmt.Errorf("config.json: layer_norm_eps is %g", c.Epsilon)
	case c.family.afterPad && (c.Pad < 0 || c.MaxTokens() < 1):
		return fmt.Errorf("config.json: pad_token_id is %d, want 0 to %d: positions begin after it", c.Pad, c.MaxPositions-2)
	case c.Buckets != c.family.defaults.Buckets:
		return fmt.Errorf("config.json: relative_attention_num_buckets is %d; %d is known", c.Buckets, c.family.defaults.Buckets)
	}
	return nil
}
