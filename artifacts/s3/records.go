package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
)

// Records is the record half of a store in a bucket.
type Records struct {
	*bucket
	top string // below the prefix: "records/" or "leases/"
}

func (r *Records) recordKey(name string) string {
	return r.key(r.top + artifacts.RecordPath(name))
}

// Get reads the whole object.
func (r *Records) Get(ctx context.Context, name string) ([]byte, error) {
	b, _, err := r.get(ctx, name)
	return b, err
}

func (r *Records) get(ctx context.Context, name string) (b []byte, etag string, err error) {
	if err := check(ctx, name, nil); err != nil {
		return nil, "", err
	}
	ctx, cancel := r.forLookup(ctx)
	defer cancel()
	o, err := r.openObject(ctx, r.recordKey(name))
	if absent(err) {
		return nil, "", fmt.Errorf("record %s: %w", name, artifacts.ErrNotExist)
	}
	if errors.Is(err, artifacts.ErrNotExist) {
		return nil, "", err
	}
	if err != nil {
		return nil, "", r.explain("read record "+name, causeOf(ctx, err))
	}
	defer o.Close()
	b, err = io.ReadAll(io.LimitReader(o, artifacts.MaxRecord+1))
	if err != nil {
		return nil, "", r.explain("read record "+name, err)
	}
	if len(b) > artifacts.MaxRecord {
		return nil, "", &artifacts.DamageError{Name: name, Err: fmt.Errorf("in %s it is larger than any that redsi writes", r.where(o.key))}
	}
	return b, o.etag, nil
}

// Put replaces the object: the server shows the old one or the new one.
func (r *Records) Put(ctx context.Context, name string, data []byte) error {
	if err := check(ctx, name, data); err != nil {
		return err
	}
	_, err := r.put(ctx, r.recordKey(name), data, minio.PutObjectOptions{})
	return r.explain("write record "+name, err)
}

// put sends a small object in one request whose body the server checks.
func (b *bucket) put(ctx context.Context, key string, data []byte, opts minio.PutObjectOptions) (minio.UploadInfo, error) {
	opts.ContentType = "application/json"
	opts.DisableContentSha256 = true // the hash goes into the request's head in its place
	sum := artifacts.Sum(data).Hex()
	return whileDenied(ctx, func() (minio.UploadInfo, error) {
		return b.core.PutObject(ctx, b.cfg.Bucket, key, bytes.NewReader(data), int64(len(data)), "", sum, opts)
	})
}

func check(ctx context.Context, name string, data []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return artifacts.CheckRecord(name, data)
}

// List asks for the objects below the prefix and sorts them: the order of
// escaped names is not that of names.
func (r *Records) List(ctx context.Context, prefix string) iter.Seq2[artifacts.RecordInfo, error] {
	return func(yield func(artifacts.RecordInfo, error) bool) {
		found, err := r.find(ctx, prefix)
		if err != nil {
			yield(artifacts.RecordInfo{}, r.explain("list records", err))
			return
		}
		for _, info := range found {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (r *Records) find(ctx context.Context, prefix string) ([]artifacts.RecordInfo, error) {
	folder, ok := artifacts.RecordFolder(prefix)
	if !ok {
		return nil, nil
	}
	top := r.key(r.top)
	var found []artifacts.RecordInfo
	for o, err := range r.list(ctx, top+folder+plainStart(prefix)) {
		if err != nil {
			return nil, err
		}
		name, ok := artifacts.RecordName(strings.TrimPrefix(o.Key, top))
		if !ok || !strings.HasPrefix(name, prefix) {
			continue
		}
		found = append(found, artifacts.RecordInfo{Name: name, Size: o.Size, ModTime: o.LastModified})
	}
	slices.SortFunc(found, func(a, b artifacts.RecordInfo) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// plainStart returns the part of prefix's last segment that escaping does not
// change, so that the server can narrow a listing by part of a key.
func plainStart(prefix string) string {
	last := prefix[strings.LastIndexByte(prefix, '/')+1:]
	n := 0
	for n < len(last) && (last[n] >= 'a' && last[n] <= 'z' || last[n] >= '0' && last[n] <= '9' || last[n] == '-' || last[n] == '_') {
		n++
	}
	return last[:n]
}

// Delete removes the object.
func (r *Records) Delete(ctx context.Context, name string) error {
	if err := check(ctx, name, nil); err != nil {
		return err
	}
	return r.explain("delete record "+name, r.remove(ctx, r.recordKey(name)))
}
