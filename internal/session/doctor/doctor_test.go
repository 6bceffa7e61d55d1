package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/workflows"
)

// TestFolders: a store that can be read and written is left as it was, and what cannot be
// used fails with what to do.
func TestFolders(t *testing.T) {
	folder := t.TempDir()
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if f := Store(t.Context(), folder, s, nil); !strings.Contains(f.Note, "can be read and written") {
		t.Errorf("%+v", f)
	}
	for _, err := range s.Records.List(t.Context(), "") {
		t.Errorf("something was left: %v", err)
	}
	if f := Store(t.Context(), folder, s, errors.New("no such bucket")); f.level() != Fail || f.Note != "no such bucket" || f.Do == "" {
		t.Errorf("%+v", f)
	}
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if f := State(filepath.Join(file, "state")); f.level() != Fail || !strings.Contains(f.Do, "--state") {
		t.Errorf("%+v", f)
	}
	if f := Store(t.Context(), "mem:", mem.New(), nil); f.level() != OK {
		t.Errorf("%+v", f)
	}
}

type connected map[string]error // by queue; nil: it is polled

func (c connected) Place() string { return "127.0.0.1:7233, namespace default" }
func (c connected) Close()        {}

func (c connected) Polled(_ context.Context, queue string) (bool, error) {
	err, asked := c[queue]
	return asked && err == nil, err
}

// TestCluster: a cluster without workers of a queue is a warning, one that refuses a failure.
func TestCluster(t *testing.T) {
	for name, c := range map[string]struct {
		conn Connection
		err  error
		want string // levels
	}{
		"no answer": {nil, errors.New("refused"), "fail"},
		"no access": {connected{workflows.TaskQueue: errors.New("denied")}, nil, "fail"},
		"one queue": {connected{workflows.TaskQueue: nil}, nil, "ok ok warn"},
	} {
		found := Cluster{Address: "a:1", Dial: func(context.Context) (Connection, error) { return c.conn, c.err },
			Worker: func(queue string) string { return "redsi worker --queue " + queue }}.Check(t.Context())
		var levels []string
		failed := Leveled(found)
		for _, f := range found {
			levels = append(levels, f.Level)
		}
		if got := strings.Join(levels, " "); got != c.want || (failed > 0) != (c.want == "fail") {
			t.Errorf("%s: %s, %+v", name, got, found)
		}
	}
	if f := PayloadKey("keys", nil, fmt.Errorf("it is readable by others")); f.level() != Fail {
		t.Errorf("%+v", f)
	}
}
