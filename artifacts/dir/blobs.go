package dir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// Blobs is the blob half of a store in a directory. It is artifacts.Local.
type Blobs struct {
	root    string
	durable durable
}

var (
	_ artifacts.Local  = (*Blobs)(nil)
	_ artifacts.Tidier = (*Blobs)(nil)
)

func (b *Blobs) path(d artifacts.Digest) string {
	return filepath.Join(b.root, blobsDir, filepath.FromSlash(artifacts.BlobPath(d)))
}

// LocalPath returns where d's bytes are, if they are. They are not verified:
// artifacts.Fetch does that.
func (b *Blobs) LocalPath(d artifacts.Digest) (string, bool) {
	p := b.path(d)
	info, err := os.Lstat(p)
	return p, err == nil && info.Mode().IsRegular()
}

// Put moves the new file into place, over an old one too: the content is the same, the
// age starts anew, and bytes that have gone bad are healed. Only a short blob that this
// process has put before is left where it is, when its bytes are right.
func (b *Blobs) Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error) {
	start, err := io.ReadAll(io.LimitReader(readers.WithContext(ctx, r), smallBlob+1))
	if err != nil {
		return artifacts.Digest{}, 0, explain("store a blob", err)
	}
	if len(start) <= smallBlob {
		if d := artifacts.Digest(sha256.Sum256(start)); b.present(d, start) {
			return d, int64(len(start)), nil
		}
	}
	r = io.MultiReader(bytes.NewReader(start), r)
	sum := sha256.New()
	tmp, n, err := writeTemp(ctx, b.root, io.TeeReader(r, sum), false)
	if err != nil {
		return artifacts.Digest{}, 0, explain("store a blob", err)
	}
	d := artifacts.Digest(sum.Sum(nil))
	if err := place(b.root, blobsDir, tmp, b.path(d), false, os.Rename); err != nil {
		os.Remove(tmp)
		return artifacts.Digest{}, 0, explain("store a blob", err)
	}
	if n <= smallBlob {
		b.durable.add(d, b.path(d))
	}
	return d, n, nil
}

// Open opens d for one verified pass.
func (b *Blobs) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	p := b.path(d)
	f, _, err := openOurs(p)
	if err != nil && absent(err) {
		if err := b.alive(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("blob %s: %w", d, artifacts.ErrNotExist)
	}
	if err != nil {
		return nil, explain("read a blob", err)
	}
	return artifacts.VerifyReader(file{readers.WithContext(ctx, f), f}, d, p), nil
}

type file struct {
	io.Reader
	io.Closer
}

// alive tells a blob that is not there from a store that is not there, such as
// a disk that is not mounted: that must never look like a cache miss.
func (b *Blobs) alive() error {
	if _, err := os.Stat(filepath.Join(b.root, blobsDir)); err != nil {
		return explain("the store itself is gone", err)
	}
	return nil
}

// Missing looks at names only, and takes nothing but a file for a blob.
func (b *Blobs) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	var missing []artifacts.Digest
	seen := make(map[artifacts.Digest]bool, len(ds))
	for _, d := range ds {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if seen[d] {
			continue
		}
		seen[d] = true
		info, err := os.Lstat(b.path(d))
		if err == nil && info.Mode().IsRegular() {
			continue
		}
		if err != nil && !absent(err) {
			return nil, explain("look for a blob", err)
		}
		missing = append(missing, d)
	}
	if len(missing) > 0 {
		return missing, b.alive()
	}
	return missing, nil
}

// List walks the fan-out folders in order of the digests.
func (b *Blobs) List(ctx context.Context) iter.Seq2[artifacts.BlobInfo, error] {
	return func(yield func(artifacts.BlobInfo, error) bool) {
		top := filepath.Join(b.root, blobsDir)
		err := filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				return err
			}
			d, perr := artifacts.ParseHex(filepath.Base(filepath.Dir(p)) + filepath.Base(p))
			if !e.Type().IsRegular() || perr != nil || p != b.path(d) {
				return nil // a stray
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // deleted meanwhile
			}
			if err != nil {
				return err
			}
			if !yield(artifacts.BlobInfo{Digest: d, Size: info.Size(), ModTime: info.ModTime()}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(artifacts.BlobInfo{}, explain("list blobs", err))
		}
	}
}

// Delete removes d's file.
func (b *Blobs) Delete(ctx context.Context, d artifacts.Digest) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return explain("delete a blob", remove(b.path(d)))
}

// remove deletes a file of the store, if it is there; a stray stays.
func remove(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() {
		err = os.Remove(path)
	}
	if err != nil && !absent(err) {
		return err
	}
	return nil
}
