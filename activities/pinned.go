package activities

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/step"
)

// pinned answers Resolve with what one run has just found out, by source.
type pinned struct {
	step.NoSources
	pins map[string]step.Pin
}

func (ps pinned) Pinned(source string) (step.Pin, bool) {
	p, ok := ps.pins[source]
	return p, ok
}

func (ps pinned) LocalFile(_ context.Context, path string) (step.Pin, error) {
	if p, ok := ps.Pinned(path); ok {
		return p, nil
	}
	return step.Pin{}, fmt.Errorf("%s was not read by this step", path)
}
