package s3

import (
	"context"
	"errors"
	"io"
	"net/http"
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

// object reads an object from start to end. Where the connection breaks it asks
// for the rest of the same version: hours into a download of many gigabytes a
// break is ordinary.
type object struct {
	b    *bucket
	ctx  context.Context
	key  string
	etag string
	rc   io.ReadCloser
	off  int64
	size int64
	left int // breaks that are still allowed
	done func()

	counted int64 // off when left was last whole
}

func (b *bucket) openObject(ctx context.Context, key string) (*object, error) {
	rc, info, err := b.get(ctx, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.verdict(key, causeOf(ctx, err))
	}
	return &object{b: b, ctx: ctx, key: key, etag: info.ETag, rc: rc, size: info.Size, left: resumes, done: func() {}}, nil
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

func (o *object) Read(p []byte) (int, error) {
	n, err := o.rc.Read(p)
	o.off += int64(n)
	if o.off-o.counted >= readers.Progress {
		o.left, o.counted = resumes, o.off
	}
	if err == nil {
		return n, nil
	}
	if o.off >= o.size { // all bytes came, however the connection ended
		return n, io.EOF
	}
	if cause := context.Cause(o.ctx); cause != nil {
		return n, cause
	}
	var slow *readers.SlowError
	if errors.As(err, &slow) {
		return n, o.b.explain("read", err)
	}
	for err = o.b.explain("read", err); o.left > 0; {
		o.left--
		if err := readers.Pause(o.ctx, min(pauseMost, 25*time.Millisecond<<(resumes-o.left))); err != nil {
			return n, err
		}
		var again bool
		if again, err = o.resume(); !again {
			return n, err
		}
	}
	return n, err
}

// resume asks for the rest. Again says of an error that the server gave no verdict: it
// is away or overloaded.
func (o *object) resume() (again bool, err error) {
	var opts minio.GetObjectOptions
	if err := opts.SetRange(o.off, o.size-1); err != nil {
		return false, err
	}
	if err := opts.SetMatchETag(o.etag); err != nil {
		return false, err
	}
	rc, _, err := o.b.get(o.ctx, o.key, opts)
	if err != nil {
		status := minio.ToErrorResponse(err).StatusCode
		again = o.ctx.Err() == nil && (status == 0 || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests)
		return again, o.b.explain("resume reading", err)
	}
	o.rc.Close()
	o.rc = rc
	return false, nil
}

func (o *object) Close() error {
	defer o.done()
	return o.rc.Close()
}
