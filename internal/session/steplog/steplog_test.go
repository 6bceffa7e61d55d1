package steplog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestLogsOfARun: the results of a run are looked up together.
func TestLogsOfARun(t *testing.T) {
	store, counted := storetest.Faulty(mem.New())
	d := storetest.Put(t, store, []byte("a"))
	rec := runs.Record{RunID: "20260101T000000Z-00000000", Pipeline: "p.hcl"}
	for i := range 20 {
		preimage := fmt.Appendf(nil, `{"config":{},"format":%q,"kind":"command","version":%d}`, step.KeyFormat, i+1)
		r := artifacts.Result{Key: artifacts.KeyOf(preimage), Preimage: preimage, Outputs: map[string]artifacts.Artifact{"out": {Type: "file", Digest: d, Size: 1}}}
		storetest.Publish(t, store, r)
		rec.Steps = append(rec.Steps, runs.Step{Address: fmt.Sprintf("step.command.x[%q]", fmt.Sprint(i)), Key: r.Key, Outcome: runs.Ran})
	}
	rec.Steps = append(rec.Steps, runs.Step{Address: "step.command.gone", Key: artifacts.Digest{1}, Outcome: runs.Ran})
	rec.Steps = slices.Insert(rec.Steps, 5, runs.Step{Address: "step.command.bad", Outcome: runs.Failed, Error: "it broke"})
	before := counted.Calls(storetest.BlobsMissing)
	logs, err := ofRun(t.Context(), artifacts.Alone(store), &rec, "", false)
	if err != nil || len(logs) != 22 || logs[5].Address != "step.command.bad" || !strings.Contains(logs[21].Note, "lost with its result") {
		t.Fatalf("%d logs: %+v, %v", len(logs), logs, err)
	}
	if n := counted.Calls(storetest.BlobsMissing) - before; n > 2 {
		t.Errorf("the store was asked %d times which blobs it has", n)
	}
}

