// Package stopping names when a beam search ends. Declarations of kinds know it, and cannot
// know package decode, which computes.
package stopping

import "fmt"

// Rule says when a query's search ends before its longest hypotheses do (option early_stopping of transformers 4.44.1).
type Rule string

const (
	// Full (True) ends once as many hypotheses as beams are finished.
	Full Rule = "full"
	// Heuristic (False) ends once the worst of these is at least as good as the best
	// candidate would be if it ended now.
	Heuristic Rule = "heuristic"
	// Never ("never") ends once no continuation can be better.
	Never Rule = "never"
)

// Check says whether it is one of them.
func (r Rule) Check() error {
	if r != Full && r != Heuristic && r != Never {
		return fmt.Errorf("early stopping %q; it is %q, %q or %q", r, Full, Heuristic, Never)
	}
	return nil
}
