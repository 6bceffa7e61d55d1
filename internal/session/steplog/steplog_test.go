package steplog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/step"
)

// TestLogsOfARun: the results of a run are looked up together.
func TestLogsOfARun(t *testing.T) {
	store, counted := storetest.Faulty(mem.New())
	d := storetest.Put(t, store, []byte("a"))
	rec := runs.Record{RunID: "20260101T000000Z-00000000", Pipeline: "p.hcl"}
	for i := range 20 {
		preimage := fmt.Appendf(nil, `{"config":{},"format":%q,"kind":"command","version":%d}`, step.KeyFormat, i+1)
		r := artifacts.Result{Key: artifacts.KeyOf(preimage), Preimage: preimage, Outputs: map[string]artifacts.Artifact{"out": {Type: "file", Digest: d, Size: 1}}}
		storetest.Publish(t, store, r)
		rec.Steps = append(rec.Steps, runs.Step{Address: fmt.Sprintf("step.command.x[%q]", fmt.Sprint(i)), Key: r.Key, Outcome: runs.Ran})
	}
	rec.Steps = append(rec.Steps, runs.Step{Address: "step.command.gone", Key: artifacts.Digest{1}, Outcome: runs.Ran})
	rec.Steps = slices.Insert(rec.Steps, 5, runs.Step{Address: "step.command.bad", Outcome: runs.Failed, Error: "it broke"})
	before := counted.Calls(storetest.BlobsMissing)
	logs, err := ofRun(t.Context(), artifacts.Alone(store), &rec, "", false)
	if err != nil || len(logs) != 22 || logs[5].Address != "step.command.bad" || !strings.Contains(logs[21].Note, "lost with its result") {
		t.Fatalf("%d logs: %+v, %v", len(logs), logs, err)
	}
	if n := counted.Calls(storetest.BlobsMissing) - before; n > 2 {
		t.Errorf("the store was asked %d times which blobs it has", n)
	}
}
