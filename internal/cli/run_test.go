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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestAwait: a change is told once nothing changes any more; a file that comes or goes is a change, and
// one that changed during the run is told at once.
func TestAwait(t *testing.T) {
	at := func(n int64) hashed.Stamp { return hashed.Stamp{Size: n} }
	old := stamps{"a": at(1), "b": at(1)}
	for name, c := range map[string]struct {
		looks []stamps
		want  []string
	}{
		"edited":         {[]stamps{old, {"a": at(2), "b": at(1)}, {"a": at(3), "b": at(1)}, {"a": at(3), "b": at(1)}}, []string{"a"}},
		"two":            {[]stamps{{"a": at(2), "b": at(1)}, {"a": at(2), "b": {}}, {"a": at(2), "b": {}}}, []string{"a", "b"}},
		"new":            {[]stamps{{"a": at(1), "b": at(1), "c": at(1)}, {"a": at(1), "b": at(1), "c": at(1)}}, []string{"c"}},
		"and back again": {[]stamps{{"a": at(2), "b": at(1)}, old, old}, nil},
	} {
		ctx, stop := context.WithCancel(t.Context())
		ticks := make(chan time.Time, len(c.looks))
		for range c.looks {
			ticks <- time.Time{}
		}
		got := await(ctx, old, func() stamps {
			now := c.looks[0]
			if c.looks = c.looks[1:]; len(c.looks) == 0 && c.want == nil {
				stop()
			}
			return now
		}, ticks)
		if stop(); !slices.Equal(got, c.want) || len(c.looks) > 0 {
			t.Errorf("%s: %v, %d looks left", name, got, len(c.looks))
		}
	}
}

// TestLook: watched are the files of the pipeline's folder and what a plan has read, also while they are
// not there, and no settings, which are read once.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pipelines.hcl")
	a := newApp(&session.Session{File: file, VarFiles: []string{filepath.Join(dir, "gone.json")}}, io.Discard, io.Discard)
	for _, name := range []string{"pipelines.hcl", "more.hcl", "other.txt", "redsi.local.hcl"} {
		testkit.Write(t, filepath.Join(dir, name), "x")
	}
	before := a.look()
	if len(before) != 3 || before[file].Size != 1 || before[filepath.Join(dir, "gone.json")] != (hashed.Stamp{}) {
		t.Errorf("%v", before)
	}
	testkit.None(t, os.Remove(file))
	testkit.Deep(t, a.look().changed(before), []string{file}, "changed")
}

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

// TestShared: a file of two publish blocks is refused with the names of both, also where only a
// file system takes the two names for one.
func TestShared(t *testing.T) {
	owners := map[string]string{}
	for i, c := range []struct{ block, to, files, want string }{
		{"n", "results/metrics", "metrics.json a/b", ""},
		{"s", "results/metrics/", "other.json", ""},
		{"t", "results/Metrics", "new.json metrics.json", "publish n writes the file results/Metrics/metrics.json, too"},
		{"u", "results", "metrics/a/b", "publish n writes the file results/metrics/a/b, too"},
		{"u", "results", "b", ""},
	} {
		var list []artifacts.File
		for name := range strings.FieldsSeq(c.files) {
			list = append(list, artifacts.File{Name: name})
		}
		err := shared(owners, c.block, c.to, list)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
