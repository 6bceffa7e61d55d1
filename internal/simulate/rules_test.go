package simulate

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// The rules of what is not of one run: the work, the store, the histories, and what is left.

// works: nothing with a result runs again, and all work ends.
func (v *verdict) works() {
	for _, w := range v.work {
		since, is, _ := v.result(w.key, w.began)
		// Who had its lease taken may write its result while another looks and begins.
		taken := w.began-since < missed && v.away(leaseLives, since-10*leaseLives, since) || v.stood(w, since-missed, w.began) > 0
		v.must(!is || taken, "again", "%s begins at %s by process %d.%d, and has a result since %s", w.address, w.began, w.server, w.process, since)
		v.must(w.how != "", "nothing is left", "%s of %s goes on", w.address, w.began)
	}
}

// twice: work is done by two at once only after a lease was lost, or its worker was missed.
func (v *verdict) twice() {
	for i, b := range v.work {
		for _, a := range v.work[:i] {
			if a.key == b.key && a.ended > b.began && b.ended > a.began {
				// One that wakes may write and delete its old lease in the place of another's.
				missing := slices.ContainsFunc(v.work, func(w work) bool {
					return w.key == a.key && w.began <= b.began && v.stood(w, min(w.began, a.began), b.began) > 0
				})
				v.must(missing || v.away(leaseLives, a.began, b.began), "twice", "%s runs since %s on process %d.%d, and since %s on %d.%d",
					a.address, a.began, a.server, a.process, b.began, b.server, b.process)
			}
		}
	}
}

// limits: a run has no more steps at work with the limit's name than it allows.
func (v *verdict) limits() {
	limited := map[string]bool{} // steps, by the address of their work
	for _, w := range v.work {
		b := v.script.Pipeline.of(w.address)
		limited[w.address] = b != nil && b.Limited && v.script.Pipeline.Limit > 0
	}
	for _, w := range v.work {
		at := map[string]bool{}
		for _, x := range v.work {
			if step, _, _ := strings.Cut(x.address, "#"); limited[x.address] && x.began <= w.began && w.began < x.ended {
				at[step] = true
			}
		}
		most := v.script.Pipeline.Limit * v.beside(w.began-2*patience, w.began)
		v.must(len(at) <= most || v.happened(0, w.began, "freeze"), "limits", "%d steps that the limit allows %d of are at work at %s", len(at), most, w.began)
	}
}

// tries: what fails for good is tried once by a run, and what a retry may fix ten times.
func (v *verdict) tries() {
	failed, p, runs, lost := map[string]int{}, v.script.Pipeline, v.beside(0, never), 0
	for _, a := range v.script.Acts {
		lost += map[string]int{"kill": 1, "stop": 1, "freeze": 1}[a.Do]
	}
	if len(v.harmed) > 0 || v.happened(0, never, "redeliver", "lose-task", "lost-answer", "outage", "throttle", "gc") {
		return
	}
	for _, w := range v.work {
		b, end := p.of(w.address), p.end(w.address)
		if b == nil || w.how != "failed" || end == "transient" && b.Retry > 0 {
			continue
		}
		most := map[string]int{"permanent": runs + lost, "panics": runs + lost, "changed": runs + lost, "exits": (1+b.Retry)*runs + lost,
			"transient": inARow * (runs + lost)}[end]
		for _, twin := range p.Blocks {
			if twin.As == b.Name { // who fails, fails each of them
				most += most
			}
		}
		failed[w.address]++
		v.must(most == 0 || failed[w.address] != most+1, "tries", "%s, which is %s, fails %d times in %d runs, at last at %s", w.address, end, most+1, runs, w.ended)
	}
}

// replaced: while a result is whole, no other one takes its place.
func (v *verdict) replaced() {
	for _, s := range v.stored {
		if s.what == "result" {
			since, is, blobs := v.result(s.key, s.at)
			v.must(!is || slices.Equal(blobs, s.blobs), "replaced", "the result %s of %s is another one since %s", s.key.Short(), since, s.at)
		}
	}
}

