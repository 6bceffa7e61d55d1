package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/testkit"
)

func content(n int) ([]byte, string) {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	s := sha256.Sum256(b)
	return b, hex.EncodeToString(s[:])
}

// flaky serves content with Range support and cuts the first `cuts` answers short after 1,000 bytes.
func flaky(t *testing.T, body []byte, cuts int32) (*httptest.Server, *atomic.Int32, *atomic.Int64) {
	var asked atomic.Int32
	var sent atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		start := 0
		w.Header().Set("ETag", `"v1"`)
		if rg := r.Header.Get("Range"); rg != "" && r.Header.Get("If-Range") == `"v1"` {
			fmt.Sscanf(rg, "bytes=%d-", &start)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(body)-1, len(body)))
			w.Header().Set("Content-Length", fmt.Sprint(len(body)-start))
			w.WriteHeader(http.StatusPartialContent)
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		}
		rest := body[start:]
		if n <= cuts && len(rest) > 1000 {
			rest = rest[:1000]
		}
		k, _ := w.Write(rest)
		sent.Add(int64(k))
		if n <= cuts {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(s.Close)
	return s, &asked, &sent
}

func request(t *testing.T, sum string, urls ...string) Request {
	r := Request{SHA256: sum, Partials: t.TempDir(), Wait: time.Microsecond}
	for _, u := range urls {
		s, err := ParseSource(u)
		testkit.None(t, err)
		r.Sources = append(r.Sources, s)
	}
	return r
}

func TestInterruptedTransferResumes(t *testing.T) {
	body, sum := content(10_000)
	s, asked, sent := flaky(t, body, 5)
	f, err := Get(context.Background(), request(t, sum, s.URL+"/a.bin"))
	testkit.None(t, err)
	got, _ := os.ReadFile(f.Path)
	if string(got) != string(body) || f.Size != 10_000 || f.SHA256 != sum {
		t.Fatalf("got %d bytes", len(got))
	}
	if asked.Load() != 6 || sent.Load() != 10_000 {
		t.Fatalf("%d requests, %d bytes sent: want 6 and no byte twice", asked.Load(), sent.Load())
	}
	testkit.None(t, f.Close())
	if _, err := os.Stat(f.Path); !os.IsNotExist(err) {
		t.Fatal("the partial file is still there")
	}
}

func TestNextProcessResumes(t *testing.T) {
	body, sum := content(10_000)
	s, _, sent := flaky(t, body, 1_000)
	r := request(t, sum, s.URL)
	ctx, cancel := context.WithCancel(context.Background())
	r.Progress = func(done, _ int64) {
		if done >= 3_000 {
			cancel()
		}
	}
	if _, err := Get(ctx, r); !errors.Is(err, context.Canceled) {
		t.Fatalf("want a cancellation, got %v", err)
	}
	before := sent.Load()
	s2, _, sent2 := flaky(t, body, 0)
	s.Config.Handler = s2.Config.Handler
	r.Progress = nil
	f, err := Get(context.Background(), r)
	testkit.None(t, err)
	defer f.Close()
	if f.SHA256 != sum || sent2.Load() > 10_000-2_000 {
		t.Fatalf("%d bytes before, %d after: want only the rest", before, sent2.Load())
	}
}

func TestChangedObjectIsNotGluedTogether(t *testing.T) {
	old, _ := content(8_000)
	fresh := []byte(strings.Repeat("x", 8_000))
	sum := sha256.Sum256(fresh)
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			w.Header().Set("ETag", `"old"`)
			w.Header().Set("Content-Length", "8000")
			w.Write(old[:3000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		testkit.Is(t, r.Header.Get("If-Range"), `"old"`)
		w.Header().Set("ETag", `"new"`)
		w.Write(fresh)
	}))
	defer s.Close()
	f, err := Get(context.Background(), request(t, "", s.URL))
	testkit.None(t, err)
	defer f.Close()
	if f.SHA256 != hex.EncodeToString(sum[:]) {
		t.Fatal("bytes of two objects were mixed")
	}
}

