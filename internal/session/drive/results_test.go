package drive_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// After a run only what is written as files is read, by the keys in the run's record.
func TestResultsOfARun(t *testing.T) {
	const steps = 100
	store, counted := storetest.Faulty(mem.New())
	a := &drive.Driver{Session: &session.Session{Talk: session.Quiet{}, Registry: kinds.Registry(), Log: slog.New(slog.DiscardHandler)}}
	pl := &plan.Plan{Format: plan.Format, Pipeline: "p.hcl"}
	rec := runs.Record{RunID: "20260101T000000Z-00000000", Pipeline: "p.hcl"}
	var table artifacts.Digest
	for i := range steps + 1 {
		address, kind := fmt.Sprintf("step.command.x[%q]", fmt.Sprint(i)), "command"
		if i == steps {
			address, kind = "table.t", "table"
		}
		preimage := fmt.Appendf(nil, `{"config":{},"format":%q,"kind":%q,"version":%d}`, step.KeyFormat, kind, i+1)
		key := artifacts.KeyOf(preimage)
		d := storetest.Put(t, store, []byte(address))
		out := artifacts.Artifact{Type: "file", Digest: d, Size: int64(len(address))}
		storetest.Publish(t, store, artifacts.Result{Key: key, Preimage: preimage, Outputs: map[string]artifacts.Artifact{"out": out}})
		pl.Steps = append(pl.Steps, plan.Step{Address: address, Task: step.Task{Kind: kind}})
		rec.Steps = append(rec.Steps, runs.Step{Address: address, Key: key, Outcome: runs.Ran})
		table = key
	}
	v := &plan.Preview{Plan: pl, Items: make([]plan.Item, len(pl.Steps))}
	testkit.ErrSays(t, a.FillResults(t.Context(), artifacts.Alone(store), v, rec.RunID), "its record is not in")
	testkit.None(t, runs.Write(t.Context(), store, rec))
	before := counted.Calls(storetest.RecordsGet)
	testkit.None(t, a.FillResults(t.Context(), artifacts.Alone(store), v, rec.RunID))
	testkit.Deep(t, counted.Calls(storetest.RecordsGet)-before, 2)
	if it := v.Items[steps]; it.Outcome != plan.Hit || it.Key != table || it.Result == nil {
		t.Errorf("the table's result: %+v", it)
	}
}
