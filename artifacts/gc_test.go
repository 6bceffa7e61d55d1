package artifacts_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// clock is a time that tests move by hand.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)} }

const day = 24 * time.Hour

func putRecord(t *testing.T, s artifacts.Store, name, text string) {
	t.Helper()
	errtest.None(t, s.Records.Put(t.Context(), name, []byte(text)))
}

func blobSet(t *testing.T, s artifacts.Store) map[artifacts.Digest]bool {
	t.Helper()
	all := map[artifacts.Digest]bool{}
	for b, err := range s.Blobs.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all[b.Digest] = true
	}
	return all
}

// garbageStore holds one of everything, 30 days old, and returns its results.
//
//	run1 (old)  names A
//	run2 (new)  names B, whose output it shares with D
//	pin         names C by bare hex
//	nothing     names D (dear: 1 h), E (cheap: 1 s)
//	run2        also names X, which has a checkpoint and no result
func garbageStore(t *testing.T, c *clock) (artifacts.Store, map[string]artifacts.Result) {
	t.Helper()
	s := mem.NewAt(c.Now)
	rs := map[string]artifacts.Result{}
	for name, out := range map[string]string{"A": "a", "B": "shared", "C": "ccc", "D": "shared", "E": strings.Repeat("e", 100)} {
		outputs := map[string]string{"out": out, "log": "log of " + name}
		if name == "E" {
			delete(outputs, "log")
		}
		r := storetest.NewResult(t, s, name, outputs)
		r.Took = map[string]time.Duration{"D": time.Hour}[name] + time.Second
		rs[name] = r
		publish(t, artifacts.Alone(s), r)
	}
	x := artifacts.Sum([]byte("X"))
	storetest.Put(t, s, []byte("orphan"))
	putRecord(t, s, "runs/1/plan", `{"steps":[{"key":"`+rs["A"].Key.String()+`"}]}`)
	c.now = c.now.Add(time.Hour)
	putRecord(t, s, "runs/2/plan", `{"keys":["`+rs["B"].Key.String()+`","`+x.String()+`"],"hcl":"`+storetest.Put(t, s, []byte("hcl")).String()+`"}`)
	putRecord(t, s, "pins/v1", "step/"+rs["C"].Key.Hex())
	putRecord(t, s, "checkpoints/"+x.Hex()+"/5", `["`+storetest.Put(t, s, []byte("weights of X")).String()+`"]`)
	putRecord(t, s, "checkpoints/"+rs["B"].Key.Hex()+"/5", `["`+storetest.Put(t, s, []byte("weights of B")).String()+`"]`)
	loser := storetest.NewResult(t, s, "E", map[string]string{"out": "other"})
	if _, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), loser); err != nil || !nondet {
		t.Fatal(nondet, err)
	}
	c.now = c.now.Add(30 * day)
	return s, rs
}

func collect(t *testing.T, s artifacts.Store, o artifacts.GCOptions) artifacts.Garbage {
	t.Helper()
	g, err := artifacts.Collect(t.Context(), s, o)
	errtest.None(t, err)
	return g
}

func steps(g artifacts.Garbage) string {
	var all []string
	for _, r := range g.Results {
		all = append(all, strings.TrimPrefix(r.Step, "step."))
	}
	return strings.Join(all, " ")
}

