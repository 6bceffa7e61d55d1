package s3

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// served is a bucket of a server.
func served(t *testing.T, serve http.HandlerFunc) *bucket {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	b, err := connect(Config{Bucket: "bucket", Endpoint: server.URL, Region: "us-east-1", PathStyle: true, Credentials: credentials.NewStaticV4("a", "b", "")}, false)
	errtest.None(t, err)
	return b
}

// TestBodiesHaveMD5: a blob and a record that go in one request have their MD5 in its head, as
// many servers compare nothing else.
func TestBodiesHaveMD5(t *testing.T) {
	sent := 0
	b := served(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		sum := md5.Sum(body)
		if want := base64.StdEncoding.EncodeToString(sum[:]); err != nil || r.Method == http.MethodPut && r.Header.Get("Content-MD5") != want {
			t.Errorf("%s %s: Content-MD5 %q, want %q, %v", r.Method, r.URL, r.Header.Get("Content-MD5"), want, err)
		}
		sent += len(body)
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	s := artifacts.On(b, "s3://bucket")
	large := bytes.Repeat([]byte("x"), smallBlob+1)
	for _, data := range [][]byte{[]byte("a blob"), large} {
		if _, err := artifacts.PutBytes(t.Context(), s.Blobs, data); err != nil {
			t.Error(err)
		}
	}
	if err := s.Records.Put(t.Context(), "runs/x", []byte("{}")); err != nil || sent != len("a blob")+len(large)+len("{}") {
		t.Errorf("%v, %d bytes", err, sent)
	}
}

// TestSetAsideRequests: what is small is copied in one request, on the condition that it is what
// was looked at, in the form that all servers know; and deleted after that.
func TestSetAsideRequests(t *testing.T) {
	var asked []string
	b := served(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RawQuery+r.Header.Get("x-amz-copy-source")+" "+r.Header.Get("x-amz-copy-source-if-match"))
		switch r.Method {
		case http.MethodHead:
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Content-Length", "5")
			w.Header().Set("Last-Modified", "Tue, 24 Nov 2026 05:00:00 GMT")
		case http.MethodPut:
			w.Write([]byte(`<CopyObjectResult><ETag>"v1"</ETag></CopyObjectResult>`))
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	to, err := b.SetAside(t.Context(), "blobs/notes")
	if got, want := strings.Join(asked, "\n"), "HEAD  \nPUT bucket/blobs/notes \"v1\"\nDELETE  "; err != nil || got != want || !strings.HasPrefix(to, "s3://bucket/aside/") {
		t.Errorf("%s, %v: asked\n%s\nwant\n%s", to, err, got, want)
	}
}

// TestNoVersion: an object to which the server gives no ETag is not read on after a break, and the
// error says why.
func TestNoVersion(t *testing.T) {
	b := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", "Tue, 24 Nov 2026 05:00:00 GMT")
		w.Header().Set("Content-Length", "15")
		w.Write([]byte("{}")) // and the connection breaks
	})
	s := artifacts.ReadOn(b, "s3://bucket")
	if got, err := s.Records.Get(t.Context(), "runs/x"); err == nil || !strings.Contains(err.Error(), "gave no ETag") {
		t.Errorf("record: %q, %v", got, err)
	}
}
