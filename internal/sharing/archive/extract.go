package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/readers"
)

// WriteProject writes the files of the project, verified, into folder, which has none of them
// yet. Files that are only in the store are taken from there. Opening the archive has checked
// names, and no link leads out of the folder.
func (a *Reader) WriteProject(ctx context.Context, folder string, store artifacts.BlobReader) error {
	for _, f := range a.Manifest.Files {
		r, err := a.Project(f)
		if err != nil {
			return err
		}
		err = local.Create(folder, f.Name, 0o644, readers.WithContext(ctx, r))
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("%s: %w", a.where, err)
		}
	}
	for _, f := range a.Manifest.Sources {
		r, err := store.Open(ctx, f.Digest)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		err = local.Entry(folder, f.Name, f, 0o644, readers.WithContext(ctx, r))
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}
