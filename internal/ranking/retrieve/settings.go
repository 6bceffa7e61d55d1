package retrieve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/internal/corpora/docid"
)

// SettingsFile is beside config.json in the folder of a trained model.
const SettingsFile = "redsi.json"

// Settings are what a model was trained with and must be asked with.
type Settings struct {
	Identifiers docid.Kind `json:"identifiers"`
	Documents   int        `json:"documents"`  // of the collection
	Assignment  string     `json:"assignment"` // docid.Set.Digest of the identifiers
	Inputs
	Search Search `json:"search"` // by which its checkpoint was chosen
}

// SettingsFor are the settings of a model that is trained on identifiers, with the default search.
func SettingsFor(ids *docid.Set, in Inputs) (Settings, error) {
	digest, err := ids.Digest()
	return Settings{Identifiers: ids.Kind, Documents: len(ids.Identifiers), Assignment: digest, Inputs: in, Search: DefaultSearch()}, err
}

// Match returns an error unless the model was trained on ids.
func (s Settings) Match(ids *docid.Set) error {
	if s.Identifiers != ids.Kind || s.Documents != len(ids.Identifiers) {
		return fmt.Errorf("the model was trained on %s identifiers of %d documents, ids are %s identifiers of %d: give the ids that its train step was given",
			s.Identifiers, s.Documents, ids.Kind, len(ids.Identifiers))
	}
	digest, err := ids.Digest()
	if err != nil {
		return err
	}
	if digest != s.Assignment {
		return fmt.Errorf("the model was trained on another assignment of %s identifiers to %d documents: give the ids that its train step was given", s.Identifiers, s.Documents)
	}
	return nil
}

// Check says what is wrong with the settings.
func (s Settings) Check() error {
	switch {
	case !slices.Contains(docid.Kinds(), s.Identifiers):
		return fmt.Errorf("identifiers %q; one of %v is needed", s.Identifiers, docid.Kinds())
	case s.Documents < 1:
		return fmt.Errorf("documents %d; at least 1 is needed", s.Documents)
	case len(s.Assignment) != 64:
		return fmt.Errorf("assignment %q; a SHA-256 in hexadecimal is needed", s.Assignment)
	}
	if err := s.Search.Check(); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	return s.Inputs.Check()
}

// Write puts the settings into a model's folder.
func (s Settings) Write(folder string) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("%s: %w", SettingsFile, err)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, SettingsFile), append(text, '\n'), 0o644)
}

// ReadSettings reads what Write wrote.
func ReadSettings(folder string) (Settings, error) {
	text, err := os.ReadFile(filepath.Join(folder, SettingsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Settings{}, err
	}
	return ParseSettings(text)
}

// ParseSettings reads the text of a settings file; of an empty one it says that the model has none.
func ParseSettings(text []byte) (s Settings, err error) {
	if len(text) == 0 {
		return s, fmt.Errorf("the model has no %s, so it was not trained here: train it with a train step first", SettingsFile)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", SettingsFile, err)
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("%s: %w", SettingsFile, err)
	}
	return s, nil
}
