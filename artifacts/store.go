package artifacts

import (
	"context"
	"io"
	"iter"
	"time"
)

// BlobReader reads immutable bytes by their SHA-256.
type BlobReader interface {
	// Open returns the bytes of d. A read that reaches io.EOF has delivered
	// exactly those bytes; a blob that differs ends in an *IntegrityError in
	// place of io.EOF, so what was read is not to be trusted before EOF. A blob
	// that is not there is ErrNotExist, told by Open itself.
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)

	// Missing returns those of ds that are not there, in the order given, each
	// once. It looks at existence only; reads check the bytes.
	Missing(ctx context.Context, ds []Digest) ([]Digest, error)
}

// Blobs keeps immutable bytes under their SHA-256. All methods may be called
// concurrently, from several processes and machines on one store, and again
// after an error: each is idempotent.
type Blobs interface {
	BlobReader

	// Put stores what r yields and returns its digest and size. It streams with
	// bounded memory, hashes at ingest and shows the blob only when it is whole:
	// after an error, a kill or a cancelled ctx nothing is visible. A blob that
	// is there already is not an error; its age (ModTime) starts anew, so that
	// garbage collection sees it as in use.
	Put(ctx context.Context, r io.Reader) (Digest, int64, error)

	// List yields every blob, in no set order. The first error ends it.
	List(ctx context.Context) iter.Seq2[BlobInfo, error]

	// Delete removes d; a blob that is not there is not an error.
	Delete(ctx context.Context, d Digest) error
}

// Local is a Blobs whose blobs are files on this machine.
type Local interface {
	// LocalPath returns the path of d's bytes, unverified and not to be written,
	// and whether there is such a file. Package local verifies it.
	LocalPath(d Digest) (path string, ok bool)

	// Take is Put of the regular file at path, which the caller gives away: where the
	// store can, the file becomes the blob's, and its bytes are read only to be hashed.
	// errors.ErrUnsupported: it is where it was. After another error it may be gone.
	Take(ctx context.Context, path string) (Digest, int64, error)
}

// BlobInfo describes a stored blob.
type BlobInfo struct {
	Digest  Digest
	Size    int64
	ModTime time.Time // when it was last put
}

// RecordReader reads small JSON documents by slash-separated names, such as
// "results/<hex key>" or "runs/<id>". Reads never see a half-written document.
type RecordReader interface {
	// Get returns a document, or ErrNotExist.
	Get(ctx context.Context, name string) ([]byte, error)

	// List yields the documents whose name starts with prefix, sorted by name.
	// The first error ends it.
	List(ctx context.Context, prefix string) iter.Seq2[RecordInfo, error]
}

// Records keeps such documents.
type Records interface {
	RecordReader

	// Create stores a new document, or returns ErrExist and changes nothing. Of
	// any number of concurrent calls for one name, on any machines, exactly one
	// succeeds. After another error (a lost answer, a cancelled ctx) the document
	// may have been created: Get tells.
	Create(ctx context.Context, name string, data []byte) error

	// Put stores a document in place of any other, atomically.
	Put(ctx context.Context, name string, data []byte) error

	// Replace stores data in place of the document old, atomically. Where another one is
	// there it returns ErrExist, where none is, ErrNotExist, and changes nothing. Of any
	// number of concurrent calls with one old and other data, exactly one succeeds. Like
	// Create, it may have succeeded after another error.
	Replace(ctx context.Context, name string, old, data []byte) error

	// Delete removes a document; one that is not there is not an error.
	Delete(ctx context.Context, name string) error
}

// RecordInfo describes a stored record.
type RecordInfo struct {
	Name    string
	Size    int64
	ModTime time.Time
}

// Store is a place for blobs and the records about them.
type Store struct {
	Blobs   Blobs
	Records Records
	Leases  Records // of internal/host/lease: a loss of power may lose or spoil them
	URL     string  // where it is, for people and logs; never holds a secret
}

// Reader is a place that can only be read.
type Reader struct {
	Blobs   BlobReader
	Records RecordReader
	URL     string
}

// Reader is s itself, to be read only.
func (s Store) Reader() Reader { return Reader{s.Blobs, s.Records, s.URL} }
