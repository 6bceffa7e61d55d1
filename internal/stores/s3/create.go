package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	mrand "math/rand/v2"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// writerHeader marks a record with the call that wrote it, so that a call whose answer was lost, and whose retry was
// refused, recognises its own work.
const writerHeader = "Redsi-Writer"

// conflicts is how often a conditional put is sent while the server says that it collided with another put (AWS
// answers 409 then, and decides nothing).
const conflicts = 10

// Create has the server refuse a name that is taken, by If-None-Match.
func (b *bucket) Create(ctx context.Context, path string, data []byte) error {
	done, err := b.enter(ctx, (*verdict).ofCreate)
	if err != nil {
		return b.explain("try the server", err)
	}
	defer done()
	if b.cfg.OneWriter {
		if _, err := b.core.StatObject(ctx, b.cfg.Bucket, b.key(path), minio.StatObjectOptions{}); err == nil {
			return artifacts.ErrExist
		} else if !absent(err) {
			return b.explain("create", err)
		}
	}
	won, err := b.putIf(ctx, b.key(path), data, ifNone)
	if err != nil {
		return b.explain("create", err)
	}
	if !won {
		return artifacts.ErrExist
	}
	return nil
}

// Replace has the server refuse a name under which there is another version by now, by If-Match.
func (b *bucket) Replace(ctx context.Context, path string, old, data []byte) error {
	done, err := b.enter(ctx, (*verdict).ofReplace)
	if err != nil {
		return b.explain("try the server", err)
	}
	defer done()
	there, etag, err := b.read(ctx, b.key(path), len(old))
	if err != nil {
		return err
	}
	won := false
	if bytes.Equal(there, old) {
		won, err = b.putIf(ctx, b.key(path), data, func(opts *minio.PutObjectOptions) { opts.SetMatchETag(etag) })
	}
	if err != nil {
		return b.explain("replace", err)
	}
	if !won {
		return artifacts.ErrExist
	}
	return nil
}

// enter returns when a conditional write may begin: where one process writes at a time, when its other writes are
// done; else when there is a verdict, which must allow it.
func (b *bucket) enter(ctx context.Context, allows func(*verdict) error) (done func(), err error) {
	if b.cfg.OneWriter {
		b.one.Lock()
		return b.one.Unlock, nil
	}
	v, err := b.judge(ctx, false)
	if err == nil {
		err = allows(v)
	}
	return func() {}, err
}

// ifNone is the condition that nothing is there.
func ifNone(o *minio.PutObjectOptions) { o.SetMatchETagExcept("*") }

// putIf stores data under key on a condition, and reports whether this call did.
func (b *bucket) putIf(ctx context.Context, key string, data []byte, condition func(*minio.PutObjectOptions)) (bool, error) {
	writer := rand.Text()
	var err error
	for i := range conflicts {
		opts := minio.PutObjectOptions{UserMetadata: map[string]string{writerHeader: writer}}
		condition(&opts)
		_, err = b.put(ctx, key, data, opts)
		if absent(err) { // If-Match of what was deleted meanwhile
			return false, nil
		}
		switch minio.ToErrorResponse(err).StatusCode {
		case http.StatusPreconditionFailed:
			return b.wroteIt(ctx, key, writer)
		case http.StatusConflict:
			if err := pause(ctx, i); err != nil {
				return false, err
			}
			continue
		}
		return err == nil, err
	}
	return false, err
}

// wroteIt reports whether the object at key is the given writer's.
func (b *bucket) wroteIt(ctx context.Context, key, writer string) (bool, error) {
	info, err := b.core.StatObject(ctx, b.cfg.Bucket, key, minio.StatObjectOptions{})
	if absent(err) {
		return false, nil // deleted meanwhile: it was there when we asked
	}
	return err == nil && info.UserMetadata[writerHeader] == writer, err
}

// pause sleeps before the i-th retry: for a random time, so that rivals part, doubling up to about a second.
func pause(ctx context.Context, i int) error {
	most := time.Second
	if i < 7 {
		most = 8 * time.Millisecond << i
	}
	return readers.Pause(ctx, mrand.N(most))
}

// deniedTries is how often a put is sent before "Access Denied" is believed.
const deniedTries = 5

// whileDenied retries a put that the server denies. MinIO on one drive makes the folders above a new object, and says
// "Access Denied" when somebody who deleted the last object beside it removed them twice meanwhile
// (cmd/os-reliable.go there: renameAll).
func whileDenied(ctx context.Context, put func() (minio.UploadInfo, error)) (minio.UploadInfo, error) {
	for i := 1; ; i++ {
		info, err := put()
		if i == deniedTries || minio.ToErrorResponse(err).Code != minio.AccessDenied || pause(ctx, i) != nil {
			return info, err
		}
	}
}
