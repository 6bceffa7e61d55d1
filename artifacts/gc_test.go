package artifacts_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// clock is a time that tests move by hand.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)} }

const day = 24 * time.Hour

func putRecord(t *testing.T, s artifacts.Store, name, text string) {
	t.Helper()
	testkit.None(t, s.Records.Put(t.Context(), name, []byte(text)))
}

func blobSet(t *testing.T, s artifacts.Store) map[artifacts.Digest]bool {
	t.Helper()
	all := map[artifacts.Digest]bool{}
	for b, err := range s.Blobs.List(t.Context()) {
		testkit.None(t, err)
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
	testkit.None(t, err)
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
			for _, r := range g.Results {
				took, bytes := time.Second, map[string]int64{"A": 9, "D": 8, "E": 100}[strings.TrimPrefix(r.Step, "step.")]
				if r.Step == "step.D" {
					took += time.Hour
				}
				testkit.That(t, r.Took == took && r.Bytes == bytes && !r.Finished.IsZero(), r)
			}
			if steps(dry) != steps(g) || dry.Bytes != g.Bytes || dry.Kept != g.Kept {
				t.Errorf("the dry run said %q, %d bytes", steps(dry), dry.Bytes)
			}
			want := maps.Clone(before)
			for _, content := range c.gone {
				delete(want, artifacts.Sum([]byte(content)))
			}
			testkit.Deep(t, blobSet(t, s), want, len(before), len(want))
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

func TestCollectStops(t *testing.T) {
	clk := newClock()
	base, rs := garbageStore(t, clk)
	before := blobSet(t, base)
	broken := errors.New("the network is down")
	s, faults := storetest.Faulty(base)
	for _, m := range []storetest.Method{storetest.BlobsList, storetest.RecordsList, storetest.RecordsGet, storetest.BlobsMissing, storetest.RecordsDelete} {
		faults.Add(m, storetest.Fault{Err: broken})
		testkit.ErrIs(t, testkit.Err(artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: clk.now})), broken, m)
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
		testkit.None(t, testkit.Err(artifacts.Collect(t.Context(), s, o)))
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
	testkit.That(t, err == nil && len(g.Results) == 1 && len(g.Blobs) == 3, g, err)

	// A result without its log is a hit still.
	testkit.None(t, s.Blobs.Delete(t.Context(), r.Log.Digest))
	if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key); err != nil || hit == nil {
		t.Error(hit, err)
	}
}

// TestKeeps: what stays of old runs by their age, by a pin of a run, by a pin of results, and by a size.
func TestKeeps(t *testing.T) {
	c := newClock()
	s, rs := garbageStore(t, c)
	try := func(why, want string, o artifacts.GCOptions) artifacts.Garbage {
		t.Helper()
		o.Now, o.DryRun = c.now, true
		g := collect(t, s, o)
		testkit.Is(t, steps(g), want, why)
		return g
	}
	year, month := 365*day, 30*day
	old := artifacts.GCOptions{KeepWithin: month}
	try("both runs are younger", "E D", artifacts.GCOptions{KeepWithin: year})
	try("run 1 is older", "E A D", artifacts.GCOptions{KeepWithin: month + time.Minute})
	try("both are older", "E B A D", old)
	try("the newest of the older ones", "E A D", artifacts.GCOptions{KeepWithin: month, KeepRuns: 1})

	total := try("enough room", "", artifacts.GCOptions{Max: 1 << 30}).Kept
	if g := try("30 bytes too many", "E", artifacts.GCOptions{Max: total - 30, KeepRuns: 9}); g.Kept > total-30 {
		t.Errorf("%d bytes of %d stay", g.Kept, total)
	}
	try("30 bytes too many, 5 asked for", "", artifacts.GCOptions{Max: total - 30, Free: 5})

	testkit.None(t, artifacts.PutPin(t.Context(), s, artifacts.Pin{Name: "a run", Of: "1", Run: "1"}, nil))
	try("run 1 is kept", "E B D", old)
	testkit.None(t, artifacts.PutPin(t.Context(), s, artifacts.Pin{Name: "results", Of: "E"}, []artifacts.Digest{rs["E"].Key, rs["D"].Key}))
	try("E and D are kept", "B", old)
	pins, err := artifacts.Pins(t.Context(), s)
	testkit.That(t, err == nil && len(pins) == 2 && pins[0].Name == "a run" && pins[1].Results == 2, pins, err)
}

