package s3

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
)

// asidePrefix keeps objects that were found among blobs and records and are neither.
const asidePrefix = "aside/"

var (
	_ artifacts.Tidier = (*Blobs)(nil)
	_ artifacts.Tidier = (*Records)(nil)
)

// Strays implements artifacts.Tidier.
func (b *Blobs) Strays(ctx context.Context) iter.Seq2[artifacts.Stray, error] {
	return b.strays(ctx, "blobs/", artifacts.BlobSpot)
}

// Strays implements artifacts.Tidier.
func (r *Records) Strays(ctx context.Context) iter.Seq2[artifacts.Stray, error] {
	return r.strays(ctx, r.top, artifacts.RecordSpot)
}

// strays yields the objects below sub where no file belongs. An object in the place of
// a folder is said to be in its way: servers that keep objects as files take nothing
// below it.
func (b *bucket) strays(ctx context.Context, sub string, spot func(rel string) artifacts.Spot) iter.Seq2[artifacts.Stray, error] {
	return func(yield func(artifacts.Stray, error) bool) {
		top := b.key(sub)
		for o, err := range b.list(ctx, top) {
			if err != nil {
				yield(artifacts.Stray{}, b.explain("look through the store's objects", err))
				return
			}
			s := spot(strings.TrimPrefix(o.Key, top))
			if s.File || o.Key == top { // consoles make an empty object for a folder
				continue
			}
			if !yield(artifacts.Stray{Path: b.address(o.Key), What: fmt.Sprintf("an object of %d bytes", o.Size), Place: s.Name}, nil) {
				return
			}
		}
	}
}

// address is the bucket and the name of an object, byte for byte.
func (b *bucket) address(key string) string { return "s3://" + b.cfg.Bucket + "/" + key }

// SetAside implements artifacts.Tidier: the object is copied below aside/, by the
// server, and then deleted.
func (b *bucket) SetAside(ctx context.Context, s artifacts.Stray) (string, error) {
	key, ok := strings.CutPrefix(s.Path, b.address(b.key("")))
	if !ok {
		return "", fmt.Errorf("%s is not in the store %s", s.Path, b.cfg.URL())
	}
	stamp := time.Now().UTC().Format("20060102T150405.000000000")
	from, to := b.key(key), b.key(asidePrefix+stamp+"/"+key)
	info, err := b.core.StatObject(ctx, b.cfg.Bucket, from, minio.StatObjectOptions{})
	if err == nil { // what has other bytes by then was put meanwhile, and stays
		_, err = b.core.ComposeObject(ctx, minio.CopyDestOptions{Bucket: b.cfg.Bucket, Object: to},
			minio.CopySrcOptions{Bucket: b.cfg.Bucket, Object: from, MatchETag: info.ETag})
	}
	if err == nil {
		err = b.remove(ctx, from)
	}
	if err != nil {
		return "", b.explain("set "+s.Path+" aside", err)
	}
	return b.address(to), nil
}
