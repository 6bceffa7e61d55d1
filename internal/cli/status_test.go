package cli

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/workflows"
)

// largeRun is a run of very many steps that tells its counts, and would not be asked for
// all of its steps: it has no other query.
func largeRun(ctx workflow.Context, in workflows.ReproduceInput) error {
	s := workflows.State{RunID: in.RunID, Counts: map[runs.Status]int{runs.Ran: 40_000, runs.Running: 185, runs.Waiting: 9_812, runs.Failed: 3}}
	for i := range 100 {
		x := workflows.StepState{Index: i, Address: fmt.Sprintf("step.command.s[%d]", i), Status: runs.Running}
		if i < 3 {
			x.Status, x.Error = runs.Failed, "it broke"
		}
		s.Steps = append(s.Steps, x)
	}
	if err := workflow.SetQueryHandler(ctx, workflows.StateQuery, func() (workflows.State, error) { return s, nil }); err != nil {
		return err
	}
	workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
	return nil
}

// TestStatusOfMany: runs that do not answer are told as such, beside those that do; what
// is printed of each is bounded, and one is found by the beginning of its id.
func TestStatusOfMany(t *testing.T) {
	server, connect := ownServer(t)
	c := connect()
	w := sdk.New(c, "large", sdk.Options{LocalActivityWorkerOnly: true})
	w.RegisterWorkflowWithOptions(largeRun, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
	errtest.None(t, w.Start())
	t.Cleanup(w.Stop)
	begin := func(id, queue, run string, priority int) {
		t.Helper()
		errtest.None(t, errtest.Of(c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue, Priority: temporal.Priority{PriorityKey: priority}},
			workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "p.hcl", RunID: run})))
	}
	begin(workflows.ReproduceWorkflowID("20260101T000000Z-aa"), "large", "20260101T000000Z-aa", 1)
	begin("by-hand", "large", "20260202T000000Z-bb", 3)
	const silent = 20
	for i := range silent {
		begin(workflows.ReproduceWorkflowID(fmt.Sprintf("20260303T000000Z-%d", i)), "nobody", "", 0)
	}
	var out lockedBuffer
	a := newApp(&session.Session{Registry: kinds.Registry(), Log: slog.New(slog.DiscardHandler), File: "none.hcl"}, &out, &out)
	a.Delays = drive.UsualDelays()
	a.cmd = newRoot(a)
	conn := &drive.Connection{Client: c, Namespace: "default", Host: server.Address}
	var r drive.Report
	awaitTrue(t, "all runs are listed, and two of them answer", func() bool {
		r = drive.Report{Server: conn.Host}
		errtest.None(t, a.OpenRuns(t.Context(), conn, &r))
		answered, unheard := 0, 0 // a busy server may not say of all in time that nobody polls
		for _, x := range r.Running {
			switch {
			case x.Error == "" && x.Counts[runs.Ran] == 40_000:
				answered++
			case strings.Contains(x.Error, "does not answer: no worker polls for it"):
				unheard++
			}
		}
		return len(r.Running) == silent+2 && answered == 2 && unheard == silent
	})
	view.Status(&out, view.Style{}, r, true, false, a.hint)
	said := out.String()
	for text, times := range map[string]int{
		"does not answer: no worker polls for it":                       silent,
		"40000 ran, 185 running, 9812 waiting, 3 failed":                2,
		"RUNNING  step.command.s[":                                      2 * 5,
		"RUNNING  and 180 more: redsi status --run 20260202T000000Z-bb": 1,
		"FAILED  step.command.s[":                                       2 * 3,
		", priority ":                                                   1,
	} {
		if n := strings.Count(said, text); n != times {
			t.Errorf("%q is said %d times, not %d:\n%s", text, n, times, said)
		}
	}
	open, err := drive.ListOpen(t.Context(), c, workflows.ReproduceWorkflow)
	errtest.None(t, err)
	errtest.Says(t, errtest.Of(a.Named(t.Context(), conn, open, "20260303")), "could be reproduce-20260303")
	for id, want := range map[string]string{"20260101": "reproduce-20260101T000000Z-aa", "20260202": "by-hand", "by-h": "by-hand"} {
		found, err := a.Named(t.Context(), conn, open, id)
		if err != nil || found == nil || found.Execution.WorkflowId != want {
			t.Errorf("%s is %v, %v", id, found, err)
		}
	}
}

// TestEndedRuns: so many of the newest runs, from their records, but those of other
// projects and what is damaged.
func TestEndedRuns(t *testing.T) {
	store := mem.New()
	for i := range 40 {
		rec := runs.Record{RunID: fmt.Sprintf("20260101T0000%02dZ", i), Pipeline: "p.hcl", Counts: map[runs.Status]int{runs.Ran: 1},
			Steps: []runs.Step{{Address: "step.a.b", Outcome: runs.Ran, Key: artifacts.Digest{1}}}}
		if i%4 == 0 {
			rec.Steps[0].Outcome, rec.Steps[0].Error, rec.Counts = runs.Failed, "it broke", map[runs.Status]int{runs.Failed: 1}
		}
		errtest.None(t, runs.Write(t.Context(), store, rec))
	}
	errtest.None(t, store.Records.Put(t.Context(), artifacts.RunsPrefix+"20260101T000039Z", []byte("{")))
	a := newApp(&session.Session{Log: slog.New(slog.DiscardHandler), File: "none.hcl"}, nil, nil)
	for most, want := range map[int]int{0: 0, 1: 1, 20: 20, 100: 39} {
		ended, err := a.EndedRuns(t.Context(), store, most)
		if err != nil || len(ended) != want {
			t.Fatalf("of %d: %d, %v", most, len(ended), err)
		}
		for i, x := range ended {
			if x.RunID != fmt.Sprintf("20260101T0000%02dZ", 38-i) {
				t.Errorf("%d: %s", i, x.RunID)
			}
			if failed := (38-i)%4 == 0; failed != (len(x.Failed) == 1) || failed != (x.Counts[runs.Failed] == 1) {
				t.Errorf("%+v", x)
			}
		}
	}
}
