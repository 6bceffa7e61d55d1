package compute

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

// specialTokens are the fields of config.json that generation_config.json repeats.
type specialTokens struct {
	Start     *int64 `json:"decoder_start_token_id,omitempty"`
	BOS       *int64 `json:"bos_token_id,omitempty"`
	EOS       *int64 `json:"eos_token_id,omitempty"`
	Pad       *int64 `json:"pad_token_id,omitempty"`
	ForcedBOS *int64 `json:"forced_bos_token_id,omitempty"`
	ForcedEOS *int64 `json:"forced_eos_token_id,omitempty"`
}

// ofConfig reads a model's config.json: its tokens, and whether the output matrix is another one than the embedding.
func ofConfig(x *step.IO, of step.Input) (specialTokens, bool, error) {
	config := struct {
		specialTokens
		Tied bool `json:"tie_word_embeddings"`
	}{Tied: true}
	text, err := model.File(x, of, "config.json")
	if err != nil || text == nil {
		return specialTokens{}, false, err
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return specialTokens{}, false, step.Permanent(fmt.Errorf("config.json: %w", err))
	}
	return config.specialTokens, !config.Tied, nil
}

// tokenizerConfig is tokenizer_config.json of a tokenizer that its tokenizer.json says all of.
type tokenizerConfig struct {
	Class         string `json:"tokenizer_class"`
	MaxLength     int    `json:"model_max_length"`
	CleanUpSpaces bool   `json:"clean_up_tokenization_spaces"`
	BOS           string `json:"bos_token,omitempty"`
	EOS           string `json:"eos_token,omitempty"`
	Pad           string `json:"pad_token,omitempty"`
	Unknown       string `json:"unk_token,omitempty"`
}

// exportTokenizer writes tokenizer.json plain, and tokenizer_config.json by the names that
// it gives the model's special tokens.
func exportTokenizer(x *step.IO, in step.Inputs, special specialTokens) error {
	var plain []byte
	tokenizer, err := inout.OpenTokenizer(x, in, "tokenizer", func(path string) (*tokenize.File, error) {
		return tokenize.Load(path, func(data []byte) (file *tokenize.File, err error) {
			file, plain, err = tokenize.Parse(data)
			return file, err
		})
	})
	if err != nil {
		return err
	}
	name := func(id *int64) string {
		for _, a := range tokenizer.AddedTokens {
			if id != nil && int64(a.ID) == *id {
				return a.Content
			}
		}
		return ""
	}
	config := tokenizerConfig{Class: "PreTrainedTokenizerFast", MaxLength: 512, CleanUpSpaces: true,
		BOS: name(special.BOS), EOS: name(special.EOS), Pad: name(special.Pad), Unknown: name(tokenizer.Model.UnknownID)}
	if config.EOS == "" || config.Pad == "" {
		return step.Permanent(errors.New("tokenizer: its added_tokens do not have the tokens that config.json names as eos_token_id and pad_token_id: it is not the model's"))
	}
	if err := inout.WriteFile(x, "files", "tokenizer.json", func(w io.Writer) error { _, err := w.Write(plain); return err }); err != nil {
		return err
	}
	return writeJSONFile(x, "tokenizer_config.json", config)
}
