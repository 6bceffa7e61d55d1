package artifacts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
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
	errtest.None(t, err)
	return b
}

// TestResultGolden pins the format of records: stores outlive versions of redsi.
func TestResultGolden(t *testing.T) {
	s := mem.New()
	r := example(t, s)
	publish(t, artifacts.Alone(s), r)
	goldens.Same(t, filepath.Join("testdata", "result.json"), string(stored(t, s, r.Key)))
	back, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key)
	if err != nil || back == nil {
		t.Fatalf("Lookup = %v, %v", back, err)
	}
	r.Format = artifacts.ResultFormat
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(back)
	if !bytes.Equal(a, b) || back.Took != r.Took {
		t.Errorf("back\n%s\nwant\n%s", b, a)
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
		errtest.None(t, s.Records.Put(t.Context(), name, bad))
		entries, err := artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
		if e := entries[r.Key]; err != nil || e.Hit() || e.Damage == nil {
			t.Fatalf("bit %d of byte %d, %q: a hit, %v", bit%8, bit/8, bad[max(0, bit/8-10):bit/8+1], err)
		}
	}
	for n := range good {
		errtest.None(t, s.Records.Put(t.Context(), name, good[:n]))
		if got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key); got != nil || err != nil {
			t.Fatalf("the first %d bytes: %v, %v", n, got, err)
		}
	}
}

func TestResultUnderAnotherKey(t *testing.T) {
	s := mem.New()
	r := example(t, s)
	publish(t, artifacts.Alone(s), r)
	other := artifacts.Sum([]byte("other"))
	errtest.None(t, s.Records.Put(t.Context(), artifacts.ResultName(other), stored(t, s, r.Key)))
	if got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), other); got != nil || err != nil {
		t.Errorf("a record under another key's name is a hit: %v, %v", got, err)
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
	if got := miss(); got != "no result" {
		t.Errorf("nothing stored: %q", got)
	}
	publish(t, artifacts.Alone(s), r)
	if got := miss(); got != "" {
		t.Errorf("a hit: %q", got)
	}
	shard := r.Outputs["records"].Files[0].Digest
	errtest.None(t, s.Blobs.Delete(ctx, shard))
	if got, want := miss(), "lost from the store: train/0.zst of output records ("+shard.String()+")"; got != want {
		t.Errorf("one blob lost: %q, want %q", got, want)
	}
	errtest.None(t, s.Blobs.Delete(ctx, r.Outputs["counts"].Digest))
	if got := miss(); !strings.HasPrefix(got, "lost from the store: output counts") || !strings.HasSuffix(got, "and 1 more") {
		t.Errorf("both blobs lost: %q", got)
	}
	errtest.None(t, s.Records.Put(ctx, artifacts.ResultName(r.Key), []byte("{")))
	if got := miss(); !strings.Contains(got, "damaged") {
		t.Errorf("half a record: %q", got)
	}
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
	if n := faults.Calls(storetest.BlobsMissing); n != 1 {
		t.Errorf("%d calls of Missing, want 1", n)
	}
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
	if err != nil || !e[r.Key].Hit() {
		t.Errorf("flipped twice: %v, %s", err, e[r.Key].Miss())
	}
	for i := range 10 {
		faults.Add(storetest.RecordsGet, storetest.Fault{Flip: true, FlipAt: int64(40 + i)})
	}
	if e, err = artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key}); err == nil || !strings.Contains(err.Error(), "changed on the way") {
		t.Errorf("flipped in another place each time: %v, %s", err, e[r.Key].Miss())
	}
	faults.Add(storetest.RecordsGet, slices.Repeat([]storetest.Fault{flip}, 1000)...)
	e, err = artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
	if err != nil || e[r.Key].Damage == nil {
		t.Errorf("always flipped: %v, %s", err, e[r.Key].Miss())
	}
}
