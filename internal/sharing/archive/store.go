package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// Store is the archive as a read-only store.
func (a *Reader) Store() artifacts.Store {
	return artifacts.Store{Blobs: blobs{a}, Records: records{a}, Leases: none{}, URL: a.where}
}

var errReadOnly = &artifacts.RefusedError{Err: errors.New("an archive is read-only")}

type blobs struct{ a *Reader }

func (b blobs) Put(context.Context, io.Reader) (artifacts.Digest, int64, error) {
	return artifacts.Digest{}, 0, errReadOnly
}

func (b blobs) Delete(context.Context, artifacts.Digest) error { return errReadOnly }

func (b blobs) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	f := b.a.blobs[d]
	if f == nil {
		return nil, fmt.Errorf("blob %s: %w", d, artifacts.ErrNotExist)
	}
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	return artifacts.VerifyReader(r, d, b.a.where), context.Cause(ctx)
}

func (b blobs) Missing(_ context.Context, ds []artifacts.Digest) (missing []artifacts.Digest, err error) {
	seen := make(map[artifacts.Digest]bool, len(ds))
	for _, d := range ds {
		if !seen[d] && b.a.blobs[d] == nil {
			missing = append(missing, d)
		}
		seen[d] = true
	}
	return missing, nil
}

func (b blobs) List(context.Context) iter.Seq2[artifacts.BlobInfo, error] {
	return func(yield func(artifacts.BlobInfo, error) bool) {
		for d, f := range b.a.blobs {
			if !yield(artifacts.BlobInfo{Digest: d, Size: int64(f.UncompressedSize64)}, nil) {
				return
			}
		}
	}
}

type records struct{ a *Reader }

func (r records) Create(context.Context, string, []byte) error          { return errReadOnly }
func (r records) Put(context.Context, string, []byte) error             { return errReadOnly }
func (r records) Replace(context.Context, string, []byte, []byte) error { return errReadOnly }
func (r records) Delete(context.Context, string) error                  { return errReadOnly }

func (r records) Get(_ context.Context, name string) ([]byte, error) {
	f := r.a.records[name]
	if f == nil {
		return nil, fmt.Errorf("record %s: %w", name, artifacts.ErrNotExist)
	}
	return readAll(f, artifacts.MaxRecord)
}

func (r records) List(_ context.Context, prefix string) iter.Seq2[artifacts.RecordInfo, error] {
	return func(yield func(artifacts.RecordInfo, error) bool) {
		for _, name := range r.a.names[sort.SearchStrings(r.a.names, prefix):] {
			if !strings.HasPrefix(name, prefix) {
				return
			}
			if !yield(artifacts.RecordInfo{Name: name, Size: int64(r.a.records[name].UncompressedSize64)}, nil) {
				return
			}
		}
	}
}

// none are the leases of an archive.
type none struct{}

func (none) Get(context.Context, string) ([]byte, error)           { return nil, artifacts.ErrNotExist }
func (none) Create(context.Context, string, []byte) error          { return errReadOnly }
func (none) Put(context.Context, string, []byte) error             { return errReadOnly }
func (none) Replace(context.Context, string, []byte, []byte) error { return errReadOnly }
func (none) Delete(context.Context, string) error                  { return errReadOnly }
func (none) List(context.Context, string) iter.Seq2[artifacts.RecordInfo, error] {
	return func(func(artifacts.RecordInfo, error) bool) {}
}
