package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/s3"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestMain shortens the pauses of minio-go: what counts is how often it tries.
func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, 5*time.Millisecond
	os.Exit(m.Run())
}

// TestStore tries everything that needs a real server on one.
func TestStore(t *testing.T) {
	server := storetest.MinIO(t)
	t.Run("multipart", func(t *testing.T) { multipart(t, server.Store(t)) })
	t.Run("multipart cut off", func(t *testing.T) { multipartCutOff(t, server) })
	t.Run("put heals", func(t *testing.T) { putHeals(t, server) })
	t.Run("broken connections", func(t *testing.T) { brokenConnections(t, server) })
	t.Run("broken for long", func(t *testing.T) { brokenForLong(t, server) })
	t.Run("lost answers", func(t *testing.T) { lostAnswers(t, server) })
	t.Run("denied by chance", func(t *testing.T) { deniedByChance(t, server) })
	t.Run("errors", func(t *testing.T) { openErrors(t, server) })
	t.Run("others", func(t *testing.T) { others(t, server) })
	t.Run("no prefix", func(t *testing.T) {
		c := server.Config()
		c.Prefix = ""
		s := server.Open(t, c)
		testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), s.Blobs, []byte("top"))))
		n := 0
		for _, err := range s.Blobs.List(t.Context()) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != 1 {
			t.Errorf("%d blobs at the top of the bucket, want 1: other prefixes are other stores", n)
		}
	})
}

// multipart sends a blob in several parts, from a spool file, and one of the
// size at which memory ends.
func multipart(t *testing.T, s artifacts.Store) {
	for i, n := range []int{33<<20 + 12345, 8 << 20, 8<<20 + 1} {
		b := storetest.Bytes(uint64(i), n)
		d, size, err := s.Blobs.Put(t.Context(), bytes.NewReader(b))
		if err != nil || d != artifacts.Sum(b) || size != int64(n) {
			t.Fatalf("Put of %d bytes = %s, %d, %v", n, d, size, err)
		}
		got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, int64(n))
		if err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%d bytes came back as %d, %v", n, len(got), err)
		}
		if _, _, err := s.Blobs.Put(t.Context(), bytes.NewReader(b)); err != nil {
			t.Errorf("Put again: %v", err)
		}
	}
}

// multipartCutOff stops an upload after its second part, for good: nothing of it
// shows, and the blob can be stored later.
func multipartCutOff(t *testing.T, server *storetest.Server) {
	ctx, cancel := context.WithCancel(t.Context())
	var parts atomic.Int64
	s := through(t, server, func(r *http.Response) error {
		if r.Request.URL.Query().Has("partNumber") && parts.Add(1) == 2 {
			cancel()
		}
		return nil
	})
	b := storetest.Bytes(1, 33<<20)
	if _, _, err := s.Blobs.Put(ctx, bytes.NewReader(b)); !errors.Is(err, context.Canceled) {
		t.Fatalf("Put: %v", err)
	}
	for info, err := range s.Blobs.List(t.Context()) {
		t.Errorf("listed %v, %v", info, err)
	}
	d := artifacts.Sum(b)
	if missing, err := s.Blobs.Missing(t.Context(), []artifacts.Digest{d}); err != nil || len(missing) != 1 {
		t.Errorf("Missing: %v, %v", missing, err)
	}
	if _, _, err := s.Blobs.Put(t.Context(), bytes.NewReader(b)); err != nil {
		t.Errorf("Put again: %v", err)
	}
}

// putHeals checks that a small blob that went bad is replaced by its producer.
func putHeals(t *testing.T, server *storetest.Server) {
	c := server.Config()
	s := server.Open(t, c)
	d := storetest.Put(t, s, []byte("good"))
	server.Rewrite(t, c, d, []byte("evil"))
	testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), s.Blobs, []byte("good"))))
	if got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, 10); err != nil || string(got) != "good" {
		t.Errorf("read %q, %v", got, err)
	}
}

// through returns a store on server behind a proxy that lets modify see each
// answer; an error from modify breaks the connection.
func through(t *testing.T, server *storetest.Server, modify func(*http.Response) error) artifacts.Store {
	t.Helper()
	proxy := &httputil.ReverseProxy{
		// The signature covers the Host that the client saw.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: server.Endpoint})
			r.Out.Host = r.In.Host
		},
		ModifyResponse: modify,
		ErrorLog:       log.New(io.Discard, "", 0), // it breaks on purpose
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	c := server.Config()
	c.Endpoint = strings.TrimPrefix(front.URL, "http://")
	return server.Open(t, c)
}

