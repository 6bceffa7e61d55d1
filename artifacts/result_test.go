package artifacts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// example is a result with every field set, its blobs stored in s.
func example(t *testing.T, s artifacts.Store) artifacts.Result {
	t.Helper()
	r := storetest.NewResult(t, s, "example", map[string]string{"counts": "<b>&amp;</b>"})
	a := storetest.Put(t, s, []byte("shard"))
	r.Outputs["records"] = tree(t, artifacts.File{Name: "train/0.zst", Digest: a, Size: 5})
	r.Took = 1234567891 * time.Nanosecond
	return r
}

func publish(t *testing.T, s *artifacts.Resolver, r artifacts.Result) {
	t.Helper()
	if _, nondet, err := artifacts.Publish(t.Context(), s, r); err != nil || nondet {
		t.Fatalf("Publish: %v, %v", nondet, err)
	}
}

func stored(t *testing.T, s artifacts.Store, key artifacts.Digest) []byte {
	t.Helper()
	b, err := s.Records.Get(t.Context(), artifacts.ResultName(key))
	testkit.None(t, err)
	return b
}

// TestResultGolden pins the format of records, with and without what a step used: stores outlive versions of redsi.
func TestResultGolden(t *testing.T) {
	for golden, used := range map[string]*artifacts.Used{"result.json": nil, "result-used.json": {CPU: 12.5, CPUOf: artifacts.CPUOfProgram, Memory: 1 << 30,
		MemoryOf: artifacts.MemoryOfProgram, Read: 5, Written: 17, Card: "A card", CardMemory: 1 << 20, Energy: 99.25, EnergyOf: "processors", Beside: 2}} {
		s := mem.New()
		r := example(t, s)
		r.Used = used
		publish(t, artifacts.Alone(s), r)
		goldens.Same(t, filepath.Join("testdata", golden), string(stored(t, s, r.Key)))
		back, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key)
		if err != nil || back == nil {
			t.Fatalf("Lookup = %v, %v", back, err)
		}
		r.Format = artifacts.ResultFormat
		a, _ := json.Marshal(r)
		b, _ := json.Marshal(back)
		if !bytes.Equal(a, b) || back.Took != r.Took || !reflect.DeepEqual(back.Used, used) {
			t.Errorf("back\n%s\nwant\n%s", b, a)
		}
	}
}

// TestResultSeal flips every bit of a record, one at a time: none of them may be
// served, and each must be told.
func TestResultSeal(t *testing.T) {
	s := mem.New()
	r := example(t, s)
	publish(t, artifacts.Alone(s), r)
	good := stored(t, s, r.Key)
	name := artifacts.ResultName(r.Key)
	for bit := range len(good) * 8 {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		testkit.None(t, s.Records.Put(t.Context(), name, bad))
		entries, err := artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
		if e := entries[r.Key]; err != nil || e.Hit() || e.Damage == nil {
			t.Fatalf("bit %d of byte %d, %q: a hit, %v", bit%8, bit/8, bad[max(0, bit/8-10):bit/8+1], err)
		}
	}
	for n := range good {
		testkit.None(t, s.Records.Put(t.Context(), name, good[:n]))
		if got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key); got != nil || err != nil {
			t.Fatalf("the first %d bytes: %v, %v", n, got, err)
		}
	}
}

