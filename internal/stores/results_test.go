package stores_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/signature"
)

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
	errtest.None(t, s.Blobs.Delete(ctx, r.Outputs["dev"].Digest))
	if got, err := artifacts.Lookup(ctx, artifacts.Alone(s), r.Key); got != nil || err != nil {
		t.Fatalf("Lookup with a lost blob = %+v, %v; want a miss", got, err)
	}
}

func publishRace(t *testing.T, s artifacts.Store) {
	raceToPublish(t, s, artifacts.Alone(s), "raced")
	key := storetest.NewResult(t, s, "raced", nil).Key
	if got := listRecords(t, s, "nondeterminism/"+key.Hex()+"/"); len(got) != 7 {
		t.Errorf("%d non-determinism records, want 7", len(got))
	}
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
	if len(winners) != 1 {
		t.Errorf("%s: %d outputs won, want 1", keyName, len(winners))
	}
	for winner = range winners {
	}
	return winner
}

// publishOverRace: a result that cannot be used gives way to exactly one of those who
// publish at once, and each of the others is kept as what lost.
func publishOverRace(t *testing.T, s artifacts.Store) {
	signer, err := signature.New("alice")
	errtest.None(t, err)
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
		errtest.None(t, c.spoil(first))
		winner := raceToPublish(t, s, c.s, name)
		if got, err := artifacts.Lookup(t.Context(), c.s, first.Key); err != nil || got == nil || got.OutputsDigest() != winner {
			t.Errorf("%s: then Lookup = %+v, %v", name, got, err)
		}
		if got := listRecords(t, s, "nondeterminism/"+first.Key.Hex()+"/"); len(got) != c.kept {
			t.Errorf("%s: %d non-determinism records, want %d", name, len(got), c.kept)
		}
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
		errtest.None(t, err)
		return r != nil
	}
	let := func() artifacts.Freed {
		freed, err := artifacts.Release(ctx, s, []artifacts.Digest{mine.Key}, nil, func(string, []byte) bool { return false })
		errtest.None(t, err)
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
