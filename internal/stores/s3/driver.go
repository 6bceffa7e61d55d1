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
	"github.com/redsi/redsi/internal/system/readers"
)

var (
	_ artifacts.Driver      = (*bucket)(nil)
	_ artifacts.TidyDriver  = (*bucket)(nil)
	_ artifacts.RivalDriver = (*bucket)(nil)
)

// Where returns the address of an object.
func (b *bucket) Where(path string) string { return b.address(b.key(path)) }

// Open asks for the object and resumes where a connection breaks. Anything but a blob is small, and must come within
// the time of a look-up.
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
	opts.DisableContentSha256 = true // the hash is in the request's head instead
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
	if err == nil { // an object that was put meanwhile stays; some servers take a quoted ETag only
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

// resumes is how many breaks in a row, without readers.Progress between them, a read survives, and pauseMost the
// longest pause after a break; pauses grow to seven seconds in all. Within each, minio-go retries and backs off, for
// some three seconds more where the server is away.
const (
	resumes   = 8
	pauseMost = 2 * time.Second
)

// openObject reads an object from start to end, and returns its version. Where the connection breaks it asks for the
// rest of the same version.
func (b *bucket) openObject(ctx context.Context, key string) (o *readers.Resuming, etag string, err error) {
	rc, info, err := b.get(ctx, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, "", b.verdict(key, causeOf(ctx, err))
	}
	rest := func(from int64) (io.ReadCloser, bool, error) {
		if info.ETag == "" {
			return nil, false, errors.New("the server gave no ETag, so the rest could be of another version: try again")
		}
		var opts minio.GetObjectOptions
		if err := errors.Join(opts.SetRange(from, info.Size-1), opts.SetMatchETag(info.ETag)); err != nil {
			return nil, false, err
		}
		rc, _, err := b.get(ctx, key, opts)
		status := minio.ToErrorResponse(err).StatusCode // 0: the server is away and gave no verdict
		transient := ctx.Err() == nil && (status == 0 || isBusy(status))
		return rc, transient, b.explain("resume reading", err)
	}
	return &readers.Resuming{Ctx: ctx, Body: rc, Size: info.Size, Done: func() {}, Rest: rest, Breaks: resumes,
		Wait: func(n int) time.Duration { return min(pauseMost, 50*time.Millisecond<<n) }}, info.ETag, nil
}

// read returns up to most+1 bytes of an object, and its version.
func (b *bucket) read(ctx context.Context, key string, most int) (data []byte, etag string, err error) {
	o, etag, err := b.openObject(ctx, key)
	if err != nil {
		return nil, "", err
	}
	data, err = io.ReadAll(io.LimitReader(o, int64(most)+1))
	return data, etag, b.explain("read", errors.Join(err, o.Close()))
}

func (b *bucket) get(ctx context.Context, key string, opts minio.GetObjectOptions) (io.ReadCloser, minio.ObjectInfo, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	rc, info, _, err := b.core.GetObject(ctx, b.cfg.Bucket, key, opts)
	if err != nil {
		cancel(nil)
		return nil, info, err
	}
	return b.pace.Watch(ctx, cancel, rc), info, nil
}

// causeOf returns why ctx ended, if it did, in place of a request's error.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}
