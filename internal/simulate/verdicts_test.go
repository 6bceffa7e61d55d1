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
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// TestJudge: nothing is said of what went well, and each rule of the judge has something that breaks it.
func TestJudge(t *testing.T) {
	const s = time.Second
	a, b := artifacts.Sum([]byte("a")), artifacts.Sum([]byte("b"))
	told := func(then ...*history.HistoryEvent) []*history.History { // the run begins, and what it does then
		begun := &history.WorkflowExecutionStartedEventAttributes{WorkflowId: workflows.ReproduceWorkflowID("1"), Input: &common.Payloads{Payloads: []*common.Payload{{Data: []byte(`{"run_id":"1"}`)}}}}
		h := &history.History{Events: []*history.HistoryEvent{{Attributes: &history.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: begun}}}}
		h.Events = append(h.Events, then...)
		return []*history.History{h}
	}
	does := &history.HistoryEvent{EventId: 5, Attributes: &history.HistoryEvent_ActivityTaskScheduledEventAttributes{
		ActivityTaskScheduledEventAttributes: &history.ActivityTaskScheduledEventAttributes{ActivityType: &common.ActivityType{Name: workflows.DoActivity}}}}
	cancels := &history.HistoryEvent{EventId: 6, Attributes: &history.HistoryEvent_ActivityTaskCancelRequestedEventAttributes{
		ActivityTaskCancelRequestedEventAttributes: &history.ActivityTaskCancelRequestedEventAttributes{ScheduledEventId: 5}}}
	gone, back := stored{at: 21500 * time.Millisecond, what: "gone", blobs: []artifacts.Digest{a}}, stored{at: 23 * s, what: "back", blobs: []artifacts.Digest{a}}
	broken := mem.New()
	errtest.None(t, broken.Records.Put(t.Context(), artifacts.ResultsPrefix+a.Hex(), []byte("{}")))
	filed := mem.New()
	own := storetest.NewResult(t, filed, "work.a", map[string]string{"out": "a"})
	own.Origin.RunID = "1"
	storetest.Publish(t, filed, own)
	type seen struct { // what is observed, with the parts of it that most cases change
		observed
		run     *ran
		a, b, c *runs.Step
	}
	judged := func(change func(o *seen)) string {
		of := seen{run: &ran{act: act{Do: "run", Edition: 1}, id: "1", began: s, ended: 30 * s, err: errors.New("1 step failed"), record: &runs.Record{Steps: []runs.Step{
			{Address: "step.work.a", Outcome: runs.Ran, Key: a}, {Address: "step.work.b", Key: b, Outcome: runs.Failed, Error: "it cannot be done"},
			{Address: "step.work.c", Outcome: runs.Skipped, Error: "needs step.work.b, which failed"}}}}}
		of.script = script{Acts: []act{of.run.act}, Pipeline: pipelineScript{Blocks: []block{
			{Name: "a", Kind: "work"}, {Name: "b", Kind: "work", End: "permanent"}, {Name: "c", Kind: "work", After: []string{"b"}}}}}
		of.work = []work{{address: "a", key: a, began: 10 * s, ended: 20 * s, how: "done"}, {address: "b", key: b, began: 10 * s, ended: 25 * s, how: "failed"}}
		of.stored = []stored{{at: 2 * s, what: "opened", run: "1"}, {at: 21 * s, what: "result", key: a, blobs: []artifacts.Digest{a}}, {at: 29 * s, what: "closed", run: "1"}}
		of.a, of.b, of.c = &of.run.record.Steps[0], &of.run.record.Steps[1], &of.run.record.Steps[2]
		change(&of)
		of.runs = []ran{*of.run}
		return strings.Join(judge(of.observed), "\n")
	}
	again := func(o *seen, at time.Duration) []work {
		return append(o.work, work{address: "a", key: a, began: at, ended: 23 * s, how: "done"})
	}
	for want, breaks := range map[string]func(o *seen){
		"no trouble: panic":                    func(o *seen) { o.troubles = []string{"panic"} },
		"ends: the schedule":                   func(o *seen) { o.stuck = true },
		"end: run 0 has no record":             func(o *seen) { o.run.record = nil },
		"there is no such step":                func(o *seen) { o.a.Address = "step.work.z" },
		"a is failed (), and the model says":   func(o *seen) { o.a.Outcome = runs.Failed },
		"b is hit (it cannot be done), and":    func(o *seen) { o.b.Outcome = runs.Hit },
		"and the model says \"it cannot":       func(o *seen) { o.b.Error = "another" },
		"\"step.work.a\" did not fail":         func(o *seen) { o.c.Error = "needs step.work.a, which failed" },
		"left out: run 0: step.work.c is not":  func(o *seen) { o.c.Outcome, o.run.err = runs.NotStarted, nil },
		"step.work.c is not in its record":     func(o *seen) { o.run.record.Steps = o.run.record.Steps[:2] },
		"of its steps did not end well":        func(o *seen) { o.run.err = nil },
		"says that 2 steps are ran":            func(o *seen) { o.run.record.Counts = map[runs.Status]int{runs.Ran: 2} },
		"in time: run 0 has not ended":         func(o *seen) { o.run.ended = 0 },
		"in time: run 0 ended":                 func(o *seen) { o.run.ended = time.Hour },
		"stands still":                         func(o *seen) { o.run.ended = 180 * s },
		"cancelled: run 0 ended at 30s, and a": func(o *seen) { o.run.cancelled, o.work[0].ended = 12*s, 60*s },
		"and a begins at 31s": func(o *seen) {
			o.run.cancelled, o.work[0] = 12*s, work{run: "1", address: "a", key: a, began: 31 * s, ended: 60 * s, how: "done"}
		},
		"again: a begins at 22s":    func(o *seen) { o.work = again(o, 22*s) },
		"twice: a runs since 10s":   func(o *seen) { o.work = again(o, 15*s) },
		"a of 10s goes on":          func(o *seen) { o.work[0].how = "" },
		"1: step/ab has not ended":  func(o *seen) { o.open = []string{"server 1: step/ab"} },
		"there is a lease":          func(o *seen) { o.leases = []string{"leases/ab"} },
		"growth: a history":         func(o *seen) { o.longest = 10000 },
		"growth: a payload":         func(o *seen) { o.largest = 3 << 20 },
		"sound: results/":           func(o *seen) { o.store = broken },
		"result: run 0":             func(o *seen) { o.a.Key = artifacts.Sum([]byte("z")) },
		"kept: run 0":               func(o *seen) { o.stored = slices.Insert(o.stored, 2, gone) },
		"nobody did its work":       func(o *seen) { o.work = o.work[1:] },
		"a is hit, and the run has": func(o *seen) { o.a.Outcome = runs.Hit },
		"result is the run's own":   func(o *seen) { o.store, o.a.Key, o.a.Outcome = filed, own.Key, runs.Hit },
		"the run is open from 22s":  func(o *seen) { o.stored[0].at = 22 * s },
		"open: run 0 has":           func(o *seen) { o.stored = o.stored[:2] },
		"failures: run 0":           func(o *seen) { o.store = mem.New() },
		"tries: b, which":           func(o *seen) { o.work = append(o.work, o.work[1]) },
		"replaced: the result":      func(o *seen) { o.stored = append(o.stored, stored{at: 60 * s, what: "result", key: a}) },
		"limits: 2 steps": func(o *seen) {
			p := &o.script.Pipeline
			p.Limit, p.Blocks[0].Limited, p.Blocks[1].Limited = 1, true, true
		},
		"wanted: run 0 was not": func(o *seen) { o.histories = told(does, cancels) },
		"1 of its works have not": func(o *seen) {
			o.histories = told(does, &history.HistoryEvent{EventId: 6, EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED},
				&history.HistoryEvent{EventId: 7, EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED})
		},
		"since 0s, and a begins": func(o *seen) {
			o.run.FailFast, o.work[0].run = true, "1"
			o.histories = told(&history.HistoryEvent{EventId: 5, EventType: enums.EVENT_TYPE_ACTIVITY_TASK_FAILED, EventTime: timestamppb.New(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))})
		},
		"fail-fast: run 0 knows": func(o *seen) {
			o.run.FailFast = true
			o.histories = told(&history.HistoryEvent{EventType: enums.EVENT_TYPE_ACTIVITY_TASK_FAILED}, does)
		},
	} {
		if said := judged(breaks); !strings.Contains(said, want) {
			t.Errorf("want %q, got %q", want, said)
		}
	}
	for name, right := range map[string]func(o *seen){
		"all is well":                  func(*seen) {},
		"again, for its blob is gone":  func(o *seen) { o.stored = slices.Insert(o.stored, 2, gone, back); again(o, 22*s) },
		"twice, for its lease is lost": func(o *seen) { o.script.Faults = []fault{{At: 9 * s, For: 120 * s, What: "outage"}}; again(o, 15*s) },
		"twice, for its worker stood still": func(o *seen) {
			o.script.Acts = append(o.script.Acts, act{At: 11 * s, For: 10 * s, Do: "freeze"})
			o.work = again(o, 15*s)
		},
	} {
		if said := judged(right); said != "" {
			t.Errorf("%s: %s", name, said)
		}
	}
}
