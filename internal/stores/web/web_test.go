package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/testkit"
)

// serve is a store in a folder, and a static host with its files.
func serve(t *testing.T, wrap func(http.Handler) http.Handler) (s artifacts.Store, root, address string) {
	t.Helper()
	root = t.TempDir()
	s, err := dir.Open(root)
	testkit.None(t, err)
	h := http.StripPrefix("/paper", http.FileServer(http.Dir(root)))
	if wrap != nil {
		h = wrap(h)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return s, root, server.URL + "/paper"
}

func open(t *testing.T, address string) artifacts.Reader { return openWith(t, address, usual()) }

// openWith gives a host other times than it has usually, but pauses of next to nothing.
func openWith(t *testing.T, address string, l limits) artifacts.Reader {
	t.Helper()
	u, err := parse(address)
	testkit.None(t, err)
	l.pause = time.Microsecond
	return artifacts.ReadOn(&host{u, l}, u.String())
}

// TestNames: whatever a record is called, its address is that of its file.
func TestNames(t *testing.T) {
	s, _, address := serve(t, nil)
	far := open(t, address)
	for _, name := range []string{"runs/Paper v1", "runs/a%2fb", "runs/..x", "runs/ä?#", "pins/x.json"} {
		testkit.None(t, s.Records.Create(t.Context(), name, []byte(`"`+name+`"`)))
		if got, err := far.Records.Get(t.Context(), name); err != nil || string(got) != `"`+name+`"` {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	testkit.ErrIs(t, testkit.Err(far.Records.Get(t.Context(), "runs/none")), artifacts.ErrNotExist, "none")
	if _, err := far.Records.Get(t.Context(), "runs/../../x"); err == nil || errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("a name that no record has: %v", err)
	}
	for _, err := range far.Records.List(t.Context(), "runs/") {
		testkit.ErrIs(t, err, artifacts.ErrNoList, "list")
	}
}

func TestParse(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org/paper/":              "https://example.org/paper",
		"http://localhost:8000/x":                 "http://localhost:8000/x",
		"http://[::1]:80":                         "http://[::1]:80",
		"http://example.org/x":                    "!anybody on the network",
		"http://example.org/x?insecure=true":      "http://example.org/x?insecure=true",
		"https://u:geheim@example.org":            "!password",
		"https://example.org/?token=geheim":       `!no option "token"`,
		"https://":                                "!want https://host/path",
		"https://example.org/#x":                  "!want https://host/path",
		"http://localhost.example.org/":           "!anybody on the network",
		"ftp://example.org/":                      "!want https://host/path",
		"https://example.org/%zz":                 "!cannot be parsed",
		"https://example.org/paper?insecure=true": "https://example.org/paper",
	} {
		u, err := parse(address)
		fail, isFail := strings.CutPrefix(want, "!")
		if isFail && (err == nil || !strings.Contains(err.Error(), fail)) || !isFail && (err != nil || u.String() != want) {
			t.Errorf("%s: %v, %v; want %s", address, u, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// breaking cuts answers for blobs: each after some bytes, as long as there are breaks left.
type breaking struct {
	next   http.Handler
	after  int64
	breaks atomic.Int64
	asked  atomic.Int64
	ranges atomic.Int64
	plain  bool // ranges are not known
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
		b.asked.Add(1)
		if r.Header.Get("Range") != "" {
			b.ranges.Add(1)
		}
		if b.plain {
			r.Header.Del("Range")
		}
		if b.breaks.Add(-1) >= 0 {
			w = &cutWriter{w, b.after}
		}
	}
	b.next.ServeHTTP(w, r)
}

type cutWriter struct {
	http.ResponseWriter
	left int64
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= int64(len(p))
	return c.ResponseWriter.Write(p)
}

// TestResume: a blob whose connection breaks continues where it was, or, where the host
// knows no ranges, is read once more from its start.
func TestResume(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := &breaking{after: 400_000, plain: plain}
		s, _, address := serve(t, func(h http.Handler) http.Handler { b.next = h; return b })
		data := storetest.Bytes(3, 1_000_000)
		d := storetest.Put(t, s, data)
		b.breaks.Store(2)
		if plain {
			b.breaks.Store(1)
		}
		got, err := artifacts.ReadBlob(t.Context(), open(t, address).Blobs, d, 1<<20)
		if err != nil || artifacts.Sum(got) != d || b.ranges.Load() != b.asked.Load()-1 || b.asked.Load() < 2 {
			t.Errorf("plain %v: %d bytes, %v, in %d requests, %d for a range", plain, len(got), err, b.asked.Load(), b.ranges.Load())
		}
	}
}

// TestDiesHalfWay: of a blob that does not come whole nothing is served and nothing stays;
// host and blob are named, and whether somebody else has it is found out.
func TestDiesHalfWay(t *testing.T) {
	b := &breaking{after: 400_000}
	s, _, address := serve(t, func(h http.Handler) http.Handler { b.next = h; return b })
	r := storetest.NewResult(t, s, "k", map[string]string{"out": string(storetest.Bytes(4, 1_000_000))})
	storetest.Publish(t, s, r)
	d := r.Outputs["out"].Digest
	b.after = 0
	b.breaks.Store(1 << 40)
	ownRoot := t.TempDir()
	own, err := dir.Open(ownRoot)
	testkit.None(t, err)
	with := artifacts.With(own, []artifacts.Other{{Reader: open(t, address), Name: "far.example"}}, artifacts.Policy{Foreign: artifacts.UseUntrusted})
	if hit, err := artifacts.Lookup(t.Context(), with, r.Key); err != nil || hit == nil {
		t.Fatal(hit, err)
	}
	rc, err := with.Open(t.Context(), d)
	var down *artifacts.DownError
	if err == nil || !errors.As(err, &down) || !strings.Contains(err.Error(), "far.example") || !strings.Contains(err.Error(), d.String()) || errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("open: %v, %v", rc, err)
	}
	for _, sub := range []string{"blobs", "tmp"} {
		err := filepath.WalkDir(filepath.Join(ownRoot, sub), func(p string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				t.Errorf("own has %s", p)
			}
			return err
		})
		testkit.None(t, err)
	}
	asked := b.asked.Load()
	if _, err := with.Open(t.Context(), d); !errors.As(err, &down) || b.asked.Load() != asked {
		t.Errorf("it is asked again at once: %v", err)
	}
	if st := with.Others()[0]; st.Err == nil || st.Name != "far.example" {
		t.Errorf("%+v", st)
	}
	second := mem.New()
	testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), second.Blobs, storetest.Bytes(4, 1_000_000))))
	with = artifacts.With(own, []artifacts.Other{{Reader: open(t, address), Name: "far.example"}, {Reader: second.Reader(), Name: "second"}}, artifacts.Policy{})
	if got, err := artifacts.ReadBlob(t.Context(), with, d, 1<<20); err != nil || artifacts.Sum(got) != d {
		t.Errorf("from the second: %d bytes, %v", len(got), err)
	}
}