// TestUsages: bytes that groups share are of each, and only of none; what no result names is of the store.
func TestUsages(t *testing.T) {
	c := newClock()
	s, _ := garbageStore(t, c)
	groups, all, err := artifacts.Usages(t.Context(), s, func(step string, runs []string) []string {
		if len(runs) == 0 {
			return []string{"none"}
		}
		return runs
	}, nil)
	testkit.None(t, err)
	var bytes int64
	for b, err := range s.Blobs.List(t.Context()) {
		testkit.None(t, err)
		bytes += b.Size
	}
	testkit.That(t, all.Bytes == bytes && all.Only != 0 && len(groups) == 3, groups, "of", all, "want", bytes, "bytes")
	sum := all.Only
	for _, g := range groups {
		sum += g.Bytes
	}
	one, _, err := artifacts.Usages(t.Context(), s, func(string, []string) []string { return []string{"a", "b"} }, nil)
	if err != nil || len(one) != 2 || one[0].Only != 0 || one[0].Bytes != bytes-all.Only {
		t.Errorf("two groups of the same: %+v, %v", one, err)
	}
	if sum < bytes {
		t.Errorf("groups and the rest have %d of %d bytes", sum, bytes)
	}
}

// TestCheckSample: a share of the blobs is read, the same for the same seed, and a blob that is gone is found
// without reading.
func TestCheckSample(t *testing.T) {
	s, _, _ := brokenStore(t)
	read := func(share float64, seed uint64) (r artifacts.Report, names string) {
		t.Helper()
		r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Sample: share, Seed: seed})
		testkit.None(t, err)
		for _, p := range r.Problems {
			names += p.String() + "\n"
		}
		return r, names
	}
	all, allNames := read(1, 1)
	testkit.Is(t, all.Read, all.Blobs)
	some, _ := read(0.5, 1)
	if some.Read != 6 || some.Blobs != 11 || some.Bytes >= all.Bytes || some.Results != all.Results {
		t.Errorf("half: %+v", some)
	}
	if _, again := read(1, 2); again != allNames {
		t.Errorf("all by another seed: %s; want %s", again, allNames)
	}
	if again, _ := read(0.5, 1); again.Bytes != some.Bytes {
		t.Errorf("the same seed read %d and %d bytes", again.Bytes, some.Bytes)
	}
}

// bigResult publishes a result with one output of that many bytes, and says when it ended.
func bigResult(t *testing.T, s artifacts.Store, name string, c string, minute int) artifacts.Result {
	t.Helper()
	r := storetest.NewResult(t, s, name, map[string]string{"out": strings.Repeat(c, 5000)})
	r.Finished = r.Finished.Add(time.Duration(minute) * time.Minute)
	publish(t, artifacts.Alone(s), r)
	return r
}

func release(t *testing.T, s artifacts.Store, rs ...artifacts.Result) artifacts.Freed {
	t.Helper()
	var keys []artifacts.Digest
	for _, r := range rs {
		keys = append(keys, r.Key)
	}
	freed, err := artifacts.Release(t.Context(), s, keys, nil, func(name string, _ []byte) bool { return strings.HasPrefix(name, "runs/mine") })
	testkit.None(t, err)
	return freed
}

// released reports whether a result is there without its bytes.
func released(t *testing.T, s *artifacts.Resolver, r artifacts.Result) bool {
	t.Helper()
	known, err := artifacts.LookupKnown(t.Context(), s, []artifacts.Digest{r.Key})
	if err != nil || known[r.Key] == nil {
		t.Fatalf("%+v, %v", known, err)
	}
	return known[r.Key].Released
}

// TestReleaseKeepsWhatOthersName: a key that a root names, and bytes that any record names.
func TestReleaseKeepsWhatOthersName(t *testing.T) {
	for name, c := range map[string]struct {
		record, text string
		held         int
		goes         bool
	}{
		"nothing":              {"", "", 0, true},
		"a run of the own":     {"runs/mine", "KEY", 0, true},
		"a run of another one": {"runs/other", "KEY", 1, false},
		"a pin":                {"pins/v1", "KEY", 1, false},
		"a pin of the bytes":   {"pins/v1", "BYTES", 0, false},
		"a failure":            {"failures/r/x", "BYTES", 0, false},
		"what is about it":     {"attestations/KEY/x", "BYTES", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := mem.New()
			r := bigResult(t, s, "r", "r", 0)
			if c.record != "" {
				with := strings.NewReplacer("KEY", r.Key.Hex(), "BYTES", r.Outputs["out"].Digest.Hex())
				putRecord(t, s, with.Replace(c.record), `{"is":"`+with.Replace(c.text)+`"}`)
			}
			freed := release(t, s, r)
			if (freed.Results == 1) != c.goes || released(t, artifacts.Alone(s), r) != c.goes || freed.Held != c.held || c.held > 0 && freed.For != c.record+" names their results" {
				t.Fatalf("%+v, released: %v", freed, released(t, artifacts.Alone(s), r))
			}
		})
	}
}

