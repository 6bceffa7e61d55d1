package plan

import (
	"bytes"
	"context"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/step"
)

// A store that a redsi of the format before filled is found whole: each step is a hit by
// its old key, and so are the steps that read it.
func TestFindsOlderKeys(t *testing.T) {
	reg, store := registry(1), mem.New()
	pl, err := Build("p.hcl", load(t, `
step "text" "first" {
  text = "a"
}
step "text" "last" {
  text  = "b"
  after = step.text.first.out
}`), reg, nil)
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return artifacts.LookupMany(ctx, store, keys)
	}
	results := map[int]*artifacts.Result{}
	for i, s := range pl.Steps {
		_, key, preimage, err := pl.Bind(reg, i, func(d int) *artifacts.Result { return results[d] })
		if err != nil {
			t.Fatal(err)
		}
		old := bytes.Replace(preimage, []byte(step.KeyFormat), []byte(artifacts.OlderKeyFormats[0]), 1)
		if artifacts.KeyOf(old) == key {
			t.Fatal("both formats have one key")
		}
		d, err := artifacts.PutBytes(t.Context(), store.Blobs, []byte(s.Address))
		if err != nil {
			t.Fatal(err)
		}
		r := artifacts.Result{Key: artifacts.KeyOf(old), Preimage: old, Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: d, Size: int64(len(s.Address))}}}
		if results[i], _, err = artifacts.Publish(t.Context(), store, r); err != nil {
			t.Fatal(err)
		}
	}
	v, err := pl.Preview(t.Context(), reg, lookup)
	if err != nil || !v.Done() {
		t.Fatalf("%+v: %v", v.Summary(), err)
	}
	for i, it := range v.Items {
		if it.Key != results[i].Key {
			t.Errorf("%s goes by %s, want the key of its result", pl.Steps[i].Address, it.Key)
		}
	}
}
