package stores_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
)

// check is one property of a store, tried on an empty one.
type check struct {
	name string
	test func(t *testing.T, s artifacts.Store)
}

var checks = []check{
	{"blob round trip", blobRoundTrip},
	{"blob put again", blobPutAgain},
	{"blob not there", blobNotThere},
	{"blob put that fails", blobPutFails},
	{"blob put cancelled", blobPutCancelled},
	{"blob missing in batches", blobMissing},
	{"blob list", blobList},
	{"blob delete", blobDelete},
	{"blob puts at once", blobConcurrent},
	{"blob close early", blobCloseEarly},
	{"record round trip", recordRoundTrip},
	{"record names", recordNames},
	{"record bad names", recordBadNames},
	{"record too large", recordTooLarge},
	{"record list", recordList},
	{"record put is atomic", recordPutAtomic},
	{"record create", recordCreate},
	{"record create race", func(t *testing.T, s artifacts.Store) {
		recordRace(t, s, func(name string, data []byte) error { return s.Records.Create(t.Context(), name, data) }, "")
	}},
	{"record replace", recordReplace},
	{"record delete", recordDelete},
	{"cancelled", cancelled},
	{"publish and look up", publishAndLookup},
	{"publish race", publishRace},
	{"release", release},
	{"publish race over what cannot be used", publishOverRace},
}

// suite checks that the stores which open returns, each empty, keep the contract
// of artifacts.Blobs and artifacts.Records.
func suite(t *testing.T, open func(t *testing.T) artifacts.Store) {
	run(t, open, checks)
	ofRecords := slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return !strings.HasPrefix(c.name, "record ") })
	t.Run("leases", func(t *testing.T) { // are records in a place of their own
		run(t, func(t *testing.T) artifacts.Store {
			s := open(t)
			s.Records = s.Leases
			return s
		}, ofRecords)
	})
}

func run(t *testing.T, open func(t *testing.T) artifacts.Store, checks []check) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func put(t *testing.T, s artifacts.Store, b []byte) artifacts.Digest {
	t.Helper()
	d, n, err := s.Blobs.Put(t.Context(), bytes.NewReader(b))
	testkit.None(t, err, len(b))
	if want := artifacts.Sum(b); d != want || n != int64(len(b)) {
		t.Fatalf("Put = %s, %d; want %s, %d", d, n, want, len(b))
	}
	return d
}

func listBlobs(t *testing.T, ctx context.Context, s artifacts.Store) []artifacts.BlobInfo {
	t.Helper()
	var all []artifacts.BlobInfo
	for info, err := range s.Blobs.List(ctx) {
		testkit.None(t, err, "List")
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b artifacts.BlobInfo) int { return a.Digest.Compare(b.Digest) })
	return all
}

func listRecords(t *testing.T, s artifacts.Store, prefix string) []string {
	t.Helper()
	var names []string
	for info, err := range s.Records.List(t.Context(), prefix) {
		testkit.None(t, err, "List", prefix)
		names = append(names, info.Name)
	}
	return names
}

