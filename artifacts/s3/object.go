package s3

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// resumes is how many breaks in a row, without a byte between them, a read
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
}

func (b *bucket) openObject(ctx context.Context, key string) (*object, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	rc, info, _, err := b.core.GetObject(ctx, b.cfg.Bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.hidden(key, err)
	}
	return &object{b: b, ctx: ctx, key: key, etag: info.ETag, rc: rc, size: info.Size, left: resumes}, nil
}

func (o *object) Read(p []byte) (int, error) {
	n, err := o.rc.Read(p)
	o.off += int64(n)
	if n > 0 {
		o.left = resumes
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
	for err = o.b.explain("read "+o.key, err); o.left > 0; {
		o.left--
		if err := wait(o.ctx, min(pauseMost, 25*time.Millisecond<<(resumes-o.left))); err != nil {
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
	rc, _, _, err := o.b.core.GetObject(o.ctx, o.b.cfg.Bucket, o.key, opts)
	if err != nil {
		status := minio.ToErrorResponse(err).StatusCode
		again = o.ctx.Err() == nil && (status == 0 || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests)
		return again, o.b.explain("resume reading "+o.key, err)
	}
	o.rc.Close()
	o.rc = rc
	return false, nil
}

func (o *object) Close() error { return o.rc.Close() }
