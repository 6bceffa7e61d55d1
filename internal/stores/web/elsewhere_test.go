package web

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

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
	errtest.None(t, s.Blobs.Delete(t.Context(), d))
	policy := artifacts.Policy{Foreign: artifacts.UseUntrusted, Elsewhere: Elsewhere}
	with := func() (own artifacts.Store, with *artifacts.Resolver) {
		own = mem.New()
		return own, artifacts.With(own, []artifacts.Other{{Reader: open(t, address), Name: "host"}}, policy)
	}
	look := func(s *artifacts.Resolver) artifacts.Entry {
		found, err := artifacts.Inspect(t.Context(), s, []artifacts.Digest{r.Key})
		errtest.None(t, err)
		return found[r.Key]
	}
	if _, w := with(); look(w).Hit() {
		t.Error("a hit without its blob")
	}
	errtest.None(t, artifacts.PutElsewhere(t.Context(), s, artifacts.Elsewhere{Digest: d, Size: 3, URL: source.URL + "/data"}))
	own, w := with()
	e := look(w)
	if !e.Hit() {
		t.Fatal(e.Miss())
	}
	errtest.None(t, artifacts.Bring(t.Context(), w, e.Result, nil))
	if got, err := artifacts.ReadBlob(t.Context(), own.Blobs, d, 9); string(got) != "one" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	lie.Store(true)
	own, w = with()
	_, err := w.Open(t.Context(), d)
	var bad *artifacts.IntegrityError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), source.URL) {
		t.Errorf("other bytes: %v", err)
	}
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
		if err := artifacts.PutElsewhere(t.Context(), s, artifacts.Elsewhere{Digest: d, Size: 3, URL: u}); err == nil {
			t.Errorf("%q is an address", u)
		}
	}
}
