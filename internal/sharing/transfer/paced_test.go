package transfer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPaced: bytes are as they were, and arrive at the speed that was asked for, by two readers together.
func TestPaced(t *testing.T) {
	s := mem.New()
	text := make([]byte, 1_000_000)
	a := storetest.Put(t, s, text)
	b := storetest.Put(t, s, append(text, 1))
	synctest.Test(t, func(t *testing.T) {
		blobs := newPaced(s.Blobs, 1_000_000)
		began := time.Now()
		done := make(chan error)
		for _, d := range []artifacts.Digest{a, b} {
			go func() {
				got, err := artifacts.ReadBlob(t.Context(), blobs, d, artifacts.AnySize)
				if len(got) < len(text) && err == nil {
					t.Errorf("%d bytes", len(got))
				}
				done <- err
			}()
		}
		for range 2 {
			testkit.None(t, <-done)
		}
		if took := time.Since(began); took < 1800*time.Millisecond || took > 2100*time.Millisecond {
			t.Errorf("2 MB at 1 MB/s took %s", took)
		}
	})
}
