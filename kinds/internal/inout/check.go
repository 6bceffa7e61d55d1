package inout

import "github.com/redsi/redsi/step"

// Check adds a problem with the attribute at path unless ok. Each attribute has problems of
// its own, so that the one in question is shown.
func Check(ps *step.Problems, path string, ok bool, detail string) {
	if !ok {
		*ps = append(*ps, step.Problem{Path: path, Detail: detail})
	}
}