func TestMissReasons(t *testing.T) {
	ctx := t.Context()
	s := mem.New()
	r := example(t, s)
	miss := func() string {
		t.Helper()
		entries, err := artifacts.Inspect(ctx, artifacts.Alone(s), []artifacts.Digest{r.Key, r.Key})
		if err != nil || len(entries) != 1 {
			t.Fatalf("Inspect = %v, %v", entries, err)
		}
		return entries[r.Key].Miss()
	}
	testkit.Is(t, miss(), "no result", "nothing stored")
	publish(t, artifacts.Alone(s), r)
	testkit.Is(t, miss(), "", "a hit")
	shard := r.Outputs["records"].Files[0].Digest
	testkit.None(t, s.Blobs.Delete(ctx, shard))
	if got, want := miss(), "lost from the store: train/0.zst of output records ("+shard.String()+")"; got != want {
		t.Errorf("one blob lost: %q, want %q", got, want)
	}
	testkit.None(t, s.Blobs.Delete(ctx, r.Outputs["counts"].Digest))
	if got := miss(); !strings.HasPrefix(got, "lost from the store: output counts") || !strings.HasSuffix(got, "and 1 more") {
		t.Errorf("both blobs lost: %q", got)
	}
	testkit.None(t, s.Records.Put(ctx, artifacts.ResultName(r.Key), []byte("{")))
	testkit.Says(t, miss(), "damaged")
}

