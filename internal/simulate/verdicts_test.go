package simulate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/workflows"
)

// TestJudge: nothing is said of what went well, and each rule of the judge has something that breaks it.
func TestJudge(t *testing.T) {
	key := artifacts.Sum([]byte("a"))
	gone := stored{at: 21500 * time.Millisecond, what: "gone", blobs: []artifacts.Digest{key}}
	event := func(of enums.EventType) *history.HistoryEvent { return &history.HistoryEvent{EventType: of} }
	begun := event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED)
	begun.Attributes = &history.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: &history.WorkflowExecutionStartedEventAttributes{WorkflowId: workflows.ReproduceWorkflowID("1")}}
	well := func() observed {
		first := act{Do: "run", Edition: 1}
		return observed{
			script: script{Acts: []act{first}, Pipeline: pipelineScript{Blocks: []block{
				{Name: "a", Kind: "work", Since: 1}, {Name: "b", Kind: "work", Since: 1, End: "permanent"}, {Name: "c", Kind: "work", After: []string{"b"}, Since: 1}}}},
			runs: []ran{{act: first, id: "1", began: time.Second, ended: 30 * time.Second, err: errors.New("1 step failed"), record: &workflows.RunRecord{Steps: []workflows.RunStep{
				{Address: "step.work.a", Outcome: workflows.Ran, Key: key}, {Address: "step.work.b", Key: artifacts.Sum([]byte("b")), Outcome: workflows.Failed, Error: "it cannot be done"},
				{Address: "step.work.c", Outcome: workflows.Skipped, Error: "needs step.work.b, which failed"}}}}},
			work: []work{{address: "a", key: key, began: 10 * time.Second, ended: 20 * time.Second, how: "done"},
				{address: "b", key: artifacts.Sum([]byte("b")), began: 10 * time.Second, ended: 25 * time.Second, how: "failed"}},
			stored: []stored{{at: 2 * time.Second, what: "opened", run: "1"}, {at: 21 * time.Second, what: "result", key: key, blobs: []artifacts.Digest{key}}, {at: 29 * time.Second, what: "closed", run: "1"}},
		}
	}
	if said := judge(well()); len(said) > 0 {
		t.Fatal(said)
	}
	again := func(o *observed, at time.Duration) {
		o.work = append(o.work, work{address: "a", key: key, began: at, ended: 23 * time.Second, how: "done"})
	}
	steps := func(o *observed) []workflows.RunStep { return o.runs[0].record.Steps }
	for want, breaks := range map[string]func(o *observed){
		"no trouble: panic":                           func(o *observed) { o.troubles = []string{"panic"} },
		"ends: the schedule":                          func(o *observed) { o.stuck = true },
		"end: run 0 has no record":                    func(o *observed) { o.runs[0].record = nil },
		"there is no such step":                       func(o *observed) { steps(o)[0].Address = "step.work.z" },
		"a is failed (), and the model says":          func(o *observed) { steps(o)[0].Outcome = workflows.Failed },
		"b is hit (it cannot be done), and the model": func(o *observed) { steps(o)[1].Outcome = workflows.Hit },
		"and the model says \"it cannot":              func(o *observed) { steps(o)[1].Error = "another" },
		"\"step.work.a\" did not fail":                func(o *observed) { steps(o)[2].Error = "needs step.work.a, which failed" },
		"left out: run 0: step.work.c is not":         func(o *observed) { steps(o)[2].Outcome, o.runs[0].err = workflows.NotStarted, nil },
		"step.work.c is not in its record":            func(o *observed) { o.runs[0].record.Steps = steps(o)[:2] },
		"of its steps did not end well":               func(o *observed) { o.runs[0].err = nil },
		"says that 2 steps are ran":                   func(o *observed) { o.runs[0].record.Counts = map[workflows.Status]int{workflows.Ran: 2} },
		"in time: run 0 has not ended":                func(o *observed) { o.runs[0].ended = 0 },
		"in time: run 0 ended":                        func(o *observed) { o.runs[0].ended = time.Hour },
		"stands still":                                func(o *observed) { o.runs[0].ended = 3 * time.Minute },
		"cancelled: run 0 ended at 30s, and a":        func(o *observed) { o.runs[0].cancelled = 12 * time.Second; o.work[0].ended = time.Minute },
		"and a begins at 31s": func(o *observed) {
			o.runs[0].cancelled, o.work[0].began, o.work[0].run = 12*time.Second, 31*time.Second, "1"
			o.work[0].ended = time.Minute
		},
		"again: a begins at 22s": func(o *observed) { again(o, 22*time.Second) },
		"twice: a runs since 10s": func(o *observed) {
			again(o, 15*time.Second)
		},
		"fail-fast: run 0 knows": func(o *observed) {
			o.runs[0].FailFast = true
			o.histories = []*history.History{{Events: []*history.HistoryEvent{begun, event(enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED), event(enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED)}}}
		},
		"a of 10s goes on":         func(o *observed) { o.work[0].how = "" },
		"1: step/ab has not ended": func(o *observed) { o.open = []string{"server 1: step/ab"} },
		"there is a lease":         func(o *observed) { o.leases = []string{"leases/ab"} },
		"growth: a history":        func(o *observed) { o.longest = 10000 },
		"sound: results/": func(o *observed) {
			o.store = mem.New()
			if err := o.store.Records.Put(t.Context(), artifacts.ResultsPrefix+key.Hex(), []byte("{}")); err != nil {
				t.Error(err)
			}
		},
		"result: run 0":             func(o *observed) { steps(o)[0].Key = artifacts.Sum([]byte("z")) },
		"kept: run 0":               func(o *observed) { o.stored = slices.Insert(o.stored, 2, gone) },
		"nobody did its work":       func(o *observed) { o.work = o.work[1:] },
		"a is hit, and the run has": func(o *observed) { steps(o)[0].Outcome = workflows.Hit },
		"the run is open from 22s":  func(o *observed) { o.stored[0].at = 22 * time.Second },
		"open: run 0 has":           func(o *observed) { o.stored = o.stored[:2] },
		"failures: run 0":           func(o *observed) { o.store = mem.New() },
		"tries: b, which":           func(o *observed) { o.work = append(o.work, o.work[1]) },
		"replaced: the result":      func(o *observed) { o.stored = append(o.stored, stored{at: time.Minute, what: "result", key: key}) },
		"limits: 2 steps": func(o *observed) {
			p := &o.script.Pipeline
			p.Limit, p.Blocks[0].Limited, p.Blocks[1].Limited = 1, true, true
		},
		"wanted: step/a is cancelled": func(o *observed) {
			step := &history.HistoryEvent{EventType: begun.EventType, Attributes: &history.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: &history.WorkflowExecutionStartedEventAttributes{
				WorkflowId: "step/a", Input: &common.Payloads{Payloads: []*common.Payload{{Data: []byte(`{"run_id":"1"}`)}}}}}}
			o.histories = []*history.History{{Events: []*history.HistoryEvent{step, event(enums.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED)}}}
		},
		"growth: a payload": func(o *observed) { o.largest = 3 << 20 },
	} {
		o := well()
		breaks(&o)
		if said := strings.Join(judge(o), "\n"); !strings.Contains(said, want) {
			t.Errorf("want %q, got %q", want, said)
		}
	}
	// What makes the same things right.
	for name, c := range map[string]func(o *observed){
		"again, for its blob is gone": func(o *observed) {
			o.stored = slices.Insert(o.stored, 2, gone, stored{at: 23 * time.Second, what: "back", blobs: []artifacts.Digest{key}})
			again(o, 22*time.Second)
		},
		"twice, for its lease is lost": func(o *observed) {
			o.script.Faults = []fault{{At: 9 * time.Second, For: 2 * time.Minute, What: "outage"}}
			again(o, 15*time.Second)
		},
		"twice, for its worker stood still": func(o *observed) {
			o.script.Acts = append(o.script.Acts, act{At: 11 * time.Second, For: 10 * time.Second, Do: "freeze"})
			again(o, 15*time.Second)
		},
	} {
		o := well()
		if c(&o); len(judge(o)) > 0 {
			t.Errorf("%s: %v", name, judge(o))
		}
	}
}
