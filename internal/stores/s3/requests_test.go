package s3

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/testkit"
)

// served is a bucket of a server.
func served(t *testing.T, serve http.HandlerFunc) *bucket {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	b, err := connect(Config{Bucket: "bucket", Endpoint: server.URL, Region: "us-east-1", PathStyle: true, Credentials: credentials.NewStaticV4("a", "b", "")}, false)
	testkit.None(t, err)
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
		testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), s.Blobs, data)))
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
	testkit.None(t, err)
	b.lookup, b.pace = 50*time.Millisecond, readers.Pace{Idle: time.Minute, Window: time.Nanosecond, Least: 1 << 20}
	s := artifacts.ReadOn(b, "s3://bucket")
	const late = "no complete answer within 50ms"
	testkit.ErrSays(t, testkit.Err(s.Records.Get(t.Context(), "runs/x")), late)
	testkit.ErrSays(t, testkit.Err(s.Blobs.Missing(t.Context(), []artifacts.Digest{{1}})), late)
	var slow *readers.SlowError
	if _, err := artifacts.ReadBlob(t.Context(), s.Blobs, artifacts.Digest{1}, 1<<20); !errors.As(err, &slow) {
		t.Errorf("blob: %v", err)
	}
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestParseURL(t *testing.T) {
	for _, c := range []struct {
		url  string
		env  func(string) string
		want Config
		back string
	}{
		{"s3://bucket", env(), Config{Bucket: "bucket", Endpoint: defaultEndpoint}, "s3://bucket"},
		{"s3://bucket/a/b/?region=eu-west-1", env("AWS_REGION", "us-east-1"),
			Config{Bucket: "bucket", Prefix: "a/b", Endpoint: defaultEndpoint, Region: "eu-west-1"}, "s3://bucket/a/b?region=eu-west-1"},
		{"s3://bucket/p?endpoint=127.0.0.1:9000&insecure=true", env("AWS_ENDPOINT_URL", "https://other"),
			Config{Bucket: "bucket", Prefix: "p", Endpoint: "127.0.0.1:9000", Insecure: true}, "s3://bucket/p?endpoint=127.0.0.1%3A9000&insecure=true"},
		{"s3://bucket?endpoint=http://minio:9000", env(),
			Config{Bucket: "bucket", Endpoint: "minio:9000", Insecure: true}, "s3://bucket?endpoint=minio%3A9000&insecure=true"},
		{"s3://bucket", env("AWS_ENDPOINT_URL_S3", "https://r2.example", "AWS_ENDPOINT_URL", "http://no", "AWS_DEFAULT_REGION", "auto"),
			Config{Bucket: "bucket", Endpoint: "r2.example", Region: "auto"}, "s3://bucket?endpoint=r2.example&region=auto"},
		{"s3://bucket?anonymous=true", env(),
			Config{Bucket: "bucket", Endpoint: defaultEndpoint, Anonymous: true}, "s3://bucket?anonymous=true"},
		{"s3://bucket?path_style=1", env(),
			Config{Bucket: "bucket", Endpoint: defaultEndpoint, PathStyle: true}, "s3://bucket?path_style=true"},
	} {
		got, err := ParseURL(c.url, c.env)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v\nwant %+v", c.url, got, err, c.want)
			continue
		}
		testkit.Is(t, got.URL(), c.back, c.url)
		testkit.Of(t, got, got.URL())(ParseURL(got.URL(), env()))
	}
}

func TestParseURLRejects(t *testing.T) {
	for url, want := range map[string]string{
		"s3://AKIA:hunter2@bucket/x":              "holds credentials",
		"s3://bucket?endpont=x":                   `no option "endpont"; there are anonymous, endpoint`,
		"s3://bucket?insecure=maybe":              "option insecure",
		"s3://":                                   "ucket name",
		"s3://B_D":                                "ucket name",
		"http://bucket":                           "scheme",
		"s3://bucket?endpoint=ftp://x":            "http(s)://",
		"s3://bucket?endpoint=http://a:hunter2@x": "holds credentials",
		"s3://bucket?endpoint=a:hunter2@x:9000":   "holds credentials",
		"s3://B_D?endpoint=a:hunter2@x":           "ucket name",
		"http://bucket?endpoint=a:hunter2@x":      "scheme",
		"s3://bucket?endpoint=x/hunter2":          "host:port",
		"s3://bucket?endpoint=http://x/path":      "http(s)://",
		"s3://bucket/%zz:hunter2@":                "cannot be parsed",
		"s3://bucket?a;b=hunter2":                 "the part after",
	} {
		_, err := ParseURL(url, env())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v; want %q", url, err, want)
		}
	}
}
