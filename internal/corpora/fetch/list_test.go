package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestList lists a bucket whose server gives two names a page, and is busy once.
func TestList(t *testing.T) {
	names := []string{"r/", "r/a.fa", "r/a.txt", "r/b*.txt", "r/s/", "r/s/b.fa", "r/s/t/c.fa", "rest/x"}
	busy := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/storage/v1/b/bucket/o" {
			http.NotFound(w, r)
			return
		}
		if busy = !busy; !busy && r.FormValue("pageToken") == "2" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var page struct {
			Items []map[string]string `json:"items"`
			Next  string              `json:"nextPageToken,omitempty"`
		}
		n := 0
		fmt.Sscan(r.FormValue("pageToken"), &n)
		fits := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, r.FormValue("prefix")) })
		for ; n < len(fits); n++ {
			if len(page.Items) == 2 {
				page.Next = fmt.Sprint(n)
				break
			}
			page.Items = append(page.Items, map[string]string{"name": fits[n]})
		}
		json.NewEncoder(w).Encode(page)
	}))
	defer server.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
	for pattern, want := range map[string]string{
		"gs://bucket/r/*.fa":      "gs://bucket/r/a.fa",
		"gs://bucket/r/**/*.fa":   "gs://bucket/r/a.fa gs://bucket/r/s/b.fa gs://bucket/r/s/t/c.fa",
		"gs://bucket/r/s/":        "gs://bucket/r/s/b.fa gs://bucket/r/s/t/c.fa",
		"gs://bucket/r/{a,b}.txt": "gs://bucket/r/a.txt",
		"gs://bucket/re*/x":       "gs://bucket/rest/x",
		"gs://bucket/r/*.gz":      "no file of gs://bucket/r/ fits *.gz",
		"gs://bucket/r/*.txt":     "gs://bucket/r/b*.txt has a character of patterns in its name, and cannot be taken",
		"gs://other/*":            "the files of gs://other/ could not be listed: " + server.URL + "/storage/v1/b/other/o?fields=items%28name%29%2CnextPageToken&prefix=: 404 Not Found",
	} {
		got, err := List(t.Context(), pattern)
		if text := strings.Join(got, " "); err == nil && text != want || err != nil && err.Error() != want {
			t.Errorf("%s: %q, %v", pattern, text, err)
		}
		var permanent *Permanent
		if err != nil && !errors.As(err, &permanent) {
			t.Errorf("%s: %v is not permanent", pattern, err)
		}
	}
}
