package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/stores/mem"
)

// TestNotify: the end of a run is told by HTTP or to a command, a second time if that failed, and what
// fails in the end is a warning without the address.
func TestNotify(t *testing.T) {
	defer func(d time.Duration) { notifyAgain = d }(notifyAgain)
	notifyAgain = 0
	var got []string
	refuse := 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.Header.Get("Content-Type")+" "+string(b))
		if refuse--; refuse >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	var said bytes.Buffer
	a := newApp(&session.Session{File: "p.hcl"}, io.Discard, io.Discard)
	a.Log = slog.New(slog.NewTextHandler(&said, nil))
	sum := &drive.Summary{Pipeline: "p.hcl", Hit: 3, Ran: 1}
	sum.Of.Store = artifacts.Alone(mem.New())
	a.notify(t.Context(), server.URL+"/?token=hidden", time.Now(), sum, nil)
	if len(got) != 2 || got[0] != got[1] || said.Len() > 0 {
		t.Fatalf("got %q, said %s", got, &said)
	}
	var n notice
	if text, ok := strings.CutPrefix(got[1], "POST application/json "); !ok || json.Unmarshal([]byte(text), &n) != nil || n.Pipeline != "p.hcl" || !n.OK || n.Counts["hit"] != 3 || n.Counts["ran"] != 1 {
		t.Errorf("%q", got[1])
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	file := filepath.Join(t.TempDir(), "notice")
	a.notify(cancelled, "cat > '"+file+"'", time.Now(), nil, errors.New("a step said a secret"))
	if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), `{"pipeline":"p.hcl","ok":false,"cancelled":true,"seconds":`) || said.Len() > 0 {
		t.Errorf("%q, %v, said %s", b, err, &said)
	}
	refuse = 2
	a.notify(t.Context(), server.URL+"/?token=hidden", time.Now(), sum, nil)
	a.notify(t.Context(), "echo no such address; exit 3", time.Now(), sum, nil)
	for _, want := range []string{"503 Service Unavailable", "exit status 3: no such address"} {
		if !strings.Contains(said.String(), want) || strings.Contains(said.String(), "hidden") {
			t.Errorf("said %s", &said)
		}
	}
	for to, ok := range map[string]bool{"": true, "https://x": true, "http://x": true, "notify-send done": true, "curl -d @- https://x": true, "ftp://x": false, "slack://x": false} {
		if err := (runOptions{notify: to}).checkNotify(); (err == nil) != ok {
			t.Errorf("%s: %v", to, err)
		}
	}
}