// TestFollow: a step is waited for and printed once, until it or all runs end. Each pause is the next event.
func TestFollow(t *testing.T) {
	key := artifacts.Sum([]byte("key"))
	type world struct {
		*Follower
		store artifacts.Store
		held  *lease.Held
		open  bool
		known bool
	}
	says := func(text string) func(*world) {
		return func(w *world) {
			b, err := json.Marshal(runs.LiveLog{Said: int64(len(text)), Text: []byte(text)[max(0, len(text)-8):]})
			testkit.None(t, errors.Join(err, w.store.Leases.Put(t.Context(), runs.LiveName(key), b)))
		}
	}
	begins := func(w *world) {
		held, _, err := lease.New(w.store.Leases, slog.New(slog.DiscardHandler)).Take(t.Context(), key, lease.Claim{Run: "run", Step: "step.a.b"})
		testkit.None(t, err)
		w.held = held
	}
	log := func(w *world, text string) *artifacts.Log {
		return &artifacts.Log{Digest: storetest.Put(t, w.store, []byte(text)), Size: int64(len(text))}
	}
	ends := func(text string) func(*world) {
		return func(w *world) {
			out := storetest.Put(t, w.store, []byte("out"))
			storetest.Publish(t, w.store, artifacts.Result{Key: key, Preimage: []byte(`{}`), Log: log(w, text),
				Outputs: map[string]artifacts.Artifact{"out": {Type: "file", Digest: out, Size: 3}}, Finished: time.Now().UTC()})
			if w.held != nil {
				w.held.Release()
			}
		}
	}
	key = artifacts.KeyOf([]byte(`{}`))
	fails := func(text string) func(*world) {
		return func(w *world) {
			b, err := json.Marshal(runs.Failure{Format: "redsi-failure/1", RunID: "run", Step: "step.a.b", Key: key, Outcome: "failed", Error: "exit 1", Permanent: true, Log: log(w, text)})
			testkit.None(t, errors.Join(err, w.store.Records.Put(t.Context(), artifacts.FailedPrefix+"run/"+key.Hex(), b)))
			w.held.Release()
		}
	}
	nothing := func(*world) {}
	for name, c := range map[string]struct {
		events        []func(*world)
		printed, said string
		outcome, err  string
	}{
		"it has run": {events: []func(*world){ends("a\n")}, printed: "a\n", outcome: "ran"},
		"from its beginning": {events: []func(*world){nothing, func(w *world) { w.known = true }, nothing, nothing, nothing, nothing, begins, says("a\nb"), says("a\nb\nc\r"), nothing, ends("a\nb\nc\rd")},
			printed: "a\n|b\nc\r|d", said: "waiting for step.a.b to begin|following step.a.b of run run", outcome: "ran"},
		"it fails":         {events: []func(*world){begins, says("a\n"), fails("a\nb\n")}, printed: "a\n|b\n", said: "following step.a.b of run run", outcome: "failed"},
		"again":            {events: []func(*world){begins, says("a\nb\n"), says("a\n"), ends("a\nc\n")}, printed: "a\nb\n|a\n|c\n", said: "following step.a.b of run run|step.a.b was started again", outcome: "ran"},
		"again at its end": {events: []func(*world){begins, says("a\nb\n"), ends("a\nc\n")}, printed: "a\nb\n|a\nc\n", said: "following step.a.b of run run|step.a.b was started again", outcome: "ran"},
		"too fast":         {events: []func(*world){begins, says("0123456789\nabc\nde\n"), ends("0123456789\nabc\nde\n")}, printed: "\nabc\nde\n", said: "following step.a.b of run run|10 bytes came too fast to be shown; redsi logs has them when the step has ended", outcome: "ran"},
		"nobody runs it":   {events: []func(*world){func(w *world) { w.open = false }, nothing, nothing, nothing, nothing}, said: "waiting for step.a.b to begin", err: "is not running, and no run is open"},
		"its run is killed": {events: []func(*world){begins, says("a\n"), func(w *world) { w.open = false }, nothing, nothing, nothing, nothing, nothing, nothing}, printed: "a\n", said: "following step.a.b of run run",
			err: "no longer runs: run run is not open"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{store: mem.New(), open: true, known: name != "from its beginning"}
			var printed, said []string
			next := func() {
				if len(c.events) == 0 {
					t.Fatal("it does not end")
				}
				c.events[0](w)
				c.events = c.events[1:]
			}
			w.Follower = &Follower{
				Find: func(context.Context) (*artifacts.Resolver, string, artifacts.Digest, error) {
					if !w.known {
						return artifacts.Alone(w.store), "step.a.b", artifacts.Digest{}, nil
					}
					return artifacts.Alone(w.store), "step.a.b", key, nil
				},
				Open:  func(context.Context) bool { return w.open },
				Print: func(text []byte) error { printed = append(printed, string(text)); return nil },
				Say: func(text string) {
					text, _, _ = strings.Cut(text, " (process")
					said = append(said, text)
				},
				Pause: func(context.Context) error { next(); return nil },
			}
			next()
			l, err := w.Follow(t.Context())
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || c.err == "" && (err != nil || l.Outcome != c.outcome) {
				t.Fatalf("%+v, %v", l, err)
			}
			testkit.Is(t, strings.Join(printed, "|"), c.printed)
			testkit.Is(t, strings.Join(said, "|"), c.said, "said")
		})
	}
}

// TestRestOf: after so many bytes, what was kept of the others.
func TestRestOf(t *testing.T) {
	head, tail := bytes.Repeat([]byte("h"), runs.LogHead), []byte("0123456789")
	cut := bytes.Join([][]byte{head, runs.CutLine(100), tail}, nil)
	for n, want := range map[int64]string{int64(len(head)): string(runs.CutLine(100)) + "0123456789", int64(len(head)) + 50: "0123456789", int64(len(head)) + 103: "3456789", int64(len(head)) + 110: "", int64(len(head)) + 200: ""} {
		testkit.Is(t, string(restOf(cut, 100, n)), want, "after", n)
	}
	testkit.Deep(t, restOf([]byte("abc"), 0, 1), []byte("bc"))
}
