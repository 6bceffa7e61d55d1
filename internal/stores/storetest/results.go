package storetest

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

// Bytes returns n bytes that depend on seed only.
func Bytes(seed uint64, n int) []byte {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	b := make([]byte, n)
	rand.NewChaCha8(key).Read(b) // never fails
	return b
}

// NewResult stores outputs as blobs and returns their result, which it does not publish, under the key of a preimage
// with keyName.
func NewResult(t *testing.T, s artifacts.Store, keyName string, outputs map[string]string) artifacts.Result {
	t.Helper()
	preimage, err := json.Marshal(map[string]string{"name": keyName})
	testkit.None(t, err)
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
		r.Outputs[name] = artifacts.Artifact{Type: "text", Digest: Put(t, s, []byte(content)), Size: int64(len(content))}
	}
	return r
}

// Put stores a blob.
func Put(t *testing.T, s artifacts.Store, b []byte) artifacts.Digest {
	t.Helper()
	d, err := artifacts.PutBytes(t.Context(), s.Blobs, b)
	testkit.None(t, err)
	return d
}

// Publish publishes a result.
func Publish(t *testing.T, s artifacts.Store, r artifacts.Result) {
	t.Helper()
	if _, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); err != nil {
		t.Fatal(err)
	}
}
