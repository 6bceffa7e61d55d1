package alike

import (
	"context"
	"io"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// damaged has other bytes for one blob, as a disk may.
type damaged struct {
	artifacts.Blobs
	of artifacts.Digest
}

func (d damaged) Open(ctx context.Context, x artifacts.Digest) (io.ReadCloser, error) {
	if x != d.of {
		return d.Blobs.Open(ctx, x)
	}
	return artifacts.VerifyReader(io.NopCloser(strings.NewReader(`{"a": 2.6}`)), x, "here"), nil
}
