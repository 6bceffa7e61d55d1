package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ReadOnly is s without a way to write to it: every write is a *RefusedError.
func ReadOnly(s Store) Store {
	refused := &RefusedError{fmt.Errorf("%s is open for reading only: %w", s.URL, errors.ErrUnsupported)}
	return Store{Blobs: readOnlyBlobs{s.Blobs, refused}, Records: readOnlyRecords{s.Records, refused},
		Leases: readOnlyRecords{s.Leases, refused}, URL: s.URL}
}

type readOnlyBlobs struct {
	Blobs
	refused error
}

func (b readOnlyBlobs) Put(context.Context, io.Reader) (Digest, int64, error) {
	return Digest{}, 0, b.refused
}

func (b readOnlyBlobs) Delete(context.Context, Digest) error { return b.refused }

type readOnlyRecords struct {
	Records
	refused error
}

func (r readOnlyRecords) Create(context.Context, string, []byte) error { return r.refused }

func (r readOnlyRecords) Put(context.Context, string, []byte) error { return r.refused }

func (r readOnlyRecords) Replace(context.Context, string, []byte, []byte) error { return r.refused }

func (r readOnlyRecords) Delete(context.Context, string) error { return r.refused }