// TestLookupMany looks 300 keys up with one question about blobs.
func TestLookupMany(t *testing.T) {
	base := mem.New()
	var keys []artifacts.Digest
	for i := range 300 {
		r := storetest.NewResult(t, base, string(rune('a'+i)), map[string]string{"out": "shared"})
		if keys = append(keys, r.Key); i%3 == 0 {
			publish(t, artifacts.Alone(base), r)
		}
	}
	s, faults := storetest.Faulty(base)
	hits, err := artifacts.LookupMany(t.Context(), artifacts.Alone(s), keys)
	if err != nil || len(hits) != 100 {
		t.Fatalf("%d hits, %v; want 100", len(hits), err)
	}
	testkit.Is(t, faults.Calls(storetest.BlobsMissing), 1, "calls of Missing 1")
	broken := errors.New("the network is down")
	for _, m := range []storetest.Method{storetest.RecordsGet, storetest.BlobsMissing} {
		faults.Add(m, storetest.Fault{Err: broken})
		if hits, err := artifacts.LookupMany(t.Context(), artifacts.Alone(s), keys); !errors.Is(err, broken) || hits != nil {
			t.Errorf("%s fails: %d hits, %v; an outage must not look like a miss", m, len(hits), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	faults.Add(storetest.RecordsGet, storetest.Fault{Before: cancel})
	if hits, err := artifacts.LookupMany(ctx, artifacts.Alone(s), keys); !errors.Is(err, context.Canceled) || hits != nil {
		t.Errorf("cancelled: %d hits, %v", len(hits), err)
	}
}

// TestDamageOnTheWay reads a record again whose bytes were changed between the
// store and here; one that is damaged in the store stays so.
func TestDamageOnTheWay(t *testing.T) {
	s := mem.New()
	r := example(t, s)
	publish(t, artifacts.Alone(s), r)
	s, faults := storetest.Faulty(s)
	flip := storetest.Fault{Flip: true, FlipAt: 40}
	faults.Add(storetest.RecordsGet, flip, flip)
	e, err := artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
	testkit.That(t, err == nil && e[r.Key].Hit(), "flipped twice", err, e[r.Key].Miss())
	for i := range 10 {
		faults.Add(storetest.RecordsGet, storetest.Fault{Flip: true, FlipAt: int64(40 + i)})
	}
	if e, err = artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key}); err == nil || !strings.Contains(err.Error(), "changed on the way") {
		t.Errorf("flipped in another place each time: %v, %s", err, e[r.Key].Miss())
	}
	faults.Add(storetest.RecordsGet, slices.Repeat([]storetest.Fault{flip}, 1000)...)
	e, err = artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
	testkit.That(t, err == nil && e[r.Key].Damage != nil, "always flipped", err, e[r.Key].Miss())
}

// TestUsedWithParts: sums are there only if all terms are.
func TestUsedWithParts(t *testing.T) {
	part := func(u artifacts.Used) artifacts.Result { return artifacts.Result{Used: &u} }
	own := &artifacts.Used{CPU: 1, CPUOf: artifacts.CPUOfStep, Memory: 10, MemoryOf: artifacts.MemoryOfProcess, Read: 3, Written: 4, Energy: 2, EnergyOf: "processors"}
	for name, c := range map[string]struct {
		parts []artifacts.Result
		want  *artifacts.Used
	}{
		"none": {nil, own},
		"all":  {[]artifacts.Result{part(*own), part(*own)}, &artifacts.Used{CPU: 3, CPUOf: artifacts.CPUOfStep, Memory: 10, MemoryOf: artifacts.MemoryOfProcess, Read: 9, Written: 12, Energy: 6, EnergyOf: "processors"}},
		"no processor time of one": {[]artifacts.Result{part(artifacts.Used{Memory: 70, MemoryOf: artifacts.MemoryOfProgram, Beside: 2, Card: "x", CardMemory: 8})},
			&artifacts.Used{Memory: 70, MemoryOf: artifacts.MemoryOfProgram, Read: 3, Written: 4, Beside: 2, Card: "x", CardMemory: 8}},
		"of the process": {[]artifacts.Result{part(artifacts.Used{CPU: 5, CPUOf: artifacts.CPUOfProcess, Read: 1})},
			&artifacts.Used{CPU: 6, CPUOf: artifacts.CPUOfProcess, Read: 4, Written: 4}},
		"not measured": {[]artifacts.Result{part(*own), {}}, nil},
	} {
		testkit.Deep(t, own.With(c.parts), c.want, name)
	}
	for of, want := range map[string]int64{artifacts.MemoryOfStep: 7, artifacts.MemoryOfProgram: 7, artifacts.MemoryOfProcess: 0, "": 0} {
		if r := part(artifacts.Used{Memory: 7, MemoryOf: of}); r.Memory() != want {
			t.Errorf("memory of %q: %d, want %d", of, r.Memory(), want)
		}
	}
	var none *artifacts.Used
	if none.With([]artifacts.Result{part(*own)}) != nil || none.Own() || !own.Own() {
		t.Error("of a step that was not measured nothing is known")
	}
}

func records(t *testing.T, s artifacts.Store, prefix string) []string {
	t.Helper()
	var names []string
	for r, err := range s.Records.List(t.Context(), prefix) {
		testkit.None(t, err)
		names = append(names, r.Name)
	}
	return names
}

func TestPublishRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s artifacts.Store, r *artifacts.Result)
		want   string
	}{
		"no key":        {func(_ artifacts.Store, r *artifacts.Result) { r.Key = artifacts.Digest{} }, "no key"},
		"another key":   {func(_ artifacts.Store, r *artifacts.Result) { r.Key = artifacts.Sum([]byte("another")) }, "its preimage has the key"},
		"no preimage":   {func(_ artifacts.Store, r *artifacts.Result) { r.Preimage = nil }, "preimage"},
		"bad preimage":  {func(_ artifacts.Store, r *artifacts.Result) { r.Preimage = json.RawMessage("{") }, "preimage"},
		"bad tree":      {func(_ artifacts.Store, r *artifacts.Result) { r.Outputs["records"].Files[0].Name = "x" }, "records"},
		"no digest":     {func(_ artifacts.Store, r *artifacts.Result) { r.Outputs["counts"] = artifacts.Artifact{} }, "counts"},
		"other format":  {func(_ artifacts.Store, r *artifacts.Result) { r.Format = "redsi.result/9" }, "redsi.result/9"},
		"negative time": {func(_ artifacts.Store, r *artifacts.Result) { r.Took = -1 }, "took"},
		"a blob is not stored": {func(s artifacts.Store, r *artifacts.Result) {
			s.Blobs.Delete(context.Background(), r.Outputs["records"].Files[0].Digest)
		}, "train/0.zst of output records"},
	} {
		s := mem.New()
		r := example(t, s)
		c.change(s, &r)
		won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r)
		if won != nil || nondet || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, %v; want an error about %q", name, won, nondet, err, c.want)
		}
		testkit.Is(t, len(records(t, s, "")), 0, name)
	}
}

