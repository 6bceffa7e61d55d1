package s3

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// fakeServer keeps objects in a map and answers like an S3 with the given
// attitude to If-None-Match.
func fakeServer(t *testing.T, onCondition func(w http.ResponseWriter, exists bool) (handled bool)) *Records {
	t.Helper()
	var mu sync.Mutex
	objects := map[string]bool{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodPut:
			if r.Header.Get("If-None-Match") == "*" && onCondition(w, objects[r.URL.Path]) {
				return
			}
			objects[r.URL.Path] = true
			w.Header().Set("ETag", `"1"`)
		case r.URL.Query().Get("list-type") == "2":
			w.Write([]byte(`<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>`))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(front.Close)
	return openFake(t, front)
}

func openFake(t *testing.T, front *httptest.Server) *Records {
	t.Helper()
	s, err := Open(t.Context(), Config{
		Bucket: "bucket", Endpoint: strings.TrimPrefix(front.URL, "http://"), Insecure: true, Region: "us-east-1",
		Credentials: credentials.NewStaticV4("a", "b", ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Records.(*Records)
}

func TestProbe(t *testing.T) {
	answer := func(status int) func(http.ResponseWriter, bool) bool {
		return func(w http.ResponseWriter, _ bool) bool { w.WriteHeader(status); return true }
	}
	for name, c := range map[string]struct {
		onCondition func(http.ResponseWriter, bool) bool
		want        bool
	}{
		"heeds": {func(w http.ResponseWriter, exists bool) bool {
			if exists {
				w.WriteHeader(http.StatusPreconditionFailed)
			}
			return exists
		}, true},
		"heeds, probed before": {answer(http.StatusPreconditionFailed), true},
		"ignores":              {func(http.ResponseWriter, bool) bool { return false }, false},
		"refuses the header":   {answer(http.StatusNotImplemented), false},
	} {
		r := fakeServer(t, c.onCondition)
		for range 2 {
			if got, err := r.isConditional(t.Context()); err != nil || got != c.want {
				t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
			}
		}
	}
	r := fakeServer(t, answer(http.StatusForbidden))
	if _, err := r.isConditional(t.Context()); err == nil {
		t.Error("a server that refuses the probe told nothing, and no error came")
	}
}

// TestConflict checks the answer 409, by which AWS says that two conditional
// puts collided: it decides nothing, so the put is sent again.
func TestConflict(t *testing.T) {
	conflicts := 3
	r := fakeServer(t, func(w http.ResponseWriter, exists bool) bool {
		switch {
		case exists:
			w.WriteHeader(http.StatusPreconditionFailed)
			return true
		case conflicts > 0:
			conflicts--
			w.WriteHeader(http.StatusConflict)
			return true
		}
		return false
	})
	heeds := true
	r.conditional = &heeds
	won, err := r.createIfNone(t.Context(), "records/x", []byte("{}"))
	if !won || err != nil || conflicts != 0 {
		t.Errorf("won %v, %v, with %d conflicts to come", won, err, conflicts)
	}
}

// TestRivals checks who counts: claims within a lease of one's own by the
// server's clock, of which the smallest has its turn; older ones are swept.
func TestRivals(t *testing.T) {
	const mine = "claims/x/M"
	for name, c := range map[string]struct {
		claims          map[string]string // name to the time of day
		alone, smallest bool
		swept           string
	}{
		"alone":         {map[string]string{"M": "12:00:00"}, true, true, ""},
		"stale rival":   {map[string]string{"M": "12:00:00", "A": "11:58:59"}, true, true, "A"},
		"smaller rival": {map[string]string{"M": "12:00:00", "A": "11:59:30"}, false, false, ""},
		"larger rival":  {map[string]string{"M": "12:00:00", "Z": "12:00:30"}, false, true, ""},
		"swept oneself": {map[string]string{"Z": "12:00:30"}, false, false, ""},
	} {
		var swept []string
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				swept = append(swept, path.Base(r.URL.Path))
				w.WriteHeader(http.StatusNoContent)
				return
			}
			io.WriteString(w, "<ListBucketResult>")
			for name, at := range c.claims {
				fmt.Fprintf(w, "<Contents><Key>claims/x/%s</Key><LastModified>2026-11-21T%sZ</LastModified></Contents>", name, at)
			}
			io.WriteString(w, "</ListBucketResult>")
		}))
		t.Cleanup(front.Close)
		alone, smallest, err := openFake(t, front).rivals(t.Context(), "claims/x/", mine)
		if err != nil || alone != c.alone || smallest != c.smallest && !alone || strings.Join(swept, " ") != c.swept {
			t.Errorf("%s: alone %v, smallest %v, swept %q, %v", name, alone, smallest, swept, err)
		}
	}
}

func TestSpoolDirMissing(t *testing.T) {
	_, err := spool(t.Context(), strings.NewReader(strings.Repeat("x", smallBlob+1)), "/no/such/dir")
	if err == nil || !strings.Contains(err.Error(), "/no/such/dir") {
		t.Errorf("spool to nowhere: %v", err)
	}
	broken := errors.New("broken")
	if _, err := spool(t.Context(), failing{broken}, ""); !errors.Is(err, broken) {
		t.Errorf("spool of a broken reader: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
