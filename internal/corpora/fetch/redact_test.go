package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org/a.gz?x=1":                               "https://example.org/a.gz?x=1",
		"https://example.org/a.gz?token=S3CRET&x=1":                  "https://example.org/a.gz?token=…&x=1",
		"gs://bucket/a@b":                                            "gs://bucket/a@b",
		"https://user:S3CRET@example.org/a":                          "https://…@example.org/a",
		"https://user:S3 CRET@host/a":                                "https://…@host/a",
		"https://h/a?X-Amz-Signature=S3CRET&X-Amz-Credential=S3CRET": "https://h/a?X-Amz-Signature=…&X-Amz-Credential=…",
		"https://h/a?x%2Damz%2Dsignature=S3CRET#top":                 "https://h/a?x%2Damz%2Dsignature=…#top",
		"https://h/a?sv=2024&sig=S3CRET%2B%3D":                       "https://h/a?sv=2024&sig=…",
		`Get "https://h/a?api_key=S3CRET": EOF, then ?n=2`:           `Get "https://h/a?api_key=…": EOF, then ?n=2`,
		"no URL at all":                                              "no URL at all",
	} {
		testkit.Is(t, Redact(text), want, text)
	}
}

// TestNoSecretIsSaid lets transfers and looks fail in every way that quotes a URL:
// neither error, nor log, nor the note beside a partial file has its secret.
func TestNoSecretIsSaid(t *testing.T) {
	const secret = "S3CRET"
	query := "?X-Amz-Signature=" + secret + "&access_token=" + secret
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	mux.HandleFunc("/sends-on", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, gone.URL+"/a"+query, http.StatusFound)
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round"+query, http.StatusFound) })
	mux.HandleFunc("/nonsense", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://[::1"+query)
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v"`)
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "other bytes") })
	s := httptest.NewServer(mux)
	defer s.Close()
	for _, u := range []string{gone.URL + "/a", s.URL + "/refuses", s.URL + "/sends-on", s.URL + "/round", s.URL + "/nonsense", s.URL + "/cut", s.URL + "/other"} {
		src, err := ParseSource(u + query)
		testkit.None(t, err)
		var said strings.Builder
		r := Request{Sources: []Source{src}, SHA256: strings.Repeat("0", 64), Partials: t.TempDir(), Wait: time.Microsecond,
			Log: func(msg string, args ...any) { fmt.Fprintln(&said, append([]any{msg}, args...)...) }}
		_, err = Get(context.Background(), r)
		if err == nil {
			t.Fatalf("%s was had", u)
		}
		fmt.Fprintln(&said, err)
		for e := err; e != nil; e = errors.Unwrap(e) {
			if _, ok := e.(*Permanent); ok {
				fmt.Fprintln(&said, e)
			}
		}
		if _, err := Look(context.Background(), src); err != nil {
			fmt.Fprintln(&said, err)
		}
		notes, err := filepath.Glob(filepath.Join(r.Partials, "*"))
		testkit.None(t, err)
		for _, n := range notes {
			b, err := os.ReadFile(n)
			testkit.None(t, err)
			said.Write(b)
		}
		if strings.Contains(said.String(), secret) || !strings.Contains(said.String(), u) {
			t.Errorf("%s:\n%s", u, said.String())
		}
	}
	for _, raw := range []string{"https://u:S3CRET @h/x", "http:///x?token=S3CRET", "ftp://h/x?token=S3CRET", "gs://b?key=S3CRET"} {
		if _, err := ParseSource(raw); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
