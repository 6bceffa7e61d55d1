package artifacts

import (
	"context"
	"errors"
)

// layers is what With puts behind a store.
type layers struct {
	own    Store
	policy Policy
	others []Other
}

func newLayers(own Store, others []Other, p Policy) *layers {
	return &layers{own: own, policy: p, others: others}
}

func (l *layers) states() []OtherState { return nil }

func (l *layers) bring(ctx context.Context, s Store, r *Result, read func(n int64)) error {
	return errors.New("not yet")
}

// layered is the blobs of a store with others behind it.
type layered struct {
	Blobs
	l *layers
}
