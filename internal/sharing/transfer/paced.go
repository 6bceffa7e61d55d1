package transfer

import (
	"context"
	"io"

	"golang.org/x/time/rate"

	"github.com/redsi/redsi/artifacts"
)

// paced are blobs that all readers together read at no more than some bytes a second.
type paced struct {
	artifacts.BlobReader
	limit *rate.Limiter
}

// newPaced limits reading of blobs to perSecond bytes a second, and a tenth of a second's bytes at once.
func newPaced(blobs artifacts.BlobReader, perSecond int64) paced {
	burst := int(min(max(perSecond/10, 1), 1<<20))
	return paced{blobs, rate.NewLimiter(rate.Limit(perSecond), burst)}
}

func (p paced) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	rc, err := p.BlobReader.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return pacedReader{rc, ctx, p.limit}, nil
}

type pacedReader struct {
	io.ReadCloser
	ctx   context.Context
	limit *rate.Limiter
}

func (r pacedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p[:min(len(p), r.limit.Burst())])
	if werr := r.limit.WaitN(r.ctx, n); werr != nil && err == nil {
		err = werr
	}
	return n, err
}
