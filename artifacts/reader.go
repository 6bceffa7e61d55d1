package artifacts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"math"
)

// VerifyReader returns rc with its bytes checked against d: where rc ends with io.EOF, the result does
// so only if all bytes read have the digest d, and otherwise ends with an *IntegrityError. where names
// rc's origin.
func VerifyReader(rc io.ReadCloser, d Digest, where string) io.ReadCloser {
	return &verifyReader{rc: rc, want: d, where: where, sum: sha256.New()}
}

type verifyReader struct {
	rc    io.ReadCloser
	want  Digest
	where string
	sum   hash.Hash
	n     int64
	end   error // that every further read returns
}

func (r *verifyReader) Read(p []byte) (int, error) {
	if r.end != nil {
		return 0, r.end
	}
	n, err := r.rc.Read(p)
	r.sum.Write(p[:n])
	r.n += int64(n)
	if errors.Is(err, io.EOF) {
		err = io.EOF
		if got := Digest(r.sum.Sum(nil)); got != r.want {
			err = &IntegrityError{Want: r.want, Got: got, Size: r.n, Where: r.where}
		}
	}
	r.end = err
	return n, err
}

func (r *verifyReader) Close() error { return r.rc.Close() }

// PutBytes stores b as a blob.
func PutBytes(ctx context.Context, s Blobs, b []byte) (Digest, error) {
	d, _, err := s.Put(ctx, bytes.NewReader(b))
	return d, err
}

// AnySize is the limit of ReadBlob for blobs that grow with a plan or a run, without a bound.
const AnySize int64 = math.MaxInt64 - 1

// ReadBlob returns the verified bytes of a blob. A blob of more than limit bytes is an error, so that a
// wrong digest cannot exhaust memory.
func ReadBlob(ctx context.Context, s BlobReader, d Digest, limit int64) ([]byte, error) {
	rc, err := s.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return readLimited(rc, d, limit)
}

// readLimited reads rc and closes it.
func readLimited(rc io.ReadCloser, d Digest, limit int64) ([]byte, error) {
	defer rc.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(rc, limit+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, fmt.Errorf("blob %s has more than %d bytes", d, limit)
	}
	return b.Bytes(), nil
}

// RecordNames lists the names of records, for callers that change the store, which they must not do
// while it is listed.
func RecordNames(ctx context.Context, records RecordReader, prefix string) ([]string, error) {
	var names []string
	for r, err := range records.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	return names, nil
}

// Document is a record with its text.
type Document struct {
	Name string
	Text []byte
}

// DocumentsIn lists the records whose names begin with prefix, and then reads them.
func DocumentsIn(ctx context.Context, records RecordReader, prefix string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		names, err := RecordNames(ctx, records, prefix)
		if err != nil {
			yield(Document{}, err)
			return
		}
		Documents(ctx, records, names)(yield)
	}
}

// PutJSON stores a value as a document.
func PutJSON(ctx context.Context, records Records, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return records.Put(ctx, name, b)
}

// getter reads records by name.
type getter interface {
	Get(ctx context.Context, name string) ([]byte, error)
}

// Documents reads records in the order of names. It leaves out records that are deleted meanwhile, and
// ends with the first error.
func Documents(ctx context.Context, records getter, names []string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, name := range names {
			text, err := records.Get(ctx, name)
			if errors.Is(err, ErrNotExist) {
				continue
			}
			if !yield(Document{name, text}, err) || err != nil {
				return
			}
		}
	}
}
