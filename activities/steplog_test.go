package activities

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestStepLog says what is kept of what a step says, however it is written.
func TestStepLog(t *testing.T) {
	const much = runs.LogHead + 3*runs.LogTail
	text := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + i*7/5%26)
		}
		return b
	}
	for _, c := range []struct {
		name    string
		n, each int
		cut     int64
	}{
		{"nothing", 0, 1, 0},
		{"little", 100, 7, 0},
		{"the head", runs.LogHead, 1000, 0},
		{"all", runs.LogHead + runs.LogTail, 4096, 0},
		{"one more", runs.LogHead + runs.LogTail + 1, 4096, 1},
		{"much", much, 1001, 2 * runs.LogTail},
		{"much at once", much, much, 2 * runs.LogTail},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &stepLog{}
			said := text(c.n)
			for b := said; len(b) > 0; b = b[min(c.each, len(b)):] {
				if n, err := l.Write(b[:min(c.each, len(b))]); n != min(c.each, len(b)) || err != nil {
					t.Fatal(n, err)
				}
			}
			got, err := io.ReadAll(l.read())
			errtest.None(t, err)
			head, tail := said[:min(c.n, runs.LogHead)], said[min(c.n, runs.LogHead):]
			if c.cut > 0 {
				tail = tail[len(tail)-runs.LogTail:]
			}
			if l.cut != c.cut || !bytes.HasPrefix(got, head) || !bytes.HasSuffix(got, tail) {
				t.Errorf("%d bytes of %d, %d cut", len(got), c.n, l.cut)
			}
			if c.cut == 0 && !bytes.Equal(got, said) {
				t.Error("not what was said")
			}
			kept := l.keep(t.Context(), &Activities{Store: artifacts.Alone(mem.New())}, "step.a.b")
			if kept.Size != int64(len(got)) || kept.Validate() != nil {
				t.Errorf("%+v of %d bytes", kept, len(got))
			}
		})
	}
}

// TestStepLogger says that log lines are kept and passed on, what is for debugging not.
func TestStepLogger(t *testing.T) {
	var shown strings.Builder
	l := &stepLog{}
	log := l.logger(slog.New(slog.NewTextHandler(&shown, &slog.HandlerOptions{Level: slog.LevelWarn})))
	log.Debug("detail")
	log.Info("read", "records", 3)
	log.Warn("odd")
	kept := string(l.head)
	if strings.Contains(kept, "detail") || !strings.Contains(kept, "msg=read records=3") || !strings.Contains(kept, "msg=odd") {
		t.Errorf("kept %q", kept)
	}
	if strings.Contains(shown.String(), "read") || !strings.Contains(shown.String(), "odd") {
		t.Errorf("shown %q", shown.String())
	}
	var none *artifacts.Log
	if err := none.Validate(); err != nil {
		t.Error(err)
	}
}