func TestWrongChecksumAndMissingSourcesArePermanent(t *testing.T) {
	body, sum := content(100)
	s, _, _ := flaky(t, body, 0)
	answers := map[string]string{"checksum": s.URL, "no file": filepath.Join(t.TempDir(), "none")}
	for _, code := range []int{http.StatusAccepted, http.StatusNoContent, http.StatusNotFound, http.StatusServiceUnavailable} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		defer s.Close()
		answers[fmt.Sprint(code)] = s.URL
	}
	for name, source := range answers {
		_, err := Get(context.Background(), request(t, strings.Repeat("0", 64), source))
		var p *Permanent
		if errors.As(err, &p) != (name != "503") || err == nil || !strings.Contains(err.Error(), source) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Another source is asked all the same.
	f, err := Get(context.Background(), request(t, sum, answers["404"], s.URL))
	testkit.None(t, err)
	defer f.Close()
	testkit.Is(t, f.Source.URL, s.URL)
}

// TestSlowServerIsGivenUp: a source that brings next to nothing does not work.
func TestSlowServerIsGivenUp(t *testing.T) {
	var n atomic.Int32
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		w.Header().Set("ETag", `"v"`)
		for {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	defer slow.Close()
	r := request(t, "", slow.URL)
	r.pace = readers.Pace{Idle: time.Minute, Window: time.Nanosecond, Least: 1 << 20}
	_, err := Get(context.Background(), r)
	if err == nil || !strings.Contains(err.Error(), "gave up after 6 attempts without progress: only ") || n.Load() != attempts {
		t.Errorf("%v, in %d requests", err, n.Load())
	}
}

// TestNoNetwork: a source that has brought a part and is then out of reach is waited for, which is
// said once, and continues where it was; where there is another one, that is asked.
func TestNoNetwork(t *testing.T) {
	body, sum := content(10_000)
	transport := httpClient.Transport.(*http.Transport)
	dial := transport.DialContext
	defer func() { transport.DialContext = dial }()
	for _, c := range []struct {
		away     int32 // dials that fail
		mirrored bool
		why      error
		want     string
	}{
		{patience - 2, false, syscall.ENETUNREACH, ""},
		{patience, false, syscall.ENETUNREACH, "gave up after 60 attempts"},
		{patience, false, syscall.ECONNREFUSED, "gave up after 6 attempts"},
		{patience, true, syscall.ENETUNREACH, ""},
	} {
		s, _, sent := flaky(t, body, 1)
		whole, _, _ := flaky(t, body, 0)
		urls := []string{s.URL + "/a.bin"}
		if c.mirrored {
			urls = append(urls, whole.URL+"/a.bin")
		}
		dials, told := map[string]int32{}, 0
		transport.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
			dials[to]++
			if n := dials[to]; n > 1 && n <= 1+c.away && s.Listener.Addr().String() == to {
				return nil, &net.OpError{Op: "dial", Net: network, Err: c.why}
			}
			return dial(ctx, network, to)
		}
		r := request(t, sum, urls...)
		r.Log = func(msg string, _ ...any) {
			if strings.HasPrefix(msg, "out of reach since ") {
				told++
			}
		}
		f, err := Get(context.Background(), r)
		if (told == 1) != (c.why == syscall.ENETUNREACH && !c.mirrored) || told > 1 {
			t.Errorf("%+v: told %d times", c, told)
		}
		if err != nil || c.want != "" {
			testkit.That(t, err != nil && c.want != "" && strings.Contains(err.Error(), c.want), c, err)
			continue
		}
		if f.Source.URL != urls[len(urls)-1] || !c.mirrored && sent.Load() != 10_000 {
			t.Errorf("%+v: from %s, %d bytes sent", c, f.Source.URL, sent.Load())
		}
		testkit.None(t, f.Close())
	}
}

func TestParseSource(t *testing.T) {
	for raw, want := range map[string]string{
		"gs://natural_questions/v1.0/train/nq-train-00.jsonl.gz": gsHost() + "natural_questions/v1.0/train/nq-train-00.jsonl.gz nq-train-00.jsonl.gz",
		"https://example.org/a/b.gz?x=1":                         "https://example.org/a/b.gz?x=1 b.gz",
		"file:///data/my%20file.gz":                              "/data/my file.gz my file.gz",
		"data/x.gz":                                              "data/x.gz x.gz",
	} {
		s, err := ParseSource(raw)
		if got := s.URL + s.Path + " " + s.Name(); err != nil || got != want {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "ftp://x/y", "gs://bucket", "https://user:secret@host/x", "http://"} {
		if s, err := ParseSource(raw); err == nil {
			t.Errorf("%q parses as %+v", raw, s)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password", raw)
		}
	}
}
