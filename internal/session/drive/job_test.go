package drive

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/internal/session"
)

// TestAgain: signals that a batch system sends at once are one; a person's next interrupt is another.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			at   []time.Duration
			quit time.Duration // 0: it does not
		}{
			{[]time.Duration{0, 5 * time.Millisecond, 999 * time.Millisecond}, 0},
			{[]time.Duration{5 * time.Millisecond, 1500 * time.Millisecond}, 1500 * time.Millisecond},
		} {
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			signals := make(chan os.Signal, 1)
			began := time.Now()
			for _, at := range c.at {
				time.AfterFunc(at, func() { signals <- os.Interrupt })
			}
			if quits := again(ctx, signals); quits != (c.quit > 0) || quits && time.Since(began) != c.quit {
				t.Errorf("%v: %v after %s", c.at, quits, time.Since(began))
			}
			end()
		}
	})
}

// TestHeed: the loss of a server and its return are told once each.
func TestHeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithTimeout(t.Context(), 2*time.Minute)
		defer end()
		began := time.Now()
		var said bytes.Buffer
		heed(ctx, slog.New(slog.NewTextHandler(&said, nil)), func(ctx context.Context) error {
			if at := time.Since(began); at < 25*time.Second || at > 55*time.Second {
				return nil
			}
			return errors.New("connection refused")
		})
		if text := said.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "does not answer;") || !strings.Contains(text, "answers again\" after=30s") {
			t.Error(text)
		}
	})
}

// TestUntilJobEnds: a worker ends before its job, at most half of what is left before it; without a job it does not.
func TestUntilJobEnds(t *testing.T) {
	l := &listener{}
	dr := &Driver{Session: &session.Session{Talk: l, Log: slog.New(slog.DiscardHandler)}}
	if until := dr.UntilJobEnds(t.Context()); until != 0 || len(l.said) != 0 {
		t.Fatalf("%s, %q", until, l.said)
	}
	t.Setenv("SLURM_JOB_ID", "47")
	t.Setenv("SLURMD_NODENAME", "n1")
	for left, want := range map[time.Duration]time.Duration{time.Hour: time.Hour - beforeJobEnds, time.Minute: 30 * time.Second, -time.Minute: time.Second} {
		t.Setenv("SLURM_JOB_END_TIME", strconv.FormatInt(time.Now().Add(left).Unix(), 10))
		until := dr.UntilJobEnds(t.Context())
		if d := want - until; d < 0 || d > 10*time.Second || !strings.Contains(l.said[len(l.said)-1], "slurm 47 on n1 is ended at ") {
			t.Errorf("%s: %s, %q", left, until, l.said)
		}
	}
}
