package doc2query

import (
	"encoding/json"
	"fmt"

	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/system/values"
)

// SettingsFile is beside config.json in the folder of a model that was trained here to write queries.
const SettingsFile = "doc2query.json"

// Settings are what such a model was trained with.
type Settings struct {
	MaxInput  int    `json:"max_input"` // first tokens of a document, its prefix not counted
	MaxQuery  int    `json:"max_query"` // first tokens of a query
	Prefix    string `json:"prefix,omitempty"`
	Lowercase bool   `json:"lowercase"` // documents and queries, not the prefix
}

// Write is the text of SettingsFile.
func (s Settings) Write() ([]byte, error) {
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// ParseSettings reads the text of a settings file. Without one they are what the published
// doc2query models were trained with, which say nothing.
func ParseSettings(text []byte) (Settings, error) {
	if len(text) == 0 {
		return Settings{MaxInput: 512, MaxQuery: 64}, nil
	}
	var s Settings
	err := values.Written(text, &s)
	if err == nil && (s.MaxInput < 1 || s.MaxQuery < 1) {
		err = fmt.Errorf("max_input %d and max_query %d; at least 1 is needed", s.MaxInput, s.MaxQuery)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", SettingsFile, err)
	}
	return s, nil
}

// Reader reads documents as training does and generation after it, and the queries that the model learns to write.
func (s Settings) Reader(t retrieve.Tokenizer) (retrieve.Reader, error) {
	return retrieve.Inputs{MaxInput: s.MaxInput, MaxQuery: s.MaxQuery, IndexPrefix: s.Prefix, Lowercase: s.Lowercase}.Reader(t)
}
