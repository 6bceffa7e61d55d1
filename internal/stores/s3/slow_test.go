package s3

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/readers"
)

// TestSlowBucket: somebody else's bucket that answers too slowly holds nobody up: a look-up
// has its time, and a blob comes at some rate or not at all.
func TestSlowBucket(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/records/") || r.Method == http.MethodHead {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Length", "1000000")
		w.Header().Set("Last-Modified", "Tue, 24 Nov 2026 05:00:00 GMT")
		w.Header().Set("ETag", `"v"`)
		for {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	b, err := connect(Config{Bucket: "bucket", Endpoint: server.URL, Region: "us-east-1", Anonymous: true, PathStyle: true}, true)
	errtest.None(t, err)
	b.lookup, b.pace = 50*time.Millisecond, readers.Pace{Idle: time.Minute, Window: time.Nanosecond, Least: 1 << 20}
	s := artifacts.ReadOn(b, "s3://bucket")
	const late = "no whole answer within 50ms"
	errtest.Says(t, errtest.Of(s.Records.Get(t.Context(), "runs/x")), late)
	errtest.Says(t, errtest.Of(s.Blobs.Missing(t.Context(), []artifacts.Digest{{1}})), late)
	var slow *readers.SlowError
	if _, err := artifacts.ReadBlob(t.Context(), s.Blobs, artifacts.Digest{1}, 1<<20); !errors.As(err, &slow) {
		t.Errorf("blob: %v", err)
	}
}
