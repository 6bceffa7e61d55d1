package s3

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/internal/system/readers"
)

// resumes is how many breaks in a row, without readers.Progress between them, a read
// survives, pauseMost the longest time between two, each longer than the one before:
// what breaks connections may last. That is seven seconds in all; minio-go
// retries and backs off within each, some three seconds more where the server is away.
const (
	resumes   = 8
	pauseMost = 2 * time.Second
)

// openObject reads an object from start to end, and returns its version. Where the connection
// breaks it asks for the rest of the same version.
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

// read has so many bytes of an object at most, and one more if it has more, and its version.
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

// causeOf is why a request with ctx ended, where its own error says only that it did.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}
