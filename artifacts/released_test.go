package artifacts_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

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
	errtest.None(t, err)
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
	errtest.None(t, artifacts.DropResult(t.Context(), s, storetest.NewResult(t, s, "before", nil).Key))
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
		errtest.None(t, tr.Results(t.Context(), []artifacts.Digest{r.Key}))
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