// TestReleaseOfOneWork: bytes that two results share go when both do, and those of one work
// that is filed under two keys with either.
func TestReleaseOfOneWork(t *testing.T) {
	s := mem.New()
	a, b := bigResult(t, s, "a", "x", 0), bigResult(t, s, "b", "x", 1)
	if freed := release(t, s, a); freed.Results != 0 || released(t, artifacts.Alone(s), a) {
		t.Fatalf("%+v, though b has the same bytes", freed)
	}
	if freed := release(t, s, a, b); freed.Results != 1 || freed.Bytes != 5000 || !released(t, artifacts.Alone(s), a) || !released(t, artifacts.Alone(s), b) {
		t.Fatalf("%+v", freed)
	}
	pinned, before := bigResult(t, s, "pinned", "y", 2), bigResult(t, s, "before", "y", 2)
	before.Key, before.Preimage = artifacts.KeyOf([]byte(`{"is":1}`)), []byte(`{"is":1}`)
	before.Origin = pinned.Origin
	publish(t, artifacts.Alone(s), before)
	testkit.None(t, artifacts.DropResult(t.Context(), s, storetest.NewResult(t, s, "before", nil).Key))
	if freed := release(t, s, pinned); freed.Results != 1 || !released(t, artifacts.Alone(s), pinned) || !released(t, artifacts.Alone(s), before) {
		t.Fatalf("%+v", freed)
	}
}

// TestReleasedInUpkeep: a released result is no problem, is copied as what it is, and goes, with
// the record that says so, when nothing names it.
func TestReleasedInUpkeep(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	r := bigResult(t, s, "r", "r", 0)
	release(t, s, r)
	report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: true})
	if err != nil || len(report.Problems) > 0 || report.Released != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	to := mem.New()
	for range 2 {
		tr := &artifacts.Transfer{From: s.Reader(), To: to}
		testkit.None(t, tr.Results(t.Context(), []artifacts.Digest{r.Key}))
		if done := tr.Done(); done.Released != 1 || len(done.Lost) > 0 || !released(t, artifacts.Alone(to), r) {
			t.Fatalf("%+v", done)
		}
	}
	behind := artifacts.With(mem.New(), []artifacts.Other{{Name: "there", Reader: to.Reader()}}, artifacts.Policy{Foreign: artifacts.UseUntrusted})
	if !released(t, behind, r) {
		t.Fatal("what another store has of it is not used")
	}
	if hit, err := artifacts.Lookup(t.Context(), behind, r.Key); hit != nil || err != nil {
		t.Fatalf("%+v, %v", hit, err)
	}

	c.now = c.now.Add(30 * day)
	if g := collect(t, s, artifacts.GCOptions{}); len(g.Results) != 1 || g.Results[0].Bytes != 0 {
		t.Fatalf("%+v", g)
	}
	if _, err := s.Records.Get(t.Context(), artifacts.ReleasedName(r.Key)); !errors.Is(err, artifacts.ErrNotExist) {
		t.Fatal(err)
	}
}

// TestCollectAfterAKill: what a release that was killed has left of a result, which a run names,
// is garbage.
func TestCollectAfterAKill(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	r := storetest.NewResult(t, s, "r", map[string]string{"a": strings.Repeat("a", 5000), "b": strings.Repeat("b", 5000)})
	publish(t, artifacts.Alone(s), r)
	putRecord(t, s, "runs/mine", r.Key.Hex())
	broken := s
	broken.Blobs = &killed{Blobs: s.Blobs}
	if _, err := artifacts.Release(t.Context(), broken, []artifacts.Digest{r.Key}, nil, func(string, []byte) bool { return true }); err == nil {
		t.Fatal("not killed")
	}
	if !released(t, artifacts.Alone(s), r) || len(blobSet(t, s)) != 1 {
		t.Fatalf("%d blobs left", len(blobSet(t, s)))
	}
	c.now = c.now.Add(30 * day)
	if g := collect(t, s, artifacts.GCOptions{}); len(g.Results) != 0 || g.Bytes != 5000 {
		t.Fatalf("%+v", g)
	}
	if !released(t, artifacts.Alone(s), r) || len(blobSet(t, s)) != 0 {
		t.Fatal("its record, or its bytes, are not what they should be")
	}
}

// killed are blobs of which one is deleted, and then no other.
type killed struct {
	artifacts.Blobs
	once atomic.Bool
}

func (k *killed) Delete(ctx context.Context, d artifacts.Digest) error {
	if k.once.Swap(true) {
		return errors.New("killed")
	}
	return k.Blobs.Delete(context.WithoutCancel(ctx), d) // which the failure of another ends
}