// TestDown: a host that is down is not a miss: it is named, once, and not asked again.
func TestDown(t *testing.T) {
	var asked atomic.Int64
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, "no", http.StatusServiceUnavailable)
	}))
	defer broken.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.None(t, err)
	closed.Close()
	https := httptest.NewTLSServer(http.NotFoundHandler())
	defer https.Close()
	for name, address := range map[string]string{"broken": broken.URL, "closed": "http://" + closed.Addr().String(),
		"certificate": https.URL, "not https": strings.Replace(broken.URL, "http:", "https:", 1)} {
		with := artifacts.With(mem.New(), []artifacts.Other{{Reader: open(t, address), Name: name}}, artifacts.Policy{})
		for range 2 {
			found, err := artifacts.Inspect(t.Context(), with, []artifacts.Digest{{1}})
			e := found[artifacts.Digest{1}]
			if err != nil || e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.NoAnswer || !strings.Contains(e.Miss(), name+" does not answer") {
				t.Errorf("%s: %q, %v", name, e.Miss(), err)
			}
		}
		if st := with.Others()[0]; st.Err == nil {
			t.Errorf("%s: %+v", name, st)
		}
	}
	testkit.Is(t, asked.Load(), tries, "a broken host was asked times")
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	with := artifacts.With(mem.New(), []artifacts.Other{{Reader: open(t, broken.URL), Name: "x"}}, artifacts.Policy{})
	if _, err := artifacts.Inspect(ctx, with, []artifacts.Digest{{1}}); err == nil || with.Others()[0].Err != nil {
		t.Errorf("cancelled: %v, %+v", err, with.Others())
	}
}

