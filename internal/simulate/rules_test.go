package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// The rules of what is not of one run: the work, the store, the histories, and what is left.

// result is since when the store has a whole result of a key at a time, or had one last, whether it is there
// still, and its blobs.
func (o *observed) result(key artifacts.Digest, at time.Duration) (since time.Duration, is bool, blobs []artifacts.Digest) {
	gone, filed := map[artifacts.Digest]bool{}, false
	for _, s := range o.stored {
		switch {
		case s.at >= at:
			return since, is, blobs
		case s.what == "result" && s.key == key:
			filed, blobs = true, s.blobs
		case s.what == "result gone" && s.key == key:
			filed = false
		case s.what == "gone", s.what == "back":
			gone[s.blobs[0]] = s.what == "gone"
		default:
			continue
		}
		was := is
		is = filed && !slices.ContainsFunc(blobs, func(d artifacts.Digest) bool { return gone[d] })
		if is && !was {
			since = s.at
		}
	}
	return since, is, blobs
}

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
	for i, a := range v.work {
		for _, b := range v.work[i+1:] {
			if a.key != b.key || until(a.ended) <= b.began || until(b.ended) <= a.began {
				continue
			}
			if b.began < a.began {
				a, b = b, a
			}
			missing := max(v.stood(a, a.began, b.began), v.stood(b, a.began, b.began)) > 0
			v.must(missing || v.away(leaseLives, a.began, b.began), "twice", "%s runs since %s on process %d.%d, and since %s on %d.%d", a.address, a.began, a.server, a.process, b.began, b.server, b.process)
		}
	}
}

// limits: a run has no more steps at work with the limit's name than it allows.
func (v *verdict) limits() {
	for _, w := range v.work {
		at := map[string]bool{}
		for _, x := range v.work {
			first, _, _ := strings.Cut(x.address, "#")
			if b := v.script.Pipeline.of(first); b != nil && b.Limited && x.began <= w.began && w.began < until(x.ended) {
				at[first] = true
			}
		}
		most := v.script.Pipeline.Limit * v.beside(w.began-2*patience, w.began)
		v.must(len(at) <= most || v.script.Pipeline.Limit == 0 || v.acted(0, w.began, "freeze"), "limits", "%d steps that the limit allows %d of are at work at %s", len(at), most, w.began)
	}
}

// tries: what fails for good is tried once by a run, and what a retry may fix ten times.
func (v *verdict) tries() {
	failed, runs, lost := map[string]int{}, v.beside(0, 1<<62), 0
	for _, a := range v.script.Acts {
		if a.Do == "kill" || a.Do == "stop" || a.Do == "freeze" {
			lost++
		}
	}
	if len(v.harmed) > 0 || v.faulty("redeliver", "lose-task", "lost-answer", "outage") || v.acted(0, 1<<61, "gc") {
		return
	}
	for _, w := range v.work {
		b, end, most := v.script.Pipeline.of(w.address), v.script.Pipeline.end(w.address), 0
		switch {
		case end == "transient" && b.Retry == 0:
			most = inARow * (runs + lost)
		case end == "permanent" || end == "panics" || end == "changed":
			most = runs + lost
		case end == "exits":
			most = (1+b.Retry)*runs + lost
		default:
			continue
		}
		for _, twin := range v.script.Pipeline.Blocks {
			if twin.As == b.Name { // who fails, fails each of them
				most += most
			}
		}
		if w.how == "failed" {
			failed[w.address]++
		}
		v.must(failed[w.address] != most+1, "tries", "%s, which is %s, fails %d times in %d runs, at last at %s", w.address, end, most+1, runs, w.ended)
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

// told is what histories tell: once a run of --fail-fast knows of a failure it gives nothing more out, and a
// step is cancelled only when all runs that wanted it have left; and none grows without bound.
func (v *verdict) told() {
	steps, fast := 0, map[string]int{}
	for n, r := range v.runs {
		if r.record != nil {
			steps = max(steps, len(r.record.Steps))
		}
		if r.FailFast && r.id != "" {
			fast[workflows.ReproduceWorkflowID(r.id)] = n
		}
	}
	for _, h := range v.histories {
		id := historyOf(h)
		n, isFast := fast[id]
		known, deserted, members := "", false, map[string]bool{}
		for _, e := range h.Events {
			switch e.EventType {
			case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
				text := fmt.Sprint(e.GetWorkflowExecutionStartedEventAttributes().GetInput())
				if _, carried, ok := strings.Cut(text, "members"); ok {
					text = carried
				}
				for _, r := range v.runs {
					members[r.id] = r.id != "" && strings.Contains(text, r.id)
				}
			case enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
				s := e.GetWorkflowExecutionSignaledEventAttributes()
				for _, r := range v.runs {
					if r.id != "" && strings.Contains(fmt.Sprint(s.GetInput()), r.id) && (s.SignalName == "join" || s.SignalName == "leave") {
						members[r.id] = s.SignalName == "join"
					}
				}
				deserted = deserted || !slices.Contains(slices.Collect(maps.Values(members)), true)
			case enums.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED:
				for _, r := range v.runs {
					v.must(deserted || !members[r.id] || !strings.HasPrefix(id, "step/"), "wanted", "%s is cancelled at %s, and run %s wants it", id, e.EventTime.AsTime().Format(time.TimeOnly), r.id)
				}
			case enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED:
				if cause := e.GetChildWorkflowExecutionFailedEventAttributes().GetFailure(); !strings.Contains(cause.String(), workflows.InputLostError) {
					known = e.EventTime.AsTime().Format(time.TimeOnly)
				}
			case enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
				v.must(!isFast || known == "", "fail-fast", "run %d knows of a failure since %s, and starts %s", n, known, e.GetStartChildWorkflowExecutionInitiatedEventAttributes().GetWorkflowId())
			case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
				batch := e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == workflows.BatchActivity
				v.must(!isFast || known == "" || !batch, "fail-fast", "run %d knows of a failure since %s, and gives out a batch", n, known)
			}
		}
	}
	most := 300 + 30*(steps+len(v.work)) // some ten events of a step's start and end, and of each try
	if v.script.Uneven {                 // what a worker has no room for is asked for again every few seconds
		most *= 5
	}
	v.must(v.longest <= most, "growth", "a history has %d events: %d steps and %d tries account for %d", v.longest, steps, len(v.work), most)
	v.must(v.largest <= mostBytes, "growth", "a payload has %d bytes", v.largest)
}

func historyOf(h *history.History) string {
	return append(h.Events, nil)[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
}

// left: when all has ended there is no workflow and no lease.
func (v *verdict) left() {
	for _, id := range v.open {
		v.must(false, "nothing is left", "%s has not ended", id)
	}
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
