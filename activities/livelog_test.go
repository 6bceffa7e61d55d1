package activities

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestLogEnd: the end of a log is what was written last, wherever its buffers are.
func TestLogEnd(t *testing.T) {
	for _, total := range []int{0, 10, runs.LogHead - 1, runs.LogHead, runs.LogHead + 5, runs.LogHead + LiveTail/2, runs.LogHead + runs.LogTail, runs.LogHead + runs.LogTail + 7, runs.LogHead + runs.LogTail + LiveTail/2, 3 * runs.LogTail, runs.LogHead + 2*runs.LogTail - 3} {
		var l stepLog
		whole := make([]byte, total)
		for i := range whole {
			whole[i] = byte(i * i >> 3)
		}
		for rest := whole; len(rest) > 0; rest = rest[min(len(rest), 999):] {
			l.Write(rest[:min(len(rest), 999)])
		}
		said, text := l.end(LiveTail)
		if said != int64(total) || !bytes.Equal(text, whole[max(0, total-LiveTail):]) {
			t.Errorf("of %d bytes: %d, the last %d", total, said, len(text))
		}
	}
}

// TestShowLive: a running step shows what is new at each tick, and leaves nothing behind; one that says
// nothing, or ends before the first tick, writes nothing.
func TestShowLive(t *testing.T) {
	a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler)}
	key := artifacts.Sum([]byte("key"))
	read := func() *runs.LiveLog {
		t.Helper()
		l, err := runs.ReadLive(t.Context(), a.Store.Own.Leases, key)
		errtest.None(t, err)
		return l
	}
	var log stepLog
	ticks := make(chan time.Time)
	stop := a.showLive(t.Context(), key, &log, ticks)
	tick := func() { ticks <- time.Time{}; ticks <- time.Time{} } // the second is taken when the first is done
	tick()
	if l := read(); l != nil {
		t.Errorf("nothing was said, and shown is %+v", l)
	}
	log.Write([]byte("one\n"))
	tick()
	log.Write([]byte(strings.Repeat("x", LiveTail) + "two\n"))
	tick()
	if l := read(); l == nil || l.Said != LiveTail+8 || len(l.Text) != LiveTail || !bytes.HasSuffix(l.Text, []byte("xtwo\n")) {
		t.Errorf("shown %+v", l)
	}
	stop()
	if l := read(); l != nil {
		t.Errorf("left behind: %+v", l)
	}
}