// told is what histories of runs tell.
func (v *verdict) told() {
	for _, h := range v.histories {
		id := append(h.Events, nil)[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
		for n, r := range v.runs {
			if r.id != "" && id == workflows.ReproduceWorkflowID(r.id) {
				v.wanted(n, h)
				if r.FailFast {
					v.failFast(n, h)
				}
			}
		}
	}
}

// failFast: once a run of --fail-fast knows of a failure it gives nothing more out.
func (v *verdict) failFast(n int, h *history.History) {
	known := ""
	for _, e := range h.Events {
		gives := e.EventType == enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED || isDo(e)
		v.must(known == "" || !gives, "fail-fast", "run %d knows of a failure since %s, and gives more out: %s", n, known, e.EventType)
		fails := e.EventType == enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED || e.EventType == enums.EVENT_TYPE_ACTIVITY_TASK_FAILED
		if fails && !strings.Contains(e.String(), workflows.InputLostError) {
			known = e.EventTime.AsTime().Format(time.TimeOnly)
			v.takenBack(n, e.EventTime.AsTime().Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
		}
	}
}

// takenBack: what no worker had begun when a run of --fail-fast heard of a failure is not begun. A batch goes on for its
// time, and a step that a retry may mend is tried again.
func (v *verdict) takenBack(n int, failed time.Duration) {
	r := v.runs[n]
	for _, w := range v.work {
		late := w.run == r.id && !w.part && w.began > failed+workflows.BatchTime+2*time.Second && w.began < r.ended
		begun := slices.ContainsFunc(v.work, func(x work) bool { return x.run == r.id && x.address == w.address && x.began < failed })
		v.must(!late || begun || v.happened(failed-taskLost, w.began, "freeze", "lose-task", "kill", "stop", "redeliver", "outage", "slow", "throttle", "lost-answer"),
			"fail-fast", "run %d knows of a failure since %s, and %s begins at %s", n, failed, w.address, w.began)
	}
}

// wanted: the work of a run is cancelled only with the run, which then waits for it for a while, or taken back with
// --fail-fast.
func (v *verdict) wanted(n int, h *history.History) {
	const grace = 20 * time.Second
	var cancelled time.Time
	does, open := map[int64]bool{}, map[int64]bool{}
	for _, e := range h.Events {
		if does[e.EventId] = isDo(e); does[e.EventId] {
			open[e.EventId] = true
		}
		at := e.EventTime.AsTime()
		of := e.GetActivityTaskCancelRequestedEventAttributes().GetScheduledEventId()
		v.must(!cancelled.IsZero() || !does[of] || v.runs[n].FailFast, "wanted", "run %d was not cancelled, and cancels its work at %s", n, at.Format(time.TimeOnly))
		delete(open, e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId())
		delete(open, e.GetActivityTaskFailedEventAttributes().GetScheduledEventId())
		delete(open, e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId())
		delete(open, e.GetActivityTaskCanceledEventAttributes().GetScheduledEventId())
		switch e.EventType {
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
			cancelled = at
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
			waits := cancelled.IsZero() || len(open) == 0 || at.Sub(cancelled) >= grace
			v.must(waits, "wanted", "run %d is cancelled at %s and ends at %s, and %d of its works have not", n, cancelled.Format(time.TimeOnly), at.Format(time.TimeOnly), len(open))
		}
	}
}

func isDo(e *history.HistoryEvent) bool {
	return e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == workflows.DoActivity
}

// growth: no history grows without bound.
func (v *verdict) growth() {
	steps := 0
	for _, r := range v.runs {
		if r.record != nil {
			steps = max(steps, len(r.record.Steps))
		}
	}
	most := 300 + 30*(steps+len(v.work)) // some ten events of a step's start and end, and of each try
	if v.script.Uneven {                 // what a worker has no room for is asked for again every few seconds
		most *= 5
	}
	v.must(v.longest <= most, "growth", "a history has %d events: %d steps and %d tries account for %d", v.longest, steps, len(v.work), most)
	v.must(v.largest <= mostBytes, "growth", "a payload has %d bytes", v.largest)
}

// left: when all has ended there is no workflow and no lease.
func (v *verdict) left() {
	v.must(len(v.open) == 0, "nothing is left", "%s has not ended", strings.Join(v.open, ", "))
	for _, name := range v.leases { // of one who was killed as it took the lease there may be two
		key, _, _ := strings.Cut(name, ".")
		killed := slices.ContainsFunc(v.leases, func(n string) bool { return strings.HasPrefix(n, key) && strings.HasSuffix(n, " (killed)") })
		v.must(killed, "nothing is left", "there is a lease %s", name)
	}
}

// sound: the store passes verify, but for what faults did to it.
func (v *verdict) sound() {
	if v.store.Blobs == nil {
		return
	}
	report, err := artifacts.Check(context.Background(), v.store, artifacts.CheckOptions{})
	v.must(err == nil, "sound", "the store cannot be checked: %v", err)
	for _, p := range report.Problems {
		key, _ := artifacts.ParseHex(strings.TrimPrefix(p.Record, artifacts.ResultsPrefix))
		hurt := v.lost(key)
		for d := range v.harmed {
			hurt = hurt || p.Blob == d || strings.Contains(p.String(), d.Hex()) || strings.Contains(p.String(), d.Short())
		}
		v.must(hurt, "sound", "%s", p)
	}
}
