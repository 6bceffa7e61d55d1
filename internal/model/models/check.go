package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
)

// Checked is what a model folder has, by config.json and the headers of its weights.
type Checked struct {
	Type       string   // model_type
	Encoder    bool     // it embeds texts; else it is an encoder-decoder
	Vocabulary int64    // rows of the embedding
	MaxTokens  int64    // of a text that an encoder reads
	EOS        int64    // ends what an encoder-decoder reads and writes
	Parameters int64    // of an encoder-decoder
	Unused     []string // tensors of the weights that nothing is computed with
	Follows    []string // which transformers, where 4.44.1 and 5.24.0 compute the folder differently
}

// Check reads config.json and the headers of the weights of a model folder, and says what
// would stop Load, or bert.Load of an encoder.
func Check(folder string) (Checked, error) {
	text, err := os.ReadFile(filepath.Join(folder, seq2seq.ConfigFile))
	if err != nil {
		return Checked{}, err
	}
	var of struct {
		Type  string `json:"model_type"`
		DType any    `json:"dtype"`
		Old   any    `json:"torch_dtype"` // its name before transformers 4.56
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return Checked{}, fmt.Errorf("%s: %w", seq2seq.ConfigFile, err)
	}
	if of.Type == "" {
		return Checked{}, fmt.Errorf("%s: it has no model_type: is it a model's?", seq2seq.ConfigFile)
	}
	var follows []string
	if stored := cmp.Or(of.DType, of.Old); stored == "bfloat16" || stored == "float16" {
		follows = append(follows, fmt.Sprintf("transformers 4.44.1: weights in %s are computed in float32; 5.24.0 computes in %[1]s", stored))
	}
	if bert.Encoder(of.Type) {
		c, unused, err := bert.Check(folder)
		if err != nil {
			return Checked{}, err
		}
		return Checked{Type: of.Type, Encoder: true, Vocabulary: c.VocabSize, MaxTokens: c.MaxTokens(), Unused: unused, Follows: follows}, nil
	}
	config, err := ReadConfig(folder)
	if err != nil {
		return Checked{}, err
	}
	c, unused, err := seq2seq.Check(folder, config)
	if err != nil {
		return Checked{}, err
	}
	if t, ok := c.(t5.Config); ok && t.Follows() != "" {
		follows = append(follows, t.Follows())
	}
	v := c.Vocabulary()
	return Checked{Type: of.Type, Vocabulary: v.Size, EOS: v.EOS, Parameters: seq2seq.ParameterCount(c), Unused: unused, Follows: follows}, nil
}
