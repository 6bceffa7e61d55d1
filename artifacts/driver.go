package artifacts

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Driver keeps a store's files somewhere: in a folder, a bucket, memory. It moves bytes by
// path, "blobs/ab/cdef…", "records/runs/1.json" or "leases/….json", and knows nothing of
// what they mean: On makes a store of it. All methods may be called concurrently, from
// several processes and machines. What is not there is ErrNotExist, told by the call itself;
// what a caller is to do about another error, the error says.
type Driver interface {
	ReadDriver

	// Ingest stores what r yields under the path that its digest gives, as Blobs.Put says.
	Ingest(ctx context.Context, r io.Reader, path func(Digest) string) (Digest, int64, error)

	// Put, Create, Replace and Delete are those of Records.
	Put(ctx context.Context, path string, data []byte) error
	Create(ctx context.Context, path string, data []byte) error
	Replace(ctx context.Context, path string, old, data []byte) error
	Delete(ctx context.Context, path string) error
}

// ReadDriver is a Driver that only reads.
type ReadDriver interface {
	// Open reads a file from its start to its end. Its bytes are not verified.
	Open(ctx context.Context, path string) (io.ReadCloser, error)

	// Has says of each of paths, which differ, whether there is such a file.
	Has(ctx context.Context, paths []string) ([]bool, error)

	// List yields the files whose path starts with prefix, in no set order, and whatever
	// else is among them; a link on the way to them is all that it yields. What a link leads
	// to is not listed. The first error ends it.
	List(ctx context.Context, prefix string) iter.Seq2[FileInfo, error]

	// Where names a file for people.
	Where(path string) string
}

// FileInfo is what a Driver lists.
type FileInfo struct {
	Path    string
	Size    int64
	ModTime time.Time

	What   string // that is no regular file, for people: "a folder"; empty for one
	Folder bool   // it is a folder
	Linked bool   // it is a link that leads to one, or nowhere: its disk may be away
}

// LocalDriver is a Driver whose files are on this machine.
type LocalDriver interface {
	// LocalPath is where a file is, and whether it is there.
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

// RivalDriver is a Driver that can have several writers at once try to be the first, as a server may
// let more than one.
type RivalDriver interface {
	// Rivals says, for people, what they were told; an error if more than one was the first, or if
	// it cannot be tried.
	Rivals(ctx context.Context) (string, error)
}

// HasEach is Has of a Driver that is asked for one file at a time, atOnce together at most.
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

// each calls f with 0 to n-1, atOnce together at most. The first error ends it.
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

// parallel bounds concurrent requests of one call to a store: enough to hide a
// bucket's latency, few enough for any server.
const parallel = 16

// inspectMost bounds the entries that are in memory while a whole store is gone through.
const inspectMost = 2048
