package lockfile

import (
	"context"
	"sync/atomic"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/step"
)

// LocalTree lists a folder, a file or the files that fit a pattern, and hashes those whose
// digests the cache does not have.
func (s *Sources) LocalTree(ctx context.Context, path string, ignore bool) (step.Folder, error) {
	abs, err := s.abs(path)
	if err != nil {
		return step.Folder{}, err
	}
	l, err := listing.Of(abs, ignore)
	if err != nil {
		return step.Folder{}, err
	}
	report := step.Reporter(ctx)
	var done atomic.Int64
	tree, err := l.Tree(step.WithReporter(ctx, func(step.Progress) {}), func(ctx context.Context, at string) (artifacts.Digest, int64, error) {
		pin, err := s.LocalFile(ctx, at)
		report(step.Progress{Done: done.Add(pin.Size), Total: l.Bytes, Unit: "bytes", Note: "hashing " + path})
		return pin.SHA256, pin.Size, err
	})
	return step.Folder{Source: abs, Root: l.Root, Tree: tree}, err
}
