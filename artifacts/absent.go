package artifacts

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Absent is Blobs.Missing of a store that is asked for one blob at a time: those of ds of
// which gone says so, in the order given, each once. At most atOnce are asked for together,
// and the first error ends it.
func Absent(ctx context.Context, ds []Digest, atOnce int, gone func(ctx context.Context, d Digest) (bool, error)) ([]Digest, error) {
	var ask []Digest
	seen := make(map[Digest]bool, len(ds))
	for _, d := range ds {
		if !seen[d] {
			seen[d] = true
			ask = append(ask, d)
		}
	}
	is := make([]bool, len(ask))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, d := range ask {
		g.Go(func() (err error) {
			is[i], err = gone(gctx, d)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var missing []Digest
	for i, d := range ask {
		if is[i] {
			missing = append(missing, d)
		}
	}
	return missing, context.Cause(ctx)
}