// cancelled checks that no method reports success, or a miss, to a caller whose
// ctx is over.
func cancelled(t *testing.T, s artifacts.Store) {
	d := put(t, s, []byte("x"))
	testkit.None(t, s.Records.Put(t.Context(), "runs/x", []byte("{}")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errs := map[string]error{
		"Blobs.Delete":    s.Blobs.Delete(ctx, d),
		"Records.Put":     s.Records.Put(ctx, "runs/x", []byte("!")),
		"Records.Create":  s.Records.Create(ctx, "runs/y", []byte("!")),
		"Records.Replace": s.Records.Replace(ctx, "runs/x", []byte("{}"), []byte("!")),
		"Records.Delete":  s.Records.Delete(ctx, "runs/x"),
	}
	_, _, errs["Blobs.Put"] = s.Blobs.Put(ctx, strings.NewReader("y"))
	_, errs["Blobs.Open"] = s.Blobs.Open(ctx, d)
	_, errs["Blobs.Missing"] = s.Blobs.Missing(ctx, []artifacts.Digest{d})
	_, errs["Records.Get"] = s.Records.Get(ctx, "runs/x")
	for _, err := range s.Blobs.List(ctx) {
		errs["Blobs.List"] = err
	}
	for _, err := range s.Records.List(ctx, "") {
		errs["Records.List"] = err
	}
	testkit.Is(t, len(errs), 11, "methods answered")
	for method, err := range errs {
		testkit.ErrIs(t, err, context.Canceled, method)
	}
	if got, err := s.Records.Get(t.Context(), "runs/x"); err != nil || string(got) != "{}" {
		t.Errorf("afterwards runs/x = %q, %v", got, err)
	}
	testkit.Is(t, len(listBlobs(t, t.Context(), s)), 1, "a cancelled call changed the blobs")
}

func publishAndLookup(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	r := storetest.NewResult(t, s, "k", map[string]string{"train": "one", "dev": "two"})
	if got, err := artifacts.Lookup(ctx, artifacts.Alone(s), r.Key); got != nil || err != nil {
		t.Fatalf("Lookup before: %v, %v", got, err)
	}
	if _, nondet, err := artifacts.Publish(ctx, artifacts.Alone(s), r); err != nil || nondet {
		t.Fatalf("Publish: %v, %v", nondet, err)
	}
	got, err := artifacts.Lookup(ctx, artifacts.Alone(s), r.Key)
	if err != nil || got == nil || got.OutputsDigest() != r.OutputsDigest() || got.Took != r.Took {
		t.Fatalf("Lookup = %+v, %v", got, err)
	}
	testkit.None(t, s.Blobs.Delete(ctx, r.Outputs["dev"].Digest))
	if got, err := artifacts.Lookup(ctx, artifacts.Alone(s), r.Key); got != nil || err != nil {
		t.Fatalf("Lookup with a lost blob = %+v, %v; want a miss", got, err)
	}
}

func publishRace(t *testing.T, s artifacts.Store) {
	raceToPublish(t, s, artifacts.Alone(s), "raced")
	key := storetest.NewResult(t, s, "raced", nil).Key
	testkit.Is(t, len(listRecords(t, s, "nondeterminism/"+key.Hex()+"/")), 7, "non-determinism records 7")
}

// raceToPublish has eight publish a result of one key at once and returns the outputs of the
// one who won.
func raceToPublish(t *testing.T, s artifacts.Store, l *artifacts.Resolver, keyName string) (winner artifacts.Digest) {
	t.Helper()
	results := make([]artifacts.Result, 8)
	for i := range results {
		results[i] = storetest.NewResult(t, s, keyName, map[string]string{"out": fmt.Sprint("version ", i)})
	}
	var mu sync.Mutex
	winners := map[artifacts.Digest]bool{}
	var wg sync.WaitGroup
	for _, r := range results {
		wg.Go(func() {
			won, nondet, err := artifacts.Publish(t.Context(), l, r)
			if err != nil {
				t.Errorf("Publish: %v", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			winners[won.OutputsDigest()] = true
			if won.OutputsDigest() != r.OutputsDigest() && !nondet {
				t.Errorf("%s: one lost and was not told that outputs differ", keyName)
			}
		})
	}
	wg.Wait()
	testkit.Is(t, len(winners), 1, keyName)
	for winner = range winners {
	}
	return winner
}

// publishOverRace: a result that cannot be used gives way to exactly one of those who
// publish at once, and each of the others is kept as what lost.
func publishOverRace(t *testing.T, s artifacts.Store) {
	signer, err := signature.New("alice")
	testkit.None(t, err)
	unbelieved := artifacts.With(s, nil, artifacts.Policy{Own: artifacts.RunUntrusted, Signer: signer})
	for name, c := range map[string]struct {
		s     *artifacts.Resolver // that is published to
		spoil func(first artifacts.Result) error
		kept  int // outputs that are recorded in the end
	}{
		"damaged": {artifacts.Alone(s), func(first artifacts.Result) error {
			return s.Records.Put(t.Context(), artifacts.ResultName(first.Key), []byte(`{"format":"redsi.result/1"}`))
		}, 7},
		"incomplete": {artifacts.Alone(s), func(first artifacts.Result) error {
			return s.Blobs.Delete(t.Context(), first.Outputs["out"].Digest)
		}, 8},
		"not believed": {unbelieved, func(artifacts.Result) error { return nil }, 8},
	} {
		first := storetest.NewResult(t, s, name, map[string]string{"out": "first of " + name})
		publishInto(t, artifacts.Alone(s), first)
		testkit.None(t, c.spoil(first))
		winner := raceToPublish(t, s, c.s, name)
		if got, err := artifacts.Lookup(t.Context(), c.s, first.Key); err != nil || got == nil || got.OutputsDigest() != winner {
			t.Errorf("%s: then Lookup = %+v, %v", name, got, err)
		}
		testkit.Is(t, len(listRecords(t, s, "nondeterminism/"+first.Key.Hex()+"/")), c.kept, name)
	}
}

// release: the bytes of a result that nothing else names go, its record stays, and publishing
// it again makes it what it was.
func release(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	big := func(c byte) string { return string(bytes.Repeat([]byte{c}, 5000)) }
	mine := storetest.NewResult(t, s, "mine", map[string]string{"a": big('a'), "b": big('b'), "small": "s"})
	kept := storetest.NewResult(t, s, "kept", map[string]string{"b": big('b')})
	kept.Origin.Step = "step.kept"
	for _, r := range []artifacts.Result{mine, kept} {
		if _, _, err := artifacts.Publish(ctx, artifacts.Alone(s), r); err != nil {
			t.Fatal(err)
		}
	}
	whole := func(key artifacts.Digest) bool {
		r, err := artifacts.Lookup(ctx, artifacts.Alone(s), key)
		testkit.None(t, err)
		return r != nil
	}
	let := func() artifacts.Freed {
		freed, err := artifacts.Release(ctx, s, []artifacts.Digest{mine.Key}, nil, func(string, []byte) bool { return false })
		testkit.None(t, err)
		return freed
	}
	if freed := let(); freed != (artifacts.Freed{Results: 1, Bytes: 5000}) || whole(mine.Key) || !whole(kept.Key) {
		t.Fatalf("%+v; kept is whole: %v", freed, whole(kept.Key))
	}
	known, err := artifacts.LookupKnown(ctx, artifacts.Alone(s), []artifacts.Digest{mine.Key})
	if r := known[mine.Key]; err != nil || r == nil || !r.Released || r.OutputsDigest() != mine.OutputsDigest() {
		t.Fatalf("%+v, %v", r, err)
	}
	if freed := let(); freed != (artifacts.Freed{}) {
		t.Fatalf("again: %+v", freed)
	}
	put(t, s, []byte(big('a')))
	if _, differs, err := artifacts.Publish(ctx, artifacts.Alone(s), mine); err != nil || differs || !whole(mine.Key) {
		t.Fatal(differs, err)
	}
	if _, err := s.Records.Get(ctx, artifacts.ReleasedName(mine.Key)); !errors.Is(err, artifacts.ErrNotExist) {
		t.Fatalf("the record that says that it was released: %v", err)
	}
	if freed := let(); freed.Bytes != 5000 {
		t.Fatalf("once more: %+v", freed)
	}
}
