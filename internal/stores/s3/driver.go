package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
)

var (
	_ artifacts.Driver      = (*bucket)(nil)
	_ artifacts.TidyDriver  = (*bucket)(nil)
	_ artifacts.RivalDriver = (*bucket)(nil)
)

// Where is the address of an object.
func (b *bucket) Where(path string) string { return b.address(b.key(path)) }

// Open asks for the whole object and resumes where a connection breaks. What is small, all
// but a blob, comes within the time of a look-up.
func (b *bucket) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	done := context.CancelFunc(func() {})
	if !strings.HasPrefix(path, "blobs/") {
		ctx, done = b.forLookup(ctx)
	}
	o, _, err := b.openObject(ctx, b.key(path))
	if err != nil {
		done()
		return nil, err
	}
	o.Done = done
	return o, nil
}

// headsAtOnce is how many objects one call asks about in parallel.
const headsAtOnce = 32

// Has sends one HEAD request for each object.
func (b *bucket) Has(ctx context.Context, paths []string) ([]bool, error) {
	return artifacts.HasEach(ctx, paths, headsAtOnce, func(ctx context.Context, path string) (bool, error) {
		ctx, cancel := b.forLookup(ctx)
		defer cancel()
		_, err := b.core.StatObject(ctx, b.cfg.Bucket, b.key(path), minio.StatObjectOptions{})
		if err == nil {
			return true, nil
		}
		if err = b.verdict(b.key(path), causeOf(ctx, err)); errors.Is(err, artifacts.ErrNotExist) {
			err = nil
		}
		return false, err
	})
}

// List pages through the objects.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[artifacts.FileInfo, error] {
	return func(yield func(artifacts.FileInfo, error) bool) {
		for o := range b.core.ListObjectsIter(ctx, b.cfg.Bucket, minio.ListObjectsOptions{Prefix: b.key(prefix), Recursive: true}) {
			if o.Err != nil {
				yield(artifacts.FileInfo{}, b.explain("list", o.Err))
				return
			}
			if o.Key == b.key(prefix) { // consoles make an empty object for a folder
				continue
			}
			path := strings.TrimPrefix(o.Key, b.key(""))
			if !yield(artifacts.FileInfo{Path: path, Size: o.Size, ModTime: o.LastModified}, nil) {
				return
			}
		}
	}
}

// Put replaces the object: the server shows the old one or the new one.
func (b *bucket) Put(ctx context.Context, path string, data []byte) error {
	_, err := b.put(ctx, b.key(path), data, minio.PutObjectOptions{})
	return b.explain("write", err)
}

// put sends a small object in one request whose body the server checks.
func (b *bucket) put(ctx context.Context, key string, data []byte, opts minio.PutObjectOptions) (minio.UploadInfo, error) {
	opts.ContentType = "application/json"
	opts.DisableContentSha256 = true // the hash goes into the request's head in its place
	sum := artifacts.Sum(data).Hex()
	return whileDenied(ctx, func() (minio.UploadInfo, error) {
		body := bytes.NewReader(data)
		return b.core.PutObject(ctx, b.cfg.Bucket, key, body, body.Size(), md5Of(body), sum, opts)
	})
}

// Delete removes the object.
func (b *bucket) Delete(ctx context.Context, path string) error {
	return b.explain("delete", b.remove(ctx, b.key(path)))
}

func (b *bucket) remove(ctx context.Context, key string) error {
	err := b.core.RemoveObject(ctx, b.cfg.Bucket, key, minio.RemoveObjectOptions{})
	if absent(err) {
		return nil
	}
	return errors.Join(err, context.Cause(ctx))
}

// SetAside has the server copy the object, of 5 GiB at most, below aside/ and then deletes it.
func (b *bucket) SetAside(ctx context.Context, path string) (string, error) {
	stamp := time.Now().UTC().Format("20060102T150405.000000000")
	from, to := b.key(path), b.key(fmt.Sprintf("aside/%s/%s", stamp, path))
	info, err := b.core.StatObject(ctx, b.cfg.Bucket, from, minio.StatObjectOptions{})
	if err == nil { // what has other bytes by then was put meanwhile, and stays; some servers take a quoted ETag only
		_, err = b.core.Client.CopyObject(ctx, minio.CopyDestOptions{Bucket: b.cfg.Bucket, Object: to},
			minio.CopySrcOptions{Bucket: b.cfg.Bucket, Object: from, MatchETag: `"` + info.ETag + `"`})
	}
	if err == nil {
		err = b.remove(ctx, from)
	}
	if err != nil {
		return "", b.explain("move", err)
	}
	return b.address(to), nil
}
