package session

import (
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/step"
)

// ComparePreimages compares two preimages or tasks in a form that may be shown: URLs without
// credentials.
func ComparePreimages(before, after []byte) ([]step.Change, error) {
	changes, err := step.Diff(before, after)
	for i, c := range changes {
		c.Old, c.New = fetch.Redact(c.Old), fetch.Redact(c.New)
		if c.Old == c.New {
			c.New += " (what is hidden differs)"
		}
		changes[i] = c
	}
	return changes, err
}
