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
	"github.com/redsi/redsi/internal/system/lists"
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

// parse reads config.json; what it leaves out has transformers' default. One without model_type is BERT's.
func parse(text []byte) (c Config, err error) {
	var all map[string]json.RawMessage
	if err = json.Unmarshal(text, &all); err == nil {
		err = checkpoint.Plain(text)
	}
	if err != nil {
		return c, fmt.Errorf("config.json: %w", err)
	}
	read := func(name string, to any) {
		if value, ok := all[name]; ok && err == nil {
			if err = json.Unmarshal(value, to); err != nil {
				err = fmt.Errorf("config.json: %s: %w", name, err)
			}
		}
	}
	name, positions, decoder := "bert", "absolute", false
	read("model_type", &name)
	of := families[name]
	if of == nil {
		names := lists.Map(slices.Sorted(maps.Keys(families)), strconv.Quote)
		return c, fmt.Errorf("config.json: model_type is %q, want %s: an encoder", name, strings.Join(names, ", "))
	}
	c = of.defaults
	c.ModelType, c.family = name, of
	for i, to := range []*int64{&c.Hidden, &c.Layers, &c.Heads, &c.Intermediate} {
		read(of.sizes[i], to)
	}
	if name == "distilbert" { // which calls its sizes by names of its own, too
		read("activation", &c.Activation)
	} else {
		read("hidden_act", &c.Activation)
		read("layer_norm_eps", &c.Epsilon)
	}
	read("vocab_size", &c.VocabSize)
	read("max_position_embeddings", &c.MaxPositions)
	if !of.fixedPad {
		read("pad_token_id", &c.Pad)
	}
	if c.Types > 0 {
		read("type_vocab_size", &c.Types)
	}
	if c.Buckets > 0 {
		read("relative_attention_num_buckets", &c.Buckets)
	}
	if name == "electra" {
		read("embedding_size", &c.Embedding)
	} else {
		c.Embedding = c.Hidden
	}
	read("position_embedding_type", &positions)
	read("is_decoder", &decoder)
	switch {
	case err != nil:
		return c, err
	case positions != "absolute":
		return c, fmt.Errorf("config.json: position_embedding_type is %q; only absolute is supported", positions)
	case decoder:
		return c, errors.New("config.json: is_decoder is true; an encoder is wanted, whose tokens see all others")
	}
	return c, c.validate()
}

// validate says what this package cannot compute.
func (c Config) validate() error {
	size := c.family.sizes
	for _, f := range []struct {
		name             string
		v, least, atMost int64
	}{{"vocab_size", c.VocabSize, 1, 1 << 24}, {size[0], c.Hidden, 1, 1 << 16}, {size[1], c.Layers, 1, 1000}, {size[2], c.Heads, 1, 1000},
		{size[3], c.Intermediate, 1, 1 << 18}, {"max_position_embeddings", c.MaxPositions, 1, 1 << 20}, {"embedding_size", c.Embedding, 1, 1 << 16},
		{"type_vocab_size", c.Types, min(1, c.family.defaults.Types), 1000}} {
		if f.v < f.least || f.v > f.atMost {
			return fmt.Errorf("config.json: %s is %d, want %d to %d", f.name, f.v, f.least, f.atMost)
		}
	}
	switch {
	case tensor.ActivationOf(c.Activation) == nil:
		return fmt.Errorf("config.json: the activation is %q; %s are supported", c.Activation, tensor.ActivationNames)
	case c.Hidden%c.Heads != 0:
		return fmt.Errorf("config.json: %s %d is not a multiple of %d heads", size[0], c.Hidden, c.Heads)
	case !(c.Epsilon > 0):
		return fmt.Errorf("config.json: layer_norm_eps is %g", c.Epsilon)
	case c.family.afterPad && (c.Pad < 0 || c.MaxTokens() < 1):
		return fmt.Errorf("config.json: pad_token_id is %d, want 0 to %d: positions begin after it", c.Pad, c.MaxPositions-2)
	case c.Buckets != c.family.defaults.Buckets:
		return fmt.Errorf("config.json: relative_attention_num_buckets is %d; only %d is supported", c.Buckets, c.family.defaults.Buckets)
	}
	return nil
}