func TestCollect(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name    string
		options artifacts.GCOptions
		dead    string // in order
		bytes   int64
		gone    []string // contents
		records int
	}{
		{"all runs", artifacts.GCOptions{}, "E D", 6 + 12 + 5 + 100 + 8,
			[]string{"orphan", "weights of B", "other", strings.Repeat("e", 100), "log of D"}, 2},
		{"the newest run", artifacts.GCOptions{KeepRuns: 1}, "E A D", 6 + 12 + 5 + 100 + 8 + 9,
			[]string{"orphan", "weights of B", "other", strings.Repeat("e", 100), "log of D", "a", "log of A"}, 2},
		{"enough runs", artifacts.GCOptions{KeepRuns: 9, Free: 30}, "E", 6 + 12 + 5 + 100,
			[]string{"orphan", "weights of B", "other", strings.Repeat("e", 100)}, 2},
		{"long grace", artifacts.GCOptions{Grace: 60 * day}, "", 0, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			clk := newClock()
			s, rs := garbageStore(t, clk)
			c.options.Now = clk.now
			before := blobSet(t, s)

			c.options.DryRun = true
			dry := collect(t, s, c.options)
			if got := blobSet(t, s); !maps.Equal(got, before) {
				t.Fatal("a dry run deleted blobs")
			}
			c.options.DryRun = false
			g := collect(t, s, c.options)
			if steps(g) != c.dead || g.Bytes != c.bytes || len(g.Records) != c.records {
				t.Errorf("results %q, %d bytes, %d records; want %q, %d, %d", steps(g), g.Bytes, len(g.Records), c.dead, c.bytes, c.records)
			}
			if steps(dry) != steps(g) || dry.Bytes != g.Bytes || dry.Kept != g.Kept {
				t.Errorf("the dry run said %q, %d bytes", steps(dry), dry.Bytes)
			}
			want := maps.Clone(before)
			for _, content := range c.gone {
				delete(want, artifacts.Sum([]byte(content)))
			}
			if got := blobSet(t, s); !maps.Equal(got, want) {
				t.Errorf("%d of %d blobs are left, want %d", len(got), len(before), len(want))
			}
			for name, r := range rs {
				hit, err := artifacts.Lookup(ctx, artifacts.Alone(s), r.Key)
				if dead := slices.Contains(strings.Fields(c.dead), name); err != nil || dead == (hit != nil) {
					t.Errorf("%s: hit %v, %v", name, hit != nil, err)
				}
			}
			if again := collect(t, s, c.options); c.options.Free == 0 && (again.Bytes != 0 || len(again.Results) != 0) {
				t.Errorf("a second collection found %q, %d bytes", steps(again), again.Bytes)
			}
		})
	}
}

func TestCollectPrice(t *testing.T) {
	clk := newClock()
	s, _ := garbageStore(t, clk)
	g := collect(t, s, artifacts.GCOptions{Now: clk.now, DryRun: true})
	if len(g.Results) != 2 {
		t.Fatalf("%+v", g.Results)
	}
	if r := g.Results[0]; r.Took != time.Second || r.Bytes != 100 || r.Finished.IsZero() {
		t.Errorf("cheap one: %+v", r)
	}
	if r := g.Results[1]; r.Took != time.Hour+time.Second || r.Bytes != 8 {
		t.Errorf("dear one: %+v", r)
	}
}

func TestCollectStops(t *testing.T) {
	clk := newClock()
	base, rs := garbageStore(t, clk)
	before := blobSet(t, base)
	broken := errors.New("the network is down")
	s, faults := storetest.Faulty(base)
	for _, m := range []storetest.Method{storetest.BlobsList, storetest.RecordsList, storetest.RecordsGet, storetest.BlobsMissing, storetest.RecordsDelete} {
		faults.Add(m, storetest.Fault{Err: broken})
		if _, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: clk.now}); !errors.Is(err, broken) {
			t.Errorf("%s fails: %v", m, err)
		}
		if got := blobSet(t, base); !maps.Equal(got, before) {
			t.Fatalf("%s failed, and blobs were deleted", m)
		}
	}
	newer := []byte(`{"format":"redsi.result/9"`)
	putRecord(t, base, artifacts.ResultName(rs["E"].Key), string(newer)+`,"seal":"`+artifacts.Sum(newer).String()+`"}`)
	var unknown *artifacts.FormatError
	if _, err := artifacts.Collect(t.Context(), base, artifacts.GCOptions{Now: clk.now}); !errors.As(err, &unknown) {
		t.Errorf("a result in a newer format: %v", err)
	}
}

