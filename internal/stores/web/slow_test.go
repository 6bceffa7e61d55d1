package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/readers"
)

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
	const late = "no whole answer within 50ms"
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
			errtest.Says(t, errtest.Of(far.Blobs.Missing(t.Context(), []artifacts.Digest{{1}})), late)
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
	if !errors.As(err, &slow) || asked.Load() != 1 {
		t.Errorf("%v, in %d requests", err, asked.Load())
	}
	s, _, address := serve(t, nil)
	data := storetest.Bytes(5, 1_000_000)
	d := storetest.Put(t, s, data)
	l.pace = readers.Pace{Idle: time.Minute, Window: time.Nanosecond, Least: 1}
	far = openWith(t, address, l)
	if got, err := artifacts.ReadBlob(t.Context(), far.Blobs, d, 1<<20); err != nil || len(got) != len(data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
