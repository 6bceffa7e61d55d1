package tokenize

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/redsi/redsi/internal/corpora/unpack"
)

// maxFile bounds what a compressed tokenizer file may unpack to.
const maxFile = 256 << 20

// File is the part of a tokenizer.json that redsi reads.
type File struct {
	Truncation   jsontext.Value `json:"truncation"`
	Padding      jsontext.Value `json:"padding"`
	PreTokenizer preTokenizer   `json:"pre_tokenizer"`
	AddedTokens  []struct {
		ID      int32  `json:"id"`
		Content string `json:"content"`
	} `json:"added_tokens"`
	Normalizer struct {
		Type      string `json:"type"`
		Lowercase bool   `json:"lowercase"`
	} `json:"normalizer"`
	Model struct {
		Type                    string         `json:"type"`
		UnkToken                string         `json:"unk_token"`
		UnknownID               *int64         `json:"unk_id"` // of a Unigram
		ContinuingSubwordPrefix string         `json:"continuing_subword_prefix"`
		MaxInputCharsPerWord    int            `json:"max_input_chars_per_word"`
		Vocab                   jsontext.Value `json:"vocab"`
	} `json:"model"`
}

// preTokenizer says how a tokenizer cuts texts into words.
type preTokenizer struct {
	Type     string         `json:"type"`
	UseRegex *bool          `json:"use_regex"` // of ByteLevel
	Split    *bool          `json:"split"`     // of Metaspace
	Parts    []preTokenizer `json:"pretokenizers"`
}

// AtBlanks reports whether words end at blanks, at least.
func (p preTokenizer) AtBlanks() bool {
	switch p.Type {
	case "BertPreTokenizer", "Whitespace", "WhitespaceSplit":
		return true
	case "ByteLevel":
		return p.UseRegex == nil || *p.UseRegex
	case "Metaspace":
		return p.Split == nil || *p.Split
	case "Sequence":
		return slices.ContainsFunc(p.Parts, preTokenizer.AtBlanks)
	}
	return false
}

// Special returns the id of an added token by its text.
func (c *File) Special(content string) (int32, error) {
	for _, t := range c.AddedTokens {
		if t.Content == content {
			return t.ID, nil
		}
	}
	return 0, fmt.Errorf("the tokenizer has no special token %q", content)
}

// Parse reads a tokenizer.json, plain or compressed, and returns its plain bytes too.
func Parse(data []byte) (*File, []byte, error) {
	z, err := unpack.Open(bytes.NewReader(data))
	if err != nil {
		return nil, nil, fmt.Errorf("is not a Hugging Face tokenizer.json: %w", err)
	}
	defer z.Close()
	if data, err = io.ReadAll(io.LimitReader(z, maxFile+1)); err != nil {
		return nil, nil, err
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("unpacks to more than %d bytes", maxFile)
	}
	if len(data) == 0 {
		return nil, nil, errors.New("is empty; want a Hugging Face tokenizer.json")
	}
	c := new(File)
	if err := json.Unmarshal(data, c, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, nil, fmt.Errorf("is not a Hugging Face tokenizer.json: %w", err)
	}
	return c, data, nil
}

// Load opens path and builds a tokenizer from its bytes.
func Load[T any](path string, build func([]byte) (T, error)) (T, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var none T
		return none, fmt.Errorf("tokenizer: %w", err)
	}
	t, err := build(data)
	if err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
