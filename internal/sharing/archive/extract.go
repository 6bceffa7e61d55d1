package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/readers"
)

// WriteProject writes the verified files of the project into an empty folder, taking files that the archive has only in
// its store from store. Names were checked on opening, and no link leads out of the folder.
func (a *Reader) WriteProject(ctx context.Context, folder string, store artifacts.BlobReader) error {
	for _, f := range a.Manifest.Files {
		r, err := a.verified(f, a.entries[ProjectDir+f.Name])
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
