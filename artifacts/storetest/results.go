package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// NewResult stores outputs as blobs and returns their result under the key of a
// preimage that has keyName. It does not publish it.
func NewResult(t *testing.T, s artifacts.Store, keyName string, outputs map[string]string) artifacts.Result {
	t.Helper()
	preimage, err := json.Marshal(map[string]string{"name": keyName})
	if err != nil {
		t.Fatal(err)
	}
	r := artifacts.Result{
		Key:      artifacts.KeyOf(preimage),
		Preimage: preimage,
		Outputs:  map[string]artifacts.Artifact{},
		Took:     90 * time.Second,
		Finished: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		Counts:   map[string]int64{"records": 7},
		Env:      map[string]string{"revision": "abc"},
		Origin:   artifacts.Origin{RunID: "run-1", WorkflowID: "step/" + keyName, Step: "step." + keyName},
	}
	for name, content := range outputs {
		d := put(t, s, []byte(content))
		r.Outputs[name] = artifacts.Artifact{Type: "text", Digest: d, Size: int64(len(content))}
	}
	return r
}

func publishAndLookup(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	r := NewResult(t, s, "k", map[string]string{"train": "one", "dev": "two"})
	if got, err := artifacts.Lookup(ctx, s, r.Key); got != nil || err != nil {
		t.Fatalf("Lookup before: %v, %v", got, err)
	}
	if _, nondet, err := artifacts.Publish(ctx, s, r); err != nil || nondet {
		t.Fatalf("Publish: %v, %v", nondet, err)
	}
	got, err := artifacts.Lookup(ctx, s, r.Key)
	if err != nil || got == nil || got.OutputsDigest() != r.OutputsDigest() || got.Took != r.Took {
		t.Fatalf("Lookup = %+v, %v", got, err)
	}
	if err := s.Blobs.Delete(ctx, r.Outputs["dev"].Digest); err != nil {
		t.Fatal(err)
	}
	if got, err := artifacts.Lookup(ctx, s, r.Key); got != nil || err != nil {
		t.Fatalf("Lookup with a lost blob = %+v, %v; want a miss", got, err)
	}
}

func publishRace(t *testing.T, s artifacts.Store) {
	results := make([]artifacts.Result, 8)
	for i := range results {
		results[i] = NewResult(t, s, "raced", map[string]string{"out": fmt.Sprint("version ", i)})
	}
	var mu sync.Mutex
	winners := map[artifacts.Digest]bool{}
	losers := 0
	var wg sync.WaitGroup
	for _, r := range results {
		wg.Go(func() {
			won, nondet, err := artifacts.Publish(t.Context(), s, r)
			if err != nil {
				t.Errorf("Publish: %v", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			winners[won.OutputsDigest()] = true
			if nondet {
				losers++
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 || losers != 7 {
		t.Errorf("%d outputs won and %d lost, want 1 and 7", len(winners), losers)
	}
	if got := listRecords(t, s, "nondeterminism/"+results[0].Key.Hex()+"/"); len(got) != 7 {
		t.Errorf("%d non-determinism records, want 7", len(got))
	}
}