func TestPublishFirstWins(t *testing.T) {
	s := mem.New()
	first := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	publish(t, artifacts.Alone(s), first)
	before := stored(t, s, first.Key)

	again := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	again.Origin.RunID = "run-2"
	won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), again)
	if err != nil || nondet || won.Origin.RunID != "run-1" {
		t.Fatalf("the same outputs again: %+v, %v, %v", won, nondet, err)
	}
	other := storetest.NewResult(t, s, "k", map[string]string{"out": "two"})
	for range 2 { // also when published again
		won, nondet, err = artifacts.Publish(t.Context(), artifacts.Alone(s), other)
		if err != nil || !nondet || won.OutputsDigest() != first.OutputsDigest() {
			t.Fatalf("other outputs: %+v, %v, %v", won, nondet, err)
		}
	}
	testkit.Is(t, string(stored(t, s, first.Key)), string(before))
	want := []string{artifacts.NondeterminismName(other.Key, other.OutputsDigest())}
	testkit.Deep(t, records(t, s, "nondeterminism/"), want)
}

// TestPublishReplaces checks that a result that cannot be used gives way.
func TestPublishReplaces(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(s artifacts.Store, r artifacts.Result)
		out    string
		nondet bool
	}{
		"damaged": {func(s artifacts.Store, r artifacts.Result) {
			s.Records.Put(context.Background(), artifacts.ResultName(r.Key), []byte(`{"format":"redsi.result/1"}`))
		}, "two", false},
		"lost blob": {func(s artifacts.Store, r artifacts.Result) {
			s.Blobs.Delete(context.Background(), r.Outputs["out"].Digest)
		}, "two", true},
		"lost blob, same output": {func(s artifacts.Store, r artifacts.Result) {
			s.Blobs.Delete(context.Background(), r.Outputs["out"].Digest)
		}, "one", false},
	} {
		s := mem.New()
		first := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
		publish(t, artifacts.Alone(s), first)
		c.spoil(s, first)
		second := storetest.NewResult(t, s, "k", map[string]string{"out": c.out})
		won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), second)
		if err != nil || nondet != c.nondet || won.OutputsDigest() != second.OutputsDigest() {
			t.Errorf("%s: %+v, %v, %v", name, won, nondet, err)
		}
		got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), second.Key)
		if err != nil || got == nil || got.OutputsDigest() != second.OutputsDigest() {
			t.Errorf("%s: then Lookup = %+v, %v", name, got, err)
		}
	}
}