// cut ends with an error after n bytes.
type cut struct {
	io.ReadCloser
	n int
}

func (c *cut) Read(p []byte) (int, error) {
	if c.n <= 0 {
		return 0, errors.New("cut")
	}
	n, err := c.ReadCloser.Read(p[:min(len(p), c.n)])
	c.n -= n
	return n, err
}

// brokenConnections cuts every download after 300 kB: reads continue where they
// were, and give up where nothing comes at all.
func brokenConnections(t *testing.T, server *storetest.Server) {
	var limit, gets atomic.Int64
	limit.Store(300_000)
	s := through(t, server, func(r *http.Response) error {
		if r.Request.Method == http.MethodGet && strings.Contains(r.Request.URL.Path, "/blobs/") {
			gets.Add(1)
			r.Body = &cut{r.Body, int(limit.Load())}
		}
		return nil
	})
	b := storetest.Bytes(7, 1_000_000)
	d := storetest.Put(t, s, b)
	got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, 1<<20)
	if err != nil || !bytes.Equal(got, b) || gets.Load() != 4 {
		t.Errorf("read %d bytes in %d requests, %v; want 4 requests", len(got), gets.Load(), err)
	}
	limit.Store(0)
	if got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, 1<<20); err == nil {
		t.Errorf("read %d bytes through a connection that gives none", len(got))
	}
}

// brokenForLong breaks a download that is under way again and again, before another
// byte comes: its answers are cut off, then the server is away for as long as two of
// minio-go's own rounds of retries.
func brokenForLong(t *testing.T, server *storetest.Server) {
	const cutOff, away = 5, 12
	var gets atomic.Int64
	s := through(t, server, func(r *http.Response) error {
		if r.Request.Method != http.MethodGet || !strings.Contains(r.Request.URL.Path, "/blobs/") {
			return nil
		}
		switch n := gets.Add(1); {
		case n == 1:
			r.Body = &cut{r.Body, 300_000}
		case n <= 1+cutOff:
			r.Body = &cut{r.Body, 0}
		case n <= 1+cutOff+away:
			return errors.New("away")
		}
		return nil
	})
	b := storetest.Bytes(8, 1_000_000)
	d := storetest.Put(t, s, b)
	got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, 1<<20)
	if err != nil || !bytes.Equal(got, b) || gets.Load() != 2+cutOff+away {
		t.Errorf("read %d bytes in %d requests, %v; want %d requests", len(got), gets.Load(), err, 2+cutOff+away)
	}
}

// lostAnswers loses the answer of each PUT once: minio-go sends it again, and
// Create must know its own work from a rival's.
func lostAnswers(t *testing.T, server *storetest.Server) {
	var lose atomic.Bool
	var puts atomic.Int64
	s := through(t, server, func(r *http.Response) error {
		if r.Request.Method == http.MethodPut && lose.CompareAndSwap(true, false) {
			puts.Add(1)
			return errors.New("lost")
		}
		return nil
	})
	lose.Store(true)
	testkit.None(t, s.Records.Create(t.Context(), "runs/1", []byte("mine")), "Create whose first answer was lost")
	lose.Store(true)
	testkit.ErrIs(t, s.Records.Create(t.Context(), "runs/1", []byte("mine")), artifacts.ErrExist, "Create again: ErrExist")
	lose.Store(true)
	testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), s.Blobs, []byte("blob"))), "Put")
	testkit.Is(t, puts.Load(), 3, "lost answers 3")
}

