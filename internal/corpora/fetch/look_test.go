package fetch_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestLook(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		testkit.Is(t, r.Method, http.MethodHead)
		if r.URL.Path != "/there" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", "1234")
	}))
	defer server.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	testkit.Write(t, file, "12345")
	for raw, want := range map[string]struct {
		size int64
		err  string
	}{
		server.URL + "/there":      {1234, ""},
		server.URL + "/gone":       {0, "404"},
		file:                       {5, ""},
		filepath.Join(dir, "none"): {0, "no such file"},
		dir:                        {0, "is not a file"},
	} {
		s, err := fetch.ParseSource(raw)
		testkit.None(t, err)
		size, err := fetch.Look(context.Background(), s)
		if size != want.size || (err == nil) != (want.err == "") || err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("%s: %d, %v", raw, size, err)
		}
	}
}