// TestPublishFaults breaks each call that Publish makes, once before and once
// after it took effect. Whatever breaks: nothing is filed that is not whole, and
// publishing again ends as if nothing had happened.
func TestPublishFaults(t *testing.T) {
	broken := errors.New("connection reset")
	for _, c := range []struct {
		name    string
		outputs []string // published before
		blobs   bool     // the first one's blob is lost
	}{
		{name: "into nothing"},
		{name: "over the same", outputs: []string{"new"}},
		{name: "over another", outputs: []string{"old"}},
		{name: "over an incomplete one", outputs: []string{"old"}, blobs: true},
	} {
		for _, m := range []storetest.Method{storetest.BlobsMissing, storetest.RecordsGet, storetest.RecordsCreate, storetest.RecordsReplace} {
			for skip := range 3 {
				for _, done := range []bool{false, true} {
					base := mem.New()
					for _, out := range c.outputs {
						r := storetest.NewResult(t, base, "k", map[string]string{"out": out})
						publish(t, artifacts.Alone(base), r)
						if c.blobs {
							base.Blobs.Delete(t.Context(), r.Outputs["out"].Digest)
						}
					}
					r := storetest.NewResult(t, base, "k", map[string]string{"out": "new"})
					s, faults := storetest.Faulty(base)
					faults.Add(m, make([]storetest.Fault, skip)...)
					faults.Add(m, storetest.Fault{Err: broken, Done: done})
					won, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r)
					if len(faults.Pending()) > 0 {
						continue // this path makes fewer such calls
					}
					testkit.That(t, errors.Is(err, broken) && won == nil, c.name, m, "fails", won, err)
					won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r)
					testkit.None(t, err, c.name, m)
					got, err := artifacts.Lookup(t.Context(), artifacts.Alone(base), r.Key)
					if err != nil || got == nil || got.OutputsDigest() != won.OutputsDigest() {
						t.Errorf("%s, %s fails: Lookup = %+v, %v; won %+v", c.name, m, got, err, won)
					}
					old := len(c.outputs) > 0 && c.outputs[0] == "old"
					keeps := old && !c.blobs
					if keeps == (got.OutputsDigest() == r.OutputsDigest()) || keeps != nondet && !c.blobs {
						t.Errorf("%s, %s fails: non-deterministic %v, outputs %v", c.name, m, nondet, got.Outputs)
					}
					if n := len(records(t, base, "nondeterminism/")); old != (n == 1) {
						t.Errorf("%s, %s fails: %d records of non-determinism", c.name, m, n)
					}
				}
			}
		}
	}
}

// A result in a format of another redsi, or under a key of one, is not damaged: nothing takes it for a hit, writes over it or
// collects it.
func TestOtherFormats(t *testing.T) {
	s := mem.New()
	r := example(t, s)
	for format, body := range map[string]string{
		"redsi.result/9": `{"format":"redsi.result/9"`,
		"redsi-key/9": fmt.Sprintf(`{"format":%q,"key":%q,"preimage":{"format":"redsi-key/9"},"outputs":{},"finished":"2026-11-21T12:00:00Z","origin":{},"took_s":1`,
			artifacts.ResultFormat, r.Key),
	} {
		record := fmt.Sprintf(`%s,"seal":%q}`, body, artifacts.Sum([]byte(body)))
		putRecord(t, s, artifacts.ResultName(r.Key), record)
		found, err := artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
		e := found[r.Key]
		var other *artifacts.FormatError
		reads := map[string]string{"redsi.result/9": artifacts.ResultFormat, "redsi-key/9": artifacts.KeyFormat}[format]
		if err != nil || e.Hit() || !errors.As(e.Damage, &other) || other.Format != format || other.Reads != reads || strings.Contains(e.Miss(), "damaged") || !strings.Contains(e.Miss(), format) {
			t.Errorf("%s: it is looked up as %+v: %v", format, e, err)
		}
		if _, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); !errors.As(err, &other) || string(stored(t, s, r.Key)) != record {
			t.Errorf("%s: it is written over: %v", format, err)
		}
		if _, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{}); !errors.As(err, &other) {
			t.Errorf("%s: it is collected: %v", format, err)
		}
	}
}

// largeResult is that of a step that leaves a tree of 12,000 files.
func largeResult(t *testing.T, s artifacts.Store) artifacts.Result {
	t.Helper()
	r := storetest.NewResult(t, s, "large", map[string]string{"log": "log"})
	files := make([]artifacts.File, 12000)
	for i := range files {
		text := fmt.Sprintf("file %d", i%100)
		files[i] = artifacts.File{Name: fmt.Sprintf("folder/file-%05d.txt", i), Digest: storetest.Put(t, s, []byte(text)), Size: int64(len(text))}
	}
	tree, err := artifacts.Tree("files", files)
	testkit.None(t, err)
	r.Outputs["out"] = tree
	return r
}