// deniedByChance denies the first tries of each put, as MinIO does when somebody
// deletes beside it. What is denied for good is a refusal, which nobody sends again.
func deniedByChance(t *testing.T, server *storetest.Server) {
	var denials, denied atomic.Int64
	s := through(t, server, func(r *http.Response) error {
		if r.Request.Method != http.MethodPut || denials.Add(-1) < 0 {
			return nil
		}
		denied.Add(1)
		r.StatusCode, r.ContentLength, r.Header = http.StatusForbidden, -1, http.Header{"Content-Type": {"application/xml"}}
		r.Body = io.NopCloser(strings.NewReader("<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>"))
		return nil
	})
	large := storetest.Bytes(11, 10<<20)
	for name, put := range map[string]func() error{
		"create": func() error { return s.Records.Create(t.Context(), "runs/0", []byte("{}")) },
		"put":    func() error { return s.Records.Put(t.Context(), "runs/1", []byte("{}")) },
		"blob":   func() error { _, err := artifacts.PutBytes(t.Context(), s.Blobs, []byte("small")); return err },
		"large":  func() error { _, err := artifacts.PutBytes(t.Context(), s.Blobs, large); return err },
	} {
		denials.Store(3)
		denied.Store(0)
		if err := put(); err != nil || denied.Load() != 3 {
			t.Errorf("%s: %v after %d denials; want none after 3", name, err, denied.Load())
		}
	}
	denials.Store(1 << 40)
	var refused *artifacts.RefusedError
	if err := s.Records.Put(t.Context(), "runs/2", []byte("{}")); !errors.As(err, &refused) {
		t.Errorf("denied for good: %v; want a refusal", err)
	}
}

// others reads stores of a bucket that everybody may read, by name only, without credentials.
func others(t *testing.T, server *storetest.Server) {
	private := server.Config()
	private.Credentials, private.Anonymous = nil, true
	closed := server.Reader(t, private)
	testkit.ErrIs(t, testkit.Err(closed.Records.Get(t.Context(), "results/x")), artifacts.ErrNotExist)
	with := artifacts.With(mem.New(), []artifacts.Other{{Reader: closed, Name: "private"}}, artifacts.Policy{})
	if hit, err := artifacts.Lookup(t.Context(), with, artifacts.Digest{1}); hit != nil || err != nil || with.Others()[0].Denied != 1 {
		t.Errorf("looked up in it: %v, %v, %+v", hit, err, with.Others())
	}
	server.Public(t)
	// Without any credentials in the environment it is opened like that by itself.
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	c := server.Config()
	s := server.Open(t, c)
	d := storetest.Put(t, s, []byte("public"))
	c.Credentials = nil
	if got, err := artifacts.ReadBlob(t.Context(), server.Reader(t, c).Blobs, d, 10); err != nil || string(got) != "public" {
		t.Errorf("without credentials: %q, %v", got, err)
	}
}

// openErrors checks what a person is told who mistyped something.
func openErrors(t *testing.T, server *storetest.Server) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.None(t, err)
	closed.Close()
	safe := httptest.NewTLSServer(http.NotFoundHandler())
	defer safe.Close()
	const secret = "very-secret-key"
	for name, c := range map[string]struct {
		change func(*s3.Config)
		want   string
	}{
		"bucket":     {func(c *s3.Config) { c.Bucket = "no-such-bucket" }, "does not exist; make it with `aws s3 mb s3://no-such-bucket --endpoint-url http://"},
		"has":        {func(c *s3.Config) { c.Bucket = "no-such-bucket" }, "; the server has " + server.Bucket},
		"access key": {func(c *s3.Config) { c.Credentials = credentials.NewStaticV4("nobody", secret, "") }, "AWS_ACCESS_KEY_ID"},
		"secret key": {func(c *s3.Config) { c.Credentials = credentials.NewStaticV4("redsi-test", secret, "") }, "AWS_SECRET_ACCESS_KEY"},
		"anonymous":  {func(c *s3.Config) { c.Credentials = credentials.NewStaticV4("", "", "") }, "none were found; set AWS_ACCESS_KEY_ID"},
		"endpoint":   {func(c *s3.Config) { c.Endpoint = closed.Addr().String() }, "cannot be reached"},
		"https":      {func(c *s3.Config) { c.Insecure = false }, "the server there speaks http, and without insecure=true"},
		"http":       {func(c *s3.Config) { c.Endpoint = safe.Listener.Addr().String() }, "the server there speaks https, and with insecure=true"},
		"authority":  {func(c *s3.Config) { c.Endpoint, c.Insecure = safe.Listener.Addr().String(), false }, "SSL_CERT_FILE"},
	} {
		config := server.Config()
		c.change(&config)
		_, err := s3.Open(t.Context(), config)
		testkit.ErrSays(t, err, c.want, config.Endpoint)
		var other *artifacts.AddressError
		if errors.As(err, &other) {
			config.Insecure = !config.Insecure
			testkit.Is(t, other.URL, config.URL(), name)
		} else if name == "http" || name == "https" {
			t.Errorf("%s: %v names no other address", name, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error shows the secret: %v", name, err)
		}
	}
}
