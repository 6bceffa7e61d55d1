package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

const (
	smallBlob = 8 << 20  // hashed in memory and sent without asking first
	singlePut = 32 << 20 // sent in one request that carries the SHA-256
	partSize  = 16 << 20 // of larger ones, partsAtOnce in parallel, each with its MD5

	partsAtOnce = 4
	headsAtOnce = 32
)

// freshFor is the age up to which a large blob that is there is not sent again.
// It is well under any sensible grace period of garbage collection, so that a
// Put always leaves a blob that counts as in use; and a rerun after bytes went
// bad on the server heals them.
const freshFor = 12 * time.Hour

// Blobs is the blob half of a store in a bucket.
type Blobs struct{ *bucket }

func (b *Blobs) blobKey(d artifacts.Digest) string { return b.key("blobs/" + artifacts.BlobPath(d)) }

// Put hashes, then sends. Memory is bounded by smallBlob and a few buffers.
func (b *Blobs) Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error) {
	sp, err := spool(ctx, r, b.cfg.SpoolDir)
	if err != nil {
		return artifacts.Digest{}, 0, fmt.Errorf("store a blob: %w", err)
	}
	defer sp.close()
	if err := b.send(ctx, sp); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return artifacts.Digest{}, 0, b.explain("store blob "+sp.digest.String(), err)
	}
	return sp.digest, sp.size, nil
}

func (b *Blobs) send(ctx context.Context, sp *spooled) error {
	key := b.blobKey(sp.digest)
	if sp.size > smallBlob {
		info, err := b.core.StatObject(ctx, b.cfg.Bucket, key, minio.StatObjectOptions{})
		if err == nil && info.Size == sp.size && time.Since(info.LastModified) < freshFor {
			return nil
		}
		if err != nil && !absent(err) {
			return err
		}
	}
	_, err := whileDenied(ctx, func() (minio.UploadInfo, error) {
		if _, err := sp.body.Seek(0, io.SeekStart); err != nil {
			return minio.UploadInfo{}, err
		}
		if sp.size <= singlePut {
			// The payload's hash in the signed request is the blob's digest itself:
			// the server refuses anything else.
			return b.core.PutObject(ctx, b.cfg.Bucket, key, sp.body, sp.size, "", sp.digest.Hex(),
				minio.PutObjectOptions{DisableContentSha256: true})
		}
		return b.core.Client.PutObject(ctx, b.cfg.Bucket, key, sp.body, sp.size, minio.PutObjectOptions{
			PartSize: partSize, NumThreads: partsAtOnce, SendContentMd5: true, DisableContentSha256: true,
		})
	})
	return err
}

// spooled is a blob that has been hashed and can be read any number of times.
type spooled struct {
	body interface {
		io.ReadSeeker
		io.ReaderAt
	}
	digest artifacts.Digest
	size   int64
	close  func()
}

func spool(ctx context.Context, r io.Reader, dir string) (*spooled, error) {
	sum := sha256.New()
	in := io.TeeReader(readers.WithContext(ctx, r), sum)
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(in, smallBlob+1))
	if err != nil {
		return nil, err
	}
	if n <= smallBlob {
		return &spooled{bytes.NewReader(head.Bytes()), artifacts.Digest(sum.Sum(nil)), n, func() {}}, nil
	}
	f, err := os.CreateTemp(dir, "redsi-put-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // open but nameless: gone with the process, however that ends
	n, err = io.Copy(f, io.MultiReader(&head, in))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("spool a large blob; TMPDIR moves the place: %w", err)
	}
	return &spooled{f, artifacts.Digest(sum.Sum(nil)), n, func() { f.Close() }}, nil
}

// Open asks for the whole object and resumes where a connection breaks.
func (b *Blobs) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	key := b.blobKey(d)
	o, err := b.openObject(ctx, key)
	if absent(err) {
		return nil, fmt.Errorf("blob %s: %w", d, artifacts.ErrNotExist)
	}
	if errors.Is(err, artifacts.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, b.explain("read blob "+d.String(), err)
	}
	return artifacts.VerifyReader(o, d, b.where(key)), nil
}

// Missing sends one HEAD request per blob, headsAtOnce in parallel.
func (b *Blobs) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	return artifacts.Absent(ctx, ds, headsAtOnce, func(ctx context.Context, d artifacts.Digest) (bool, error) {
		ctx, cancel := b.forLookup(ctx)
		defer cancel()
		_, err := b.core.StatObject(ctx, b.cfg.Bucket, b.blobKey(d), minio.StatObjectOptions{})
		if absent(err) || errors.Is(b.hidden(b.blobKey(d), err), artifacts.ErrNotExist) {
			return true, nil
		}
		if err != nil {
			return false, b.explain("look for blobs", causeOf(ctx, err))
		}
		return false, nil
	})
}

// List pages through the objects in order of the digests.
func (b *Blobs) List(ctx context.Context) iter.Seq2[artifacts.BlobInfo, error] {
	return func(yield func(artifacts.BlobInfo, error) bool) {
		for o, err := range b.list(ctx, b.key("blobs/")) {
			if err != nil {
				yield(artifacts.BlobInfo{}, b.explain("list blobs", err))
				return
			}
			name := strings.TrimPrefix(b.rel(o.Key), "blobs/")
			d, err := artifacts.ParseHex(strings.ReplaceAll(name, "/", ""))
			if err != nil || o.Key != b.blobKey(d) {
				continue // not ours
			}
			if !yield(artifacts.BlobInfo{Digest: d, Size: o.Size, ModTime: o.LastModified}, nil) {
				return
			}
		}
	}
}

// list yields the objects below prefix; an error is the last it yields.
func (b *bucket) list(ctx context.Context, prefix string) iter.Seq2[minio.ObjectInfo, error] {
	return func(yield func(minio.ObjectInfo, error) bool) {
		for o := range b.core.ListObjectsIter(ctx, b.cfg.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			if !yield(o, o.Err) || o.Err != nil {
				return
			}
		}
		if err := context.Cause(ctx); err != nil { // a cancelled listing just stops
			yield(minio.ObjectInfo{}, err)
		}
	}
}

// Delete removes the object.
func (b *Blobs) Delete(ctx context.Context, d artifacts.Digest) error {
	return b.explain("delete blob "+d.String(), b.remove(ctx, b.blobKey(d)))
}

func (b *bucket) remove(ctx context.Context, key string) error {
	err := b.core.RemoveObject(ctx, b.cfg.Bucket, key, minio.RemoveObjectOptions{})
	if absent(err) {
		return nil
	}
	return errors.Join(err, context.Cause(ctx))
}