// TestOddHosts: 403 is a miss with a word, a page for every address is not a result, a record
// without end is not read to it, and HEAD may be unknown.
func TestOddHosts(t *testing.T) {
	inspect := func(address string, policy artifacts.Policy, key artifacts.Digest) (artifacts.Entry, artifacts.OtherState) {
		with := artifacts.With(mem.New(), []artifacts.Other{{Reader: open(t, address), Name: "odd"}}, policy)
		found, err := artifacts.Inspect(t.Context(), with, []artifacts.Digest{key})
		testkit.None(t, err)
		return found[key], with.Others()[0]
	}
	handler := func(f http.HandlerFunc) string {
		server := httptest.NewServer(f)
		t.Cleanup(server.Close)
		return server.URL
	}
	denied := handler(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	if e, st := inspect(denied, artifacts.Policy{}, artifacts.Digest{1}); e.Miss() != "no result" || st.Denied != 1 || st.Err != nil {
		t.Errorf("denied: %q, %+v", e.Miss(), st)
	}
	page := handler(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>welcome") })
	if e, _ := inspect(page, artifacts.Policy{}, artifacts.Digest{1}); len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.Damaged {
		t.Errorf("page: %q", e.Miss())
	}
	endless := handler(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	if e, _ := inspect(endless, artifacts.Policy{}, artifacts.Digest{1}); len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.Damaged {
		t.Errorf("endless: %q", e.Miss())
	}
	s, _, noHead := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				http.Error(w, "no", http.StatusMethodNotAllowed)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	r := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	storetest.Publish(t, s, r)
	if e, _ := inspect(noHead, artifacts.Policy{Foreign: artifacts.UseUntrusted}, r.Key); !e.Hit() {
		t.Errorf("no HEAD: %q", e.Miss())
	}
	loop := handler(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) })
	if _, st := inspect(loop, artifacts.Policy{}, artifacts.Digest{1}); st.Err == nil || !strings.Contains(st.Err.Error(), "more than 5 times") {
		t.Errorf("loop: %+v", st)
	}
}

// TestRedirects: nobody whose words anybody on the way can change sends us elsewhere, and
// only this machine sends us to a program of this machine by http.
func TestRedirects(t *testing.T) {
	request := func(address string) *http.Request {
		u, err := url.Parse(address)
		testkit.None(t, err)
		return &http.Request{URL: u}
	}
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"https://a.example/x", "https://b.example/y", true},
		{"http://a.example/x", "https://b.example/y", true},
		{"http://a.example/x", "http://a.example/y", true},
		{"http://localhost:1/x", "http://127.0.0.1:2/y", true},
		{"https://a.example/x", "http://a.example/y", false},
		{"http://a.example/x", "http://b.example/y", false},
		{"http://a.example/x", "http://127.0.0.1:8080/y", false},
		{"http://a.example/x", "http://localhost/y", false},
		{"https://a.example/x", "http://localhost/y", false},
		{"https://a.example/x", "file:///etc/passwd", false},
	} {
		if err := client.CheckRedirect(request(c.to), []*http.Request{request(c.from)}); (err == nil) != c.ok {
			t.Errorf("from %s to %s: %v", c.from, c.to, err)
		}
	}
}

