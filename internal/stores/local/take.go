package local

import (
	"context"
	"errors"
	"io"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/hashed"
)

// Large is the size, in bytes, from which a blob is noted by Put and Take, and from which
// it is worth naming its file to a reader rather than copying it.
const Large = 128 << 10

// Put is blobs.Put. A Large blob that is a file here is noted, so that Fetch does not hash it again.
func Put(ctx context.Context, blobs artifacts.Blobs, r io.Reader, cacheDir string) (artifacts.Digest, int64, error) {
	d, n, err := blobs.Put(ctx, r)
	if err == nil {
		noteNew(blobs, d, n, cacheDir)
	}
	return d, n, err
}

// Take is Put of the file at path, which the caller gives away: it is moved into the store where
// that can be (artifacts.Local), and hashed once.
func Take(ctx context.Context, blobs artifacts.Blobs, path, cacheDir string) (artifacts.Digest, int64, error) {
	if store, ok := blobs.(artifacts.Local); ok {
		d, n, err := store.Take(ctx, path)
		if err == nil {
			noteNew(blobs, d, n, cacheDir)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return d, n, err
		}
	}
	f, err := hashed.OpenRegular(path)
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	defer f.Close()
	return Put(ctx, blobs, f, cacheDir)
}

// noteNew notes a blob that the store has just hashed and made read-only. Without a note it is
// hashed once more when it is asked for.
func noteNew(blobs artifacts.Blobs, d artifacts.Digest, n int64, cacheDir string) {
	store, ok := blobs.(artifacts.Local)
	if !ok || n < Large || cacheDir == "" {
		return
	}
	c := cache{cacheDir, cacheLimit}
	if path, ok := store.LocalPath(d); ok && c.open() == nil {
		_ = c.seal(d, path)
	}
}
