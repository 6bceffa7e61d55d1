// Package files finds outputs of results by the names that people give, and writes them as files for people. It must not
// know flags.
package files

import (
	"context"
	"io"
	"os"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// Write writes a blob of that size to path, unless the file has its bytes already.
func Write(ctx context.Context, store *artifacts.Resolver, d artifacts.Digest, size int64, path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() == size {
		if have, _, err := hashed.Digest(ctx, path, nil); err == nil && have == d {
			return nil
		}
	}
	r, err := store.Open(ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}