// TestLargeResult: a result whose record would be too large is published, read
// back, verified and kept as any other. Without its body it is a miss, and gives way to the next one.
func TestLargeResult(t *testing.T) {
	s := mem.New()
	r := largeResult(t, s)
	before := blobSet(t, s)
	if won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); err != nil || nondet || won.Key != r.Key {
		t.Fatal(won, nondet, err)
	}
	raw, err := s.Records.Get(t.Context(), artifacts.ResultName(r.Key))
	if err != nil || len(raw) > 1000 {
		t.Fatalf("the record has %d bytes, %v", len(raw), err)
	}
	got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	if !reflect.DeepEqual(got.Outputs, r.Outputs) || string(got.Preimage) != string(r.Preimage) {
		t.Error("it does not read back")
	}
	if won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); err != nil || nondet || won == nil {
		t.Fatal("a second time:", won, nondet, err)
	}
	putRecord(t, s, "runs/1", `{"key":"`+r.Key.String()+`"}`)
	g := collect(t, s, artifacts.GCOptions{Grace: 1, Now: time.Now().Add(time.Hour)})
	if len(g.Results) != 0 || len(g.Blobs) != 0 {
		t.Fatalf("garbage collection took %d results and %d blobs of it", len(g.Results), len(g.Blobs))
	}
	check := func(problems int) {
		t.Helper()
		if report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(report.Problems) != problems {
			t.Fatal(report.Problems, err)
		}
	}
	check(0)
	for d := range blobSet(t, s) {
		if !before[d] {
			testkit.None(t, s.Blobs.Delete(t.Context(), d))
		}
	}
	entries, err := artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
	if e := entries[r.Key]; err != nil || e.Hit() || !strings.Contains(e.Miss(), "body") {
		t.Fatalf("%v, %s", err, e.Miss())
	}
	check(1)
	publish(t, artifacts.Alone(s), r)
	if got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key); err != nil || got == nil {
		t.Fatal(got, err)
	}
}

// TestCollectFollowsBodies: what a long root names is in a blob.
func TestCollectFollowsBodies(t *testing.T) {
	s := mem.New()
	r := storetest.NewResult(t, s, "A", map[string]string{"out": "a"})
	publish(t, artifacts.Alone(s), r)
	body := storetest.Put(t, s, []byte(`{"steps":[{"key":"`+r.Key.String()+`"}]}`))
	putRecord(t, s, "runs/1", `{"format":"redsi-run/2","body":"`+body.String()+`"}`)
	later := artifacts.GCOptions{Grace: 1, Now: time.Now().Add(time.Hour)}
	if g := collect(t, s, later); len(g.Results) != 0 || len(g.Blobs) != 0 {
		t.Fatalf("%d results, %d blobs", len(g.Results), len(g.Blobs))
	}
	testkit.None(t, s.Blobs.Delete(t.Context(), body))
	if _, err := artifacts.Collect(t.Context(), s, later); !errors.Is(err, artifacts.ErrNotExist) || !strings.Contains(err.Error(), "runs/1") || !strings.Contains(err.Error(), "verify --repair") {
		t.Errorf("a root that cannot be read: %v", err)
	}
	// A run whose results nobody asks to keep stops nothing, and verify --repair mends the rest.
	putRecord(t, s, "runs/2", `{"steps":[{"key":"`+r.Key.String()+`"}]}`)
	if g := collect(t, s, artifacts.GCOptions{Grace: 1, Now: later.Now, KeepRuns: 1}); len(g.Results) != 0 || len(g.Blobs) != 0 {
		t.Errorf("%d results, %d blobs", len(g.Results), len(g.Blobs))
	}
	for _, repair := range []bool{false, true} {
		report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: repair})
		if err != nil || len(report.Problems) != 1 || report.Problems[0].Record != "runs/1" || report.Problems[0].Repaired != repair {
			t.Errorf("repair %v: %v, %v", repair, report.Problems, err)
		}
	}
	collect(t, s, later)
}