// TestCollectNeverBreaksWhatIsNamed makes random stores and kills Collect at a
// random deletion: every result that is named stays a hit, and no result is left
// without its blobs.
func TestCollectNeverBreaksWhatIsNamed(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		clk := newClock()
		base := mem.NewAt(clk.Now)
		var all, named []artifacts.Result
		for i := range 20 {
			outputs := map[string]string{}
			for o := range rng.IntN(3) + 1 {
				outputs[fmt.Sprint("o", o)] = strings.Repeat("x", rng.IntN(12)) // shared often
			}
			r := storetest.NewResult(t, base, fmt.Sprint(i), outputs)
			r.Took = time.Duration(rng.IntN(100)) * time.Second
			publish(t, artifacts.Alone(base), r)
			if all = append(all, r); rng.IntN(3) == 0 {
				named = append(named, r)
				putRecord(t, base, fmt.Sprint("runs/", i), `"`+r.Key.String()+`"`)
			}
		}
		clk.now = clk.now.Add(30 * day)
		s, faults := storetest.Faulty(base)
		for _, m := range []storetest.Method{storetest.BlobsDelete, storetest.RecordsDelete} {
			faults.Add(m, make([]storetest.Fault, rng.IntN(8))...)
			faults.Add(m, storetest.Fault{Err: errors.New("killed")})
		}
		o := artifacts.GCOptions{Now: clk.now}
		if rng.IntN(2) == 0 {
			o.Free = int64(rng.IntN(60) + 1)
		}
		artifacts.Collect(t.Context(), s, o) // may fail: that is the point
		for _, r := range named {
			if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(base), r.Key); hit == nil || err != nil {
				t.Fatalf("seed %d: a named result is gone: %v", seed, err)
			}
		}
		for _, r := range all {
			entries, err := artifacts.Inspect(t.Context(), artifacts.Alone(base), []artifacts.Digest{r.Key})
			if e := entries[r.Key]; err != nil || len(e.Lost) > 0 {
				t.Fatalf("seed %d: a result without its blobs: %s, %v", seed, e.Miss(), err)
			}
		}
	}
}

// TestCollectLogs: logs are kept as long as the results that name them, and what is known
// of failures as long as their runs.
func TestCollectLogs(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	r := storetest.NewResult(t, s, "A", map[string]string{"out": "a"})
	r.Log = &artifacts.Log{Digest: storetest.Put(t, s, []byte("said")), Size: 4}
	r.Kept = []artifacts.File{{Name: "libraries", Digest: storetest.Put(t, s, []byte("list")), Size: 4}}
	publish(t, artifacts.Alone(s), r)
	failed := artifacts.Sum([]byte("failed"))
	of := map[string]artifacts.Digest{}
	for _, run := range []string{"1", "2", "none"} {
		of[run] = storetest.Put(t, s, []byte("said in "+run))
		putRecord(t, s, "failures/"+run+"/"+failed.Hex(), `{"log":{"digest":"`+of[run].String()+`"},"names":"`+r.Key.String()+`"}`)
	}
	putRecord(t, s, "runs/1", "{}")
	c.now = c.now.Add(time.Hour)
	putRecord(t, s, "runs/2", `{"steps":[{"key":"`+r.Key.String()+`"}]}`)
	c.now = c.now.Add(30 * day)
	left := func(o artifacts.GCOptions, want ...artifacts.Digest) {
		t.Helper()
		o.Now = c.now
		errtest.None(t, errtest.Of(artifacts.Collect(t.Context(), s, o)))
		have := blobSet(t, s)
		for _, d := range want {
			if !have[d] {
				t.Errorf("%s is gone", d)
			}
		}
		if len(have) != len(want)+1 { // the result's output
			t.Errorf("%d blobs, want %d", len(have), len(want)+1)
		}
	}
	left(artifacts.GCOptions{}, r.Log.Digest, r.Kept[0].Digest, of["1"], of["2"])
	left(artifacts.GCOptions{KeepRuns: 1}, r.Log.Digest, r.Kept[0].Digest, of["2"])
	putRecord(t, s, "runs/2", "{}") // a failure keeps no result
	g, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: c.now, DryRun: true, Grace: 1, KeepRuns: 2})
	if err != nil || len(g.Results) != 1 || len(g.Blobs) != 3 {
		t.Errorf("%+v, %v", g, err)
	}

	// A result without its log is a hit still.
	errtest.None(t, s.Blobs.Delete(t.Context(), r.Log.Digest))
	if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key); err != nil || hit == nil {
		t.Error(hit, err)
	}
}
