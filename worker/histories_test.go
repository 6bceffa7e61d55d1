package worker_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
)

var update = flag.Bool("update", false, "write those histories for TestReplay of workflows that are not there")

// TestHistories runs what the replay tests replay: a chain, a step in parts. Other
// tests keep theirs by the same function.
func TestHistories(t *testing.T) {
	b := newBench(t)
	src := chain + `
step "split" "s" {
  text  = "p"
  split = 2
  after = step.text.a.out
}
`
	w := b.start(src, "history")
	testkit.None(t, testkit.Err(b.wait(w)))
	b.keep("reproduce", w.GetID(), "")
	for _, x := range b.steps(w) {
		if x.Workflow != "" {
			b.keep("parts", x.Workflow, "")
		}
	}
}

// TestPagedPlan runs a plan that does not fit a payload: its skeleton and its record
// travel in pages.
func TestPagedPlan(t *testing.T) {
	b := newBench(t)
	b.fails("paged", "it fails")
	w := b.start(`
step "short" "first" { text = "paged" }
step "short" "many" {
  for_each = toset(flatten([for i in range(4) : [for j in range(1000) : format("%0300d", 1000 * i + j)]]))
  text     = each.key
  after    = [step.short.first.out]
}
`, "paged")
	testkit.ErrSays(t, testkit.Err(b.wait(w)), "1 of 4001 steps failed, 4000 skipped")
	if n := len(b.record("paged").Steps) + int(b.record("paged").Counts[runs.Skipped]); n < 4000 {
		t.Errorf("its record has %d steps", n)
	}
	b.keep("paged", w.GetID(), "")
}

// keep saves the history of a workflow for the replay tests, if there is none of that
// name: one that is there was made by the release that it stands for.
func (b *bench) keep(name, id, execution string) {
	b.t.Helper()
	path := filepath.Join("..", "workflows", "testdata", "histories", name+".json.gz")
	if _, err := os.Stat(path); !*update || !errors.Is(err, fs.ErrNotExist) {
		return
	}
	var h history.History
	events := b.c.GetWorkflowHistory(context.Background(), id, execution, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		testkit.None(b.t, err)
		h.Events = append(h.Events, e)
	}
	raw, err := plainHistory(&h)
	testkit.None(b.t, err)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.WriteFile(path, out.Bytes(), 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

var digests = regexp.MustCompile(`[0-9a-f]{64}`)

// plainHistory is a history as JSON without what replay does not look at and what no
// compression makes small: inputs of activities, names of processes and requests, parts
// of milliseconds; digests are counted.
func plainHistory(h *history.History) ([]byte, error) {
	counted := map[string]string{}
	count := func(b []byte) []byte {
		return digests.ReplaceAllFunc(b, func(d []byte) []byte {
			if counted[string(d)] == "" {
				counted[string(d)] = fmt.Sprintf("%064x", len(counted)+1)
			}
			return []byte(counted[string(d)])
		})
	}
	for _, e := range h.Events {
		e.TaskId, e.EventTime = 0, timestamppb.New(e.EventTime.AsTime().Truncate(time.Millisecond))
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			a.Input = nil
		}
		if a := e.GetWorkflowExecutionContinuedAsNewEventAttributes(); a != nil {
			a.Input = nil // what the next one begins with
		}
		if a := e.GetActivityTaskStartedEventAttributes(); a != nil {
			//lint:ignore SA1019 histories of older servers have it
			a.RequestId, a.Identity, a.WorkerVersion = "", "", nil
		}
		if a := e.GetActivityTaskCompletedEventAttributes(); a != nil {
			a.Identity = ""
		}
		if a := e.GetWorkflowTaskScheduledEventAttributes(); a != nil {
			a.TaskQueue = nil
		}
		if a := e.GetWorkflowTaskStartedEventAttributes(); a != nil {
			//lint:ignore SA1019 histories of older servers have it
			a.RequestId, a.Identity, a.WorkerVersion = "", "", nil
		}
		if a := e.GetWorkflowTaskCompletedEventAttributes(); a != nil {
			//lint:ignore SA1019 histories of older servers have it
			a.Identity, a.WorkerVersion, a.MeteringMetadata = "", nil, nil
		}
	}
	err := proxy.VisitPayloads(context.Background(), h, proxy.VisitPayloadsOptions{
		Visitor: func(_ *proxy.VisitPayloadsContext, ps []*common.Payload) ([]*common.Payload, error) {
			for _, p := range ps {
				p.Data = count(p.Data)
			}
			return ps, nil
		}})
	if err != nil {
		return nil, err
	}
	raw, err := protojson.Marshal(h)
	return count(raw), err
}