// TestRunsThatAreNotKeptStayWhole: collection takes the results of a long run, and leaves its
// record with what that names, so that the record can be read and stops no later collection.
func TestRunsThatAreNotKeptStayWhole(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	for _, id := range []string{"1", "2"} {
		r := storetest.NewResult(t, s, id, map[string]string{"out": "of " + id})
		publish(t, artifacts.Alone(s), r)
		body := storetest.Put(t, s, []byte(`{"steps":[{"key":"`+r.Key.String()+`"}]}`))
		putRecord(t, s, "runs/"+id, `{"plan":"`+storetest.Put(t, s, []byte("plan "+id)).String()+`","body":"`+body.String()+`"}`)
		c.now = c.now.Add(30 * day)
	}
	for i, want := range []string{"1", "", ""} {
		if g := collect(t, s, artifacts.GCOptions{KeepRuns: 1 - i/2, Now: c.now}); steps(g) != want || len(g.Blobs) != len(g.Results) {
			t.Errorf("collection %d: %q, %d blobs; want %q", i+1, steps(g), len(g.Blobs), want)
		}
	}
	if report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(report.Problems) > 0 {
		t.Error(report.Problems, err)
	}
}

// TestKeepRunsCountsByPipeline: the runs of one study take nothing from another.
func TestKeepRunsCountsByPipeline(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	for i, of := range []string{"a p", "b p", "a q", "a p", "a p"} {
		project, pipeline, _ := strings.Cut(of, " ")
		r := storetest.NewResult(t, s, fmt.Sprint(i), map[string]string{"out": fmt.Sprint("of ", i)})
		publish(t, artifacts.Alone(s), r)
		putRecord(t, s, fmt.Sprint("runs/", i), fmt.Sprintf(`{"project":%q,"pipeline":%q,"steps":[{"key":%q}]}`, project, pipeline, r.Key))
		c.now = c.now.Add(30 * day)
	}
	for keep, want := range map[int]string{1: "0 3", 2: "0", 3: ""} {
		g := collect(t, s, artifacts.GCOptions{KeepRuns: keep, Now: c.now, DryRun: true})
		gone := strings.Fields(steps(g))
		if slices.Sort(gone); strings.Join(gone, " ") != want {
			t.Errorf("the newest %d: %q go, want %q", keep, gone, want)
		}
	}
}

// TestOpenRunKeepsWhatIsYounger: a run that could not write its record names
// nothing, and all that it did is kept.
func TestOpenRunKeepsWhatIsYounger(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	publish(t, artifacts.Alone(s), storetest.NewResult(t, s, "before", map[string]string{"out": "before"}))
	c.now = c.now.Add(time.Minute)
	putRecord(t, s, artifacts.OpenRunPrefix+"x", `{"run_id":"x"}`)
	c.now = c.now.Add(time.Minute)
	publish(t, artifacts.Alone(s), storetest.NewResult(t, s, "since", map[string]string{"out": "since"}))
	c.now = c.now.Add(day)
	try := func(o artifacts.GCOptions) artifacts.Garbage {
		o.Grace, o.Now, o.DryRun = 1, c.now, true
		return collect(t, s, o)
	}
	if g := try(artifacts.GCOptions{}); steps(g) != "before" || len(g.Open) != 1 || g.Open[0].RunID != "x" {
		t.Errorf("while it is open: %q, %v", steps(g), g.Open)
	}
	if g := try(artifacts.GCOptions{Forget: []string{"x"}}); len(g.Results) != 2 || len(g.Records) != 1 || len(g.Open) != 0 {
		t.Errorf("forgotten: %q, %v", steps(g), g.Open)
	}
	if _, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Forget: []string{"y"}}); err == nil {
		t.Error("a run that there is not was forgotten")
	}
	c.now = c.now.Add(30 * day)
	if g := try(artifacts.GCOptions{}); len(g.Results) != 2 || len(g.Open) != 0 {
		t.Errorf("after a month: %q, %v", steps(g), g.Open)
	}
}
