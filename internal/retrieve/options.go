package retrieve

import (
	"fmt"

	"github.com/redsi/redsi/internal/decode"
)

// Options are how documents are searched.
type Options struct {
	Width         int                  // documents of an atomic ranking, beams of the others; 40
	Constrained   bool                 // beams follow the trie of identifiers; no effect on atomic ones
	LengthPenalty float64              // 1
	EarlyStopping decode.EarlyStopping // heuristic
	Batch         int                  // queries decoded together; scores differ by rounding only; 32
}

// Default is the paper's search ("Experimental Setup"): 40 beams over the whole
// vocabulary.
func Default() Options {
	return Options{Width: 40, LengthPenalty: 1, EarlyStopping: decode.StopHeuristic, Batch: 32}
}

// Check says what is wrong with the options.
func (o Options) Check() error {
	switch {
	case o.Width < 1:
		return fmt.Errorf("width %d; at least 1 is needed", o.Width)
	case o.Batch < 1:
		return fmt.Errorf("batch %d; at least 1 is needed", o.Batch)
	}
	return nil
}
