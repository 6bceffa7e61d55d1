package artifacts_test

import (
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestKeeps: what stays of old runs by their age, by a pin of a run, by a pin of results, and by a size.
func TestKeeps(t *testing.T) {
	c := newClock()
	s, rs := garbageStore(t, c)
	try := func(why, want string, o artifacts.GCOptions) artifacts.Garbage {
		t.Helper()
		o.Now, o.DryRun = c.now, true
		g := collect(t, s, o)
		if steps(g) != want {
			t.Errorf("%s: %q goes, want %q", why, steps(g), want)
		}
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

	errtest.None(t, artifacts.PutPin(t.Context(), s, artifacts.Pin{Name: "a run", Of: "1", Run: "1"}, nil))
	try("run 1 is kept", "E B D", old)
	errtest.None(t, artifacts.PutPin(t.Context(), s, artifacts.Pin{Name: "results", Of: "E"}, []artifacts.Digest{rs["E"].Key, rs["D"].Key}))
	try("E and D are kept", "B", old)
	pins, err := artifacts.Pins(t.Context(), s)
	if err != nil || len(pins) != 2 || pins[0].Name != "a run" || pins[1].Results != 2 {
		t.Errorf("%+v, %v", pins, err)
	}
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
	errtest.None(t, err)
	var bytes int64
	for b, err := range s.Blobs.List(t.Context()) {
		errtest.None(t, err)
		bytes += b.Size
	}
	if all.Bytes != bytes || all.Only == 0 || len(groups) != 3 {
		t.Errorf("%+v of %+v, want %d bytes", groups, all, bytes)
	}
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
		errtest.None(t, err)
		for _, p := range r.Problems {
			names += p.String() + "\n"
		}
		return r, names
	}
	all, allNames := read(1, 1)
	if all.Read != all.Blobs {
		t.Errorf("%d of %d read", all.Read, all.Blobs)
	}
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
