package s3

import (
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

// fakeServer keeps objects in memory and answers like an S3 with the given attitudes to
// If-None-Match and If-Match, each of which may answer itself.
func fakeServer(t *testing.T, onCondition, onMatch func(w http.ResponseWriter, holds bool) (handled bool), options ...func(*Config)) (artifacts.Store, error) {
	t.Helper()
	var mu sync.Mutex
	objects := map[string][]byte{}
	etag := func(data []byte) string { return fmt.Sprintf("\"%x\"", md5.Sum(data)) }
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Server", "fake")
		there, exists := objects[r.URL.Path]
		switch {
		case r.Method == http.MethodPut:
			if match := r.Header.Get("If-Match"); match != "" && onMatch(w, exists && match == etag(there)) ||
				r.Header.Get("If-None-Match") == "*" && onCondition(w, !exists) {
				return
			}
			data, err := io.ReadAll(r.Body)
			testkit.None(t, err)
			objects[r.URL.Path] = data
			w.Header().Set("ETag", etag(data))
		case r.URL.Query().Get("list-type") == "2":
			w.Write([]byte(`<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>`))
		case exists:
			w.Header().Set("ETag", etag(there))
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			w.Write(there)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(front.Close)
	c := Config{
		Bucket: "bucket", Endpoint: strings.TrimPrefix(front.URL, "http://"), Insecure: true, Region: "us-east-1",
		Credentials: credentials.NewStaticV4("a", "b", ""),
	}
	for _, set := range options {
		set(&c)
	}
	return Open(t.Context(), c)
}

// TestOpenAsksForConditions checks that a server on which two writers could both be
// the first is refused when the store is opened, and that a user who cannot write is not.
func TestOpenAsksForConditions(t *testing.T) {
	answer := func(status int) func(http.ResponseWriter, bool) bool {
		return func(w http.ResponseWriter, _ bool) bool { w.WriteHeader(status); return true }
	}
	for name, c := range map[string]struct {
		onCondition  func(http.ResponseWriter, bool) bool
		open, create string // what the errors say; "" for none
	}{
		"heeds":              {heeds, "", ""},
		"always refuses":     {answer(http.StatusPreconditionFailed), "", "none of the writers won"},
		"ignores":            {ignores, "ignores If-None-Match", ""},
		"refuses the header": {answer(http.StatusNotImplemented), "AWS S3, versitygw 1.8.0", ""},
		"a file where its folder would be": {func(w http.ResponseWriter, _ bool) bool {
			w.WriteHeader(http.StatusConflict)
			w.Write([]byte("<Error><Code>ObjectParentIsFile</Code></Error>"))
			return true
		}, "", "use another prefix"},
		"denies all writes": {answer(http.StatusForbidden), "", "do not allow that"},
	} {
		s, err := fakeServer(t, c.onCondition, heeds)
		told := func(what string, err error, want string) {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v; want %q", name, what, err, want)
			}
		}
		told("open", err, c.open)
		var refused *artifacts.RefusedError
		if err != nil {
			if !errors.As(err, &refused) {
				t.Errorf("%s: %v is no refusal", name, err)
			}
			continue
		}
		told("create", s.Records.Create(t.Context(), "runs/x", []byte("{}")), c.create)
	}
}

func heeds(w http.ResponseWriter, holds bool) bool {
	if !holds {
		w.WriteHeader(http.StatusPreconditionFailed)
	}
	return !holds
}

func ignores(http.ResponseWriter, bool) bool { return false }

// TestConflict checks the answer 409, by which AWS says that two conditional
// puts collided: it decides nothing, so the put is sent again.
func TestConflict(t *testing.T) {
	conflicts := 2
	s, err := fakeServer(t, func(w http.ResponseWriter, holds bool) bool {
		if conflicts > 0 {
			conflicts--
			w.WriteHeader(http.StatusConflict)
			return true
		}
		return heeds(w, holds)
	}, heeds)
	if err != nil || conflicts != 0 {
		t.Fatalf("%v, with %d conflicts of the probe to come", err, conflicts)
	}
	conflicts = 3
	if err := s.Records.Create(t.Context(), "runs/x", []byte("{}")); err != nil || conflicts != 0 {
		t.Errorf("%v, with %d conflicts to come", err, conflicts)
	}
}

// TestReplaceAsksForConditions checks that nothing is replaced on a server that ignores
// If-Match, and that what another writer deletes meanwhile is told from what is there.
func TestReplaceAsksForConditions(t *testing.T) {
	deleted := false // by another writer
	for name, c := range map[string]struct {
		onMatch func(w http.ResponseWriter, holds bool) bool
		want    string // what the error says; "" for none
	}{
		"heeds":              {heeds, ""},
		"ignores":            {ignores, "ignores If-Match"},
		"refuses the header": {func(w http.ResponseWriter, _ bool) bool { w.WriteHeader(http.StatusNotImplemented); return true }, "If-Match"},
		"deleted meanwhile": {func(w http.ResponseWriter, holds bool) bool {
			if deleted {
				w.WriteHeader(http.StatusNotFound)
				w.Write([]byte("<Error><Code>NoSuchKey</Code></Error>"))
				return true
			}
			return heeds(w, holds)
		}, artifacts.ErrExist.Error()},
	} {
		deleted = false
		s, err := fakeServer(t, heeds, c.onMatch)
		testkit.None(t, err)
		testkit.None(t, s.Records.Create(t.Context(), "runs/x", []byte("{}")))
		deleted = true
		err = s.Records.Replace(t.Context(), "runs/x", []byte("{}"), []byte("new"))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

func TestSpool(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", "/no/such/dir")
	_, err := spool(strings.NewReader(strings.Repeat("x", smallBlob+1)))
	testkit.ErrSays(t, err, "/no/such/dir")
	broken := errors.New("broken")
	t.Setenv("TMPDIR", folder)
	for _, n := range []int{0, smallBlob + 1} { // no word of TMPDIR, which is as it should be
		if _, err := spool(io.MultiReader(strings.NewReader(strings.Repeat("x", n)), iotest.ErrReader(broken))); err != broken {
			t.Errorf("spool of a reader that breaks after %d bytes: %v", n, err)
		}
	}
}

// TestExplainAway: only what a later try may find otherwise is an AwayError.
func TestExplainAway(t *testing.T) {
	for err, want := range map[error]bool{
		&url.Error{Op: "Get", URL: "http://127.0.0.1:1/b", Err: errors.New("connection refused")}:  true,
		minio.ErrorResponse{Code: "SlowDown", StatusCode: http.StatusServiceUnavailable}:           true,
		minio.ErrorResponse{Code: "TooManyRequests", StatusCode: http.StatusTooManyRequests}:       true,
		minio.ErrorResponse{Code: "XMinioStorageFull", StatusCode: http.StatusInsufficientStorage}: false,
		minio.ErrorResponse{Code: "AccessDenied", StatusCode: http.StatusForbidden}:                false,
		errors.New("the file ends"): false,
	} {
		b, cerr := connect(Config{Endpoint: "127.0.0.1:1", Bucket: "b", Insecure: true, Anonymous: true}, false)
		if cerr != nil {
			t.Fatal(cerr)
		}
		if _, is := errors.AsType[*artifacts.AwayError](b.explain("read", err)); is != want {
			t.Errorf("%v: %v", err, is)
		}
	}
}

// overtaken heeds a condition of writers that come one after the other, and in some of 100 rounds
// lets others pass who came at once, as S3Mock 5.2.0 does by If-None-Match (40) and S3Proxy 4.1.0 by
// If-Match (60 to 95).
func overtaken(seed uint64, per100 int) func(w http.ResponseWriter, holds bool) bool {
	draw := rand.New(rand.NewPCG(seed, 0))
	calls, more, since := 0, 0, 100
	return func(w http.ResponseWriter, holds bool) bool {
		if calls++; calls <= 2 { // one after the other
			return heeds(w, holds)
		}
		if holds {
			more, since = 0, 0
			if draw.IntN(100) < per100 {
				more = 1 + draw.IntN(3)
			}
			return false
		}
		if since++; since <= more {
			return false
		}
		return heeds(w, holds)
	}
}

// TestRivals: a server on which several writers at once are the first is refused, and one on which
// that is so of replacing alone replaces nothing.
func TestRivals(t *testing.T) {
	for name, c := range map[string]struct {
		create, replace     int // of 100 rounds that more than one writer wins
		open, said, replied string
	}{
		"exact":            {0, 0, "", "to create: of 16 writers at once one won, in 20 of 20 rounds; to replace: of 16", ""},
		"as S3Mock does":   {40, 0, "lets several writers at once be the first (", "", ""},
		"as S3Proxy does":  {0, 80, "", "so what cannot be used is not replaced", "writers at once pass it ("},
		"all writers pass": {100, 100, "writers=one", "", ""},
	} {
		s, err := fakeServer(t, overtaken(1, c.create), overtaken(2, c.replace))
		if (err == nil) != (c.open == "") || err != nil && !strings.Contains(err.Error(), c.open) {
			t.Errorf("%s: open: %v; want %q", name, err, c.open)
		}
		if err != nil {
			continue
		}
		if said, err := artifacts.Rivals(t.Context(), s); err != nil || !strings.Contains(said, c.said) {
			t.Errorf("%s: %q, %v; want %q", name, said, err, c.said)
		}
		testkit.None(t, s.Records.Create(t.Context(), "runs/x", []byte("{}")))
		err = s.Records.Replace(t.Context(), "runs/x", []byte("{}"), []byte("new"))
		if (err == nil) != (c.replied == "") || err != nil && !strings.Contains(err.Error(), c.replied) {
			t.Errorf("%s: replace: %v; want %q", name, err, c.replied)
		}
	}
}

// TestOneWriter: who says that one process writes at a time may use any server, and its own writers
// are told of each other.
func TestOneWriter(t *testing.T) {
	s, err := fakeServer(t, ignores, ignores, func(c *Config) { c.OneWriter = true })
	testkit.None(t, err)
	won := make(chan bool)
	for range 8 {
		go func() { won <- s.Records.Create(t.Context(), "runs/x", []byte("{}")) == nil }()
	}
	winners := 0
	for range 8 {
		if <-won {
			winners++
		}
	}
	testkit.Is(t, winners, 1, "writers were the first")
	testkit.None(t, s.Records.Replace(t.Context(), "runs/x", []byte("{}"), []byte("new")))
}
