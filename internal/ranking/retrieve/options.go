package retrieve

import (
	"fmt"

	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
)

// Options are how documents are searched.
type Options struct {
	Width         int     // documents of an atomic ranking, beams of the others; 40
	Constrained   bool    // beams follow the trie of identifiers; no effect on atomic ones
	LengthPenalty float64 // 1
	Batch         int     // queries decoded together, 0: 32, or what a card has room for; scores differ by rounding only
	Search
}

// Search is what a model is searched by, from its training on: a model keeps it among its Settings, and who asks it
// takes it from there. It has no effect on atomic identifiers.
type Search struct {
	EarlyStopping stopping.Rule `json:"early_stopping"`
	Validity      Validity      `json:"validity"` // no effect along the trie, where all is valid
}

// DefaultSearch is the paper's validity; when a search ends is its released code's choice, the paper being silent.
func DefaultSearch() Search { return Search{EarlyStopping: stopping.Full, Validity: ByTokens} }

// Default is the paper's search ("Experimental Setup"): 40 beams over the whole vocabulary.
func Default() Options {
	return Options{Width: 40, LengthPenalty: 1, Search: DefaultSearch()}
}

// Check says what is wrong with the options.
func (o Options) Check() error {
	switch {
	case o.Width < 1:
		return fmt.Errorf("width %d; at least 1 is needed", o.Width)
	case o.Batch < 0:
		return fmt.Errorf("batch %d; it is 0, for what there is room for, or more", o.Batch)
	}
	return o.Search.Check()
}

// Check says what is wrong with the search.
func (s Search) Check() error {
	if err := s.EarlyStopping.Check(); err != nil {
		return err
	}
	if s.Validity != ByTokens && s.Validity != ByText {
		return fmt.Errorf("validity %q; it is %q or %q", s.Validity, ByTokens, ByText)
	}
	return nil
}
