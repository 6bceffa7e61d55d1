package s3

import (
	"bytes"
	"context"
	"crypto/md5" // what servers compare, and no proof
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

const (
	smallBlob = 8 << 20  // is hashed in memory and sent without asking first
	singlePut = 32 << 20 // is sent in one request that has the SHA-256 and the MD5
	partSize  = 16 << 20 // of larger blobs, partsAtOnce in parallel, each with its MD5

	partsAtOnce = 4
)

// freshFor is the age up to which a large blob that is there is not sent. It is well under any sensible grace period of
// garbage collection, so that a Put always leaves a blob that counts as in use, and a rerun heals bytes that went bad on
// the server.
const freshFor = 12 * time.Hour

// Ingest hashes, then sends. Memory is bounded by smallBlob and a few buffers.
func (b *bucket) Ingest(ctx context.Context, r io.Reader, path func(artifacts.Digest) string) (artifacts.Digest, int64, error) {
	sp, err := spool(r)
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	defer sp.close()
	if err := b.send(ctx, b.key(path(sp.digest)), sp); err != nil {
		return artifacts.Digest{}, 0, b.explain("send", err)
	}
	return sp.digest, sp.size, nil
}

func (b *bucket) send(ctx context.Context, key string, sp *spooled) error {
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
			return b.core.PutObject(ctx, b.cfg.Bucket, key, sp.body, sp.size, md5Of(sp.body), sp.digest.Hex(),
				minio.PutObjectOptions{DisableContentSha256: true}) // the hash is in the request's head instead
		}
		return b.core.Client.PutObject(ctx, b.cfg.Bucket, key, sp.body, sp.size, minio.PutObjectOptions{
			PartSize: partSize, NumThreads: partsAtOnce, SendContentMd5: true, DisableContentSha256: true,
		})
	})
	return err
}

// md5Of returns the MD5 of a body as a request has it, which most servers compare that do not compare the signed SHA-256.
// A body that cannot be read gets a wrong MD5, so that the server refuses it.
func md5Of(body io.ReadSeeker) string {
	sum := md5.New()
	_, _ = io.Copy(sum, body)
	_, _ = body.Seek(0, io.SeekStart)
	return base64.StdEncoding.EncodeToString(sum.Sum(nil))
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

func spool(r io.Reader) (*spooled, error) {
	sum := sha256.New()
	source := &readers.Failing{R: r}
	in := io.TeeReader(source, sum)
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(in, smallBlob+1))
	if err != nil {
		return nil, err
	}
	if n <= smallBlob {
		return &spooled{bytes.NewReader(head.Bytes()), artifacts.Digest(sum.Sum(nil)), n, func() {}}, nil
	}
	f, err := os.CreateTemp("", "redsi-put-*")
	if err != nil {
		return nil, fmt.Errorf("keep a blob of more than 8 MiB in TMPDIR until it is sent: %w", err)
	}
	os.Remove(f.Name()) // open but nameless: gone with the process, however that ends
	if n, err = io.Copy(f, io.MultiReader(&head, in)); err != nil {
		f.Close()
		if source.Err == nil {
			err = fmt.Errorf("keep a blob of more than 8 MiB in TMPDIR (%s) until it is sent: %w", os.TempDir(), err)
		}
		return nil, err
	}
	return &spooled{f, artifacts.Digest(sum.Sum(nil)), n, func() { f.Close() }}, nil
}
