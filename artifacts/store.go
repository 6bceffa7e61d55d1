package artifacts

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// BlobReader reads immutable bytes by their SHA-256.
type BlobReader interface {
	// Open returns the bytes of d. A read that reaches io.EOF has delivered exactly these bytes; a blob
	// that differs ends in an *IntegrityError in place of io.EOF, so that bytes are not to be trusted
	// before EOF. A blob that is not there is ErrNotExist, returned by Open itself.
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)

	// Missing returns the blobs among ds that are not there, in their order, each once. It looks at
	// existence only; reads check the bytes.
	Missing(ctx context.Context, ds []Digest) ([]Digest, error)
}

// Blobs keeps immutable bytes under their SHA-256. All methods may be called concurrently, from several
// processes and machines on one store, and again after an error: each is idempotent.
type Blobs interface {
	BlobReader

	// Put stores what r yields and returns its digest and size. It streams with bounded memory, hashes at
	// ingest and shows the blob only when it is complete: after an error, a kill or a cancelled ctx
	// nothing is visible. A blob that is there already is not an error; its age (ModTime) starts anew, so
	// that garbage collection sees it as in use.
	Put(ctx context.Context, r io.Reader) (Digest, int64, error)

	// List yields every blob, in no set order. The first error ends it.
	List(ctx context.Context) iter.Seq2[BlobInfo, error]

	// Delete removes d; a blob that is not there is not an error.
	Delete(ctx context.Context, d Digest) error
}

// Local is a Blobs whose blobs are files on this machine.
type Local interface {
	// LocalPath returns the path of d's bytes, unverified and not to be written, and whether there is
	// such a file. Package local verifies it.
	LocalPath(d Digest) (path string, ok bool)

	// Take is Put of the regular file at path, which the caller gives away: where the store can, the file
	// becomes the blob's, and its bytes are read only to be hashed. After errors.ErrUnsupported the file
	// is where it was; after another error it may be gone.
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

	// Create stores a new document, or returns ErrExist and changes nothing. Of any number of concurrent
	// calls for one name, on any machines, exactly one succeeds. After another error (a lost answer, a
	// cancelled ctx) the document may have been created: Get tells.
	Create(ctx context.Context, name string, data []byte) error

	// Put stores a document in place of any other, atomically.
	Put(ctx context.Context, name string, data []byte) error

	// Replace stores data in place of the document old, atomically. If another document is there it
	// returns ErrExist, if none is, ErrNotExist, and changes nothing. Of any number of concurrent calls
	// with one old and other data, exactly one succeeds. Like Create, it may have succeeded after another
	// error.
	Replace(ctx context.Context, name string, old, data []byte) error

	// Delete removes a document. A document that is not there is not an error.
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
	URL     string  // where the store is, for people and logs; without secrets
}

// Reader is a place that can only be read.
type Reader struct {
	Blobs   BlobReader
	Records RecordReader
	URL     string
}

// Reader is s itself, to be read only.
func (s Store) Reader() Reader { return Reader{s.Blobs, s.Records, s.URL} }

// Driver keeps a store's files somewhere: in a folder, a bucket, memory. It moves bytes by path,
// "blobs/ab/cdef…", "records/runs/1.json" or "leases/….json", and knows nothing of what they mean: On
// makes a store of it. All methods may be called concurrently, from several processes and machines. A
// file that is not there is ErrNotExist, returned by the call itself; any other error says what its
// reader is to do.
type Driver interface {
	ReadDriver

	// Ingest stores what r yields under the path that its digest gives, as Blobs.Put does.
	Ingest(ctx context.Context, r io.Reader, path func(Digest) string) (Digest, int64, error)

	// Put, Create, Replace and Delete do for a path what the methods of Records do for a name.
	Put(ctx context.Context, path string, data []byte) error
	Create(ctx context.Context, path string, data []byte) error
	Replace(ctx context.Context, path string, old, data []byte) error
	Delete(ctx context.Context, path string) error
}

// ReadDriver is a Driver that only reads.
type ReadDriver interface {
	// Open reads a file from its start to its end. Its bytes are not verified.
	Open(ctx context.Context, path string) (io.ReadCloser, error)

	// Has says of each path, which all differ, whether there is such a file.
	Has(ctx context.Context, paths []string) ([]bool, error)

	// List yields the files whose path starts with prefix, in no set order, and whatever else is among
	// them. It follows no link; a link on the way to them is all that it yields. The first error ends it.
	List(ctx context.Context, prefix string) iter.Seq2[FileInfo, error]

	// Where names a file for people.
	Where(path string) string
}

// FileInfo is what a Driver lists.
type FileInfo struct {
	Path    string
	Size    int64
	ModTime time.Time

	What   string // "" for a regular file; else what it is, for people: "a folder"
	Folder bool   // it is a folder
	Linked bool   // it is a link to a folder, or to nothing: its disk may be away
}

// LocalDriver is a Driver whose files are on this machine.
type LocalDriver interface {
	// LocalPath says where a file is, and whether it is there.
	LocalPath(path string) (file string, ok bool)
}

// TakingDriver is a LocalDriver that can make a file of this machine its own.
type TakingDriver interface {
	// Take is Local.Take, with the path that the digest gives.
	Take(ctx context.Context, file string, path func(Digest) string) (Digest, int64, error)
}

// TidyDriver is a Driver that keeps its files where others can put things, too.
type TidyDriver interface {
	// SetAside moves what is at a path below the store's aside/ and says where it is then.
	SetAside(ctx context.Context, path string) (to string, err error)
}

// RivalDriver is a Driver that can have several writers at once try to be the first, since its server may
// let more than one of them be that.
type RivalDriver interface {
	// Rivals says, for people, what the writers were told. It is an error if more than one was the first,
	// or if that cannot be tried.
	Rivals(ctx context.Context) (string, error)
}

// HasEach is Has of a Driver by requests for one file each, at most atOnce at a time.
func HasEach(ctx context.Context, paths []string, atOnce int, has func(ctx context.Context, path string) (bool, error)) ([]bool, error) {
	there := make([]bool, len(paths))
	err := each(ctx, len(paths), atOnce, func(ctx context.Context, i int) (err error) {
		there[i], err = has(ctx, paths[i])
		return err
	})
	return there, err
}

// transfers bounds the blobs that are copied at a time: each takes some MiB in a bucket's client.
const transfers = 8

// each calls f with 0 to n-1, at most atOnce calls at a time. The first error ends it.
func each(ctx context.Context, n, atOnce int, f func(ctx context.Context, i int) error) error {
	var next atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	for range min(atOnce, n) {
		g.Go(func() error {
			for i := next.Add(1) - 1; i < int64(n) && gctx.Err() == nil; i = next.Add(1) - 1 {
				if err := f(gctx, int(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// parallel bounds the requests of one call to a store at a time: enough to hide a bucket's latency, few
// enough for any server.
const parallel = 16

// inspectMost bounds the entries in memory while all of a store is read.
const inspectMost = 2048
