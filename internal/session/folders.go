package session

import (
	"context"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

// List lists folders for loading, and remembers digests as plans do.
func (se *Session) List(ctx context.Context) pipeline.Lister {
	return func(path string, ignore bool) (step.Folder, error) {
		src, err := lockfile.Open(se.LockFile(), ".", se.MemoFile())
		if err != nil {
			return step.Folder{}, fault.Input(err)
		}
		f, err := src.LocalTree(ctx, path, ignore)
		if err != nil {
			return f, err
		}
		return f, src.Save()
	}
}
