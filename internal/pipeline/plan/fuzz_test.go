package plan

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// FuzzPlan previews plans that anybody may have written to a store.
func FuzzPlan(f *testing.F) {
	reg := registry(1)
	good, err := json.Marshal(build(f, load(f, diamond), reg, ""))
	errtest.None(f, err)
	f.Add(good)
	for _, change := range [][2]string{{`"deps":[0]`, `"deps":[7]`}, {`"deps":[0]`, `"deps":[-1]`}, {`"deps":[0]`, `"deps":[3]`},
		{`"kind":"text"`, `"kind":"none"`}, {`"text":"left"`, `"text":3`}, {`step.text.first`, `step.text.alone`}} {
		f.Add([]byte(strings.Replace(string(good), change[0], change[1], 1)))
	}
	f.Add([]byte(`{"format":"redsi-plan/1","steps":[{"address":"a"}]}`))
	f.Add([]byte(`null`))
	none := func(context.Context, []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return nil, nil
	}
	all := func(_ context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		found := map[artifacts.Digest]*artifacts.Result{}
		for _, k := range keys {
			found[k] = &artifacts.Result{Key: k, Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: k, Size: 1}}}
		}
		return found, nil
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := new(Plan)
		if json.Unmarshal(b, p) != nil || p.Check() != nil {
			return
		}
		for _, lookup := range []Lookup{none, all} {
			v, err := p.Follow(t.Context(), reg, lookup, KeepAll, nil)
			if err != nil {
				continue
			}
			if s := v.Summary(); s.Hit+s.Run+s.Maybe != len(p.Steps) {
				t.Fatalf("%d steps: %+v", len(p.Steps), s)
			}
		}
	})
}

// TestCheck refuses what would be a panic or an endless loop.
func TestCheck(t *testing.T) {
	for deps, want := range map[int]string{1: "does not come before it", 5: "does not come before it", -1: "does not come before it", 0: ""} {
		p := &Plan{Format: Format, Steps: []Step{{Address: "a"}, {Address: "b", Deps: []int{deps}}}}
		if err := p.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("a dependency on %d: %v", deps, err)
		}
	}
	errtest.Says(t, (&Plan{Format: "redsi-plan/9"}).Check(), "plan again")
	if err := (&Plan{Format: Format, Steps: []Step{{Address: "a"}, {Address: "a"}}}).Check(); err == nil {
		t.Error("two steps of one address are no error")
	}
}