// TestElsewhere: a blob that is left out of a tree comes from where a record says that it
// lies, if it has its right bytes.
func TestElsewhere(t *testing.T) {
	var lie atomic.Bool
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lie.Load() {
			io.WriteString(w, strings.Repeat("x", 1<<20))
			return
		}
		io.WriteString(w, "one")
	}))
	defer source.Close()
	s, _, address := serve(t, nil)
	r := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	storetest.Publish(t, s, r)
	d := r.Outputs["out"].Digest
	testkit.None(t, s.Blobs.Delete(t.Context(), d))
	policy := artifacts.Policy{Foreign: artifacts.UseUntrusted, Elsewhere: Elsewhere}
	with := func() (own artifacts.Store, with *artifacts.Resolver) {
		own = mem.New()
		return own, artifacts.With(own, []artifacts.Other{{Reader: open(t, address), Name: "host"}}, policy)
	}
	look := func(s *artifacts.Resolver) artifacts.Entry {
		found, err := artifacts.Inspect(t.Context(), s, []artifacts.Digest{r.Key})
		testkit.None(t, err)
		return found[r.Key]
	}
	if _, w := with(); look(w).Hit() {
		t.Error("a hit without its blob")
	}
	testkit.None(t, artifacts.PutElsewhere(t.Context(), s, artifacts.Elsewhere{Digest: d, Size: 3, URL: source.URL + "/data"}))
	own, w := with()
	e := look(w)
	if !e.Hit() {
		t.Fatal(e.Miss())
	}
	testkit.None(t, artifacts.Bring(t.Context(), w, e.Result, nil))
	if got, err := artifacts.ReadBlob(t.Context(), own.Blobs, d, 9); string(got) != "one" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	lie.Store(true)
	own, w = with()
	_, err := w.Open(t.Context(), d)
	var bad *artifacts.IntegrityError
	testkit.That(t, errors.As(err, &bad) && strings.Contains(err.Error(), source.URL), "other bytes", err)
	if missing, err := own.Blobs.Missing(t.Context(), []artifacts.Digest{d}); err != nil || len(missing) != 1 {
		t.Error("own has other bytes")
	}
	if e := look(w); e.Hit() {
		t.Error("a hit, whose blob is known to be wrong")
	}
	// A store that is not of this machine does not make us ask programs of this machine.
	if _, err := Elsewhere(t.Context(), artifacts.Elsewhere{URL: source.URL, From: "https://a.example"}); !errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("an address of this machine: %v", err)
	}
	for _, u := range []string{"", "file:///etc/passwd", "https://u:p@a.example/x", "x"} {
		testkit.Some(t, artifacts.PutElsewhere(t.Context(), s, artifacts.Elsewhere{Digest: d, Size: 3, URL: u}), u)
	}
}

// trickle sends a byte at a time for as long as somebody listens.
func trickle(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := w.Write([]byte("{")); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
}

// TestSlowLookups: a host that answers too slowly, or not, is down once a look-up has taken
// its time, whatever it sends meanwhile. One that closes connections is asked a few times.
func TestSlowLookups(t *testing.T) {
	const late = "no complete answer within 50ms"
	for name, c := range map[string]struct {
		host  http.HandlerFunc
		want  string
		asked int64
	}{
		"trickles": {func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte("{"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, late, 1},
		"says nothing": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, late, 1},
		"closes":       {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF", tries},
		"a byte each": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			w.Write([]byte("{"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "the connection broke after", 1 + resumes},
	} {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			c.host(w, r)
		}))
		l := usual()
		if c.want == late {
			l.lookup = 50 * time.Millisecond
		}
		far := openWith(t, server.URL, l)
		with := artifacts.With(mem.New(), []artifacts.Other{{Reader: far, Name: name}}, artifacts.Policy{})
		found, err := artifacts.Inspect(t.Context(), with, []artifacts.Digest{{1}})
		e := found[artifacts.Digest{1}]
		if err != nil || len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.NoAnswer || !strings.Contains(e.Passed[0].Err.Error(), c.want) || asked.Load() != c.asked {
			t.Errorf("%s: %q, %+v, %v, in %d requests", name, e.Miss(), e.Passed, err, asked.Load())
		}
		if name == "says nothing" {
			testkit.ErrSays(t, testkit.Err(far.Blobs.Missing(t.Context(), []artifacts.Digest{{1}})), late)
		}
		server.CloseClientConnections()
		server.Close()
	}
}

// TestSlowBlobs: a blob of which too little comes is given up, and not started again; one that
// comes slowly but surely is read.
func TestSlowBlobs(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		trickle(w, r)
	}))
	defer server.Close()
	l := usual()
	l.pace = readers.Pace{Idle: time.Minute, Window: time.Microsecond, Least: 1 << 20}
	far := openWith(t, server.URL, l)
	_, err := artifacts.ReadBlob(t.Context(), far.Blobs, artifacts.Digest{1}, 1<<20)
	var slow *readers.SlowError
	testkit.That(t, errors.As(err, &slow) && asked.Load() == 1, err, "in", asked.Load(), "requests")
	s, _, address := serve(t, nil)
	data := storetest.Bytes(5, 1_000_000)
	d := storetest.Put(t, s, data)
	l.pace = readers.Pace{Idle: time.Minute, Window: time.Nanosecond, Least: 1}
	far = openWith(t, address, l)
	if got, err := artifacts.ReadBlob(t.Context(), far.Blobs, d, 1<<20); err != nil || len(got) != len(data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
