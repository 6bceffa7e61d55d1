package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	mrand "math/rand/v2"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// writerHeader marks a record with the call of Create that wrote it, so that a
// call whose answer was lost, and whose retry was refused, knows its own work.
const writerHeader = "Redsi-Writer"

// conflicts is how often a conditional put is sent again after the server says
// that it collided with another one (AWS answers 409 then, and decides nothing).
const conflicts = 10

// Create has the server refuse a name that is taken, by If-None-Match.
func (b *bucket) Create(ctx context.Context, path string, data []byte) error {
	if err := b.conditional(ctx); err != nil {
		return b.explain("probe for If-None-Match", err)
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

// Replace has the server refuse a name under which there is another version by now, by
// If-Match.
func (b *bucket) Replace(ctx context.Context, path string, old, data []byte) error {
	if err := b.matching(ctx); err != nil {
		return b.explain("probe for If-Match", err)
	}
	o, etag, err := b.openObject(ctx, b.key(path))
	if err != nil {
		return err
	}
	there, err := io.ReadAll(io.LimitReader(o, int64(len(old))+1))
	if err = errors.Join(err, o.Close()); err != nil {
		return b.explain("read", err)
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

// pause waits before the i-th retry: random, so that rivals part, doubling up to
// about a second.
func pause(ctx context.Context, i int) error {
	most := time.Second
	if i < 7 {
		most = 8 * time.Millisecond << i
	}
	return readers.Pause(ctx, mrand.N(most))
}

// errUnconditional refuses a server on which two writers could both be the first.
var errUnconditional = &artifacts.RefusedError{Err: errors.New("the server ignores If-None-Match on writes, so two writers of a result could both be the first; " +
	"AWS S3 heeds it, and so do versitygw 1.8.0, SeaweedFS 4.48 and MinIO of 2026-02-12, which were tried: use one of those, or a directory")}

// errUnmatched refuses to replace a record where two writers could both do that.
var errUnmatched = &artifacts.RefusedError{Err: errors.New("the server ignores If-Match on writes, so a result that cannot be used is not safely replaced; " +
	"run verify --repair, which deletes it, and run again")}

// conditional fails unless the server is known to heed If-None-Match: it puts one fixed
// object, and if it may, puts it again, which must be refused. Some servers ignore the
// header without a word.
func (b *bucket) conditional(ctx context.Context) error {
	return b.proven(ctx, &b.heeds, 2, ifNone, errUnconditional)
}

// matching fails unless the server is known to heed If-Match, too: the fixed object, which
// is there by then, has another version.
func (b *bucket) matching(ctx context.Context) error {
	if err := b.conditional(ctx); err != nil {
		return err
	}
	return b.proven(ctx, &b.matches, 1, func(o *minio.PutObjectOptions) { o.SetMatchETag("00000000000000000000000000000000") }, errUnmatched)
}

// proven puts the fixed object on a condition so many times, until the server refuses that by
// the condition, and notes it. Where it does not, the error is unheeded.
func (b *bucket) proven(ctx context.Context, isProven *bool, times int, condition func(*minio.PutObjectOptions), unheeded error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if *isProven {
		return nil
	}
	for collided := 0; times > 0; {
		opts := minio.PutObjectOptions{}
		condition(&opts)
		_, err := b.put(ctx, b.key("probe/if-none-match"), []byte("{}"), opts)
		switch resp := minio.ToErrorResponse(err); {
		case resp.StatusCode == http.StatusPreconditionFailed:
			*isProven = true
			return nil
		case resp.StatusCode == http.StatusConflict && collided < conflicts: // it decides nothing
			if err := pause(ctx, collided); err != nil {
				return err
			}
			collided++
		case err == nil:
			times--
		case resp.StatusCode == http.StatusNotImplemented, resp.Code == minio.NotImplemented:
			return unheeded
		default:
			return err
		}
	}
	return unheeded
}
