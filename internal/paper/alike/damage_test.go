package alike

import (
	"context"
	"io"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/storetest"
)

// damaged is s with other bytes for one blob, as a disk may have them.
func (s store) damaged(of artifacts.Digest) artifacts.BlobReader {
	return storetest.Hooked(s.Store, func(_ context.Context, c *storetest.Call, next func() error) error {
		if c.Method != storetest.BlobsOpen || c.Digest != of {
			return next()
		}
		c.Body = artifacts.VerifyReader(io.NopCloser(strings.NewReader(`{"a": 2.6}`)), of, "here")
		return nil
	}).Blobs
}
