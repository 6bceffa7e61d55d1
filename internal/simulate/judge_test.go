package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// What reliability.md promises in figures.
const (
	missed     = 20 * time.Second // until a lost worker is noticed, and between tries of work
	patience   = 90 * time.Second // that a store may be away; and after which short work is done
	leaseLives = time.Minute      // without its holder
	inARow     = 10               // tries of work that fails
	mostBytes  = 2 << 20          // of a payload
)

// A verdict is what breaks a promise, by rule.
type verdict struct {
	o    *observed
	said []string
}

func (v *verdict) add(rule, format string, args ...any) {
	v.said = append(v.said, rule+": "+fmt.Sprintf(format, args...))
}

// judge names what must hold after each schedule and does not, each with its rule, who, what and when.
func judge(o observed) []string {
	v := &verdict{o: &o}
	for _, t := range o.troubles {
		v.add("no trouble", "%s", t)
	}
	if o.stuck {
		v.add("ends", "the schedule has not ended")
	}
	for n := range o.runs {
		if r := &o.runs[n]; r.Do == "run" {
			v.ends(n, r)
			v.inTime(n, r)
			v.leftBehind(n, r)
		}
	}
	v.again()
	v.twice()
	v.failFast()
	v.left()
	v.growth()
	v.sound()
	return v.said
}

// away reports whether faults of the store, one after the other, of more than so long fall in a time.
func (o *observed) away(than, from, to time.Duration) bool {
	faults := slices.DeleteFunc(slices.Clone(o.script.Faults), func(f fault) bool {
		return !slices.Contains([]string{"outage", "slow", "throttle", "lost-answer"}, f.What)
	})
	slices.SortFunc(faults, func(a, b fault) int { return int(a.At - b.At) })
	var began, over time.Duration
	return slices.ContainsFunc(faults, func(f fault) bool {
		if f.At > over+missed {
			began = f.At
		}
		over = max(over, f.At+f.For)
		return over-began > than && began < to && from < over
	})
}

// collected reports whether the plan of a run was collected before a worker knew of the run: who
// collects with so short a grace is told that it may be.
func (o *observed) collected(r *ran) bool {
	gc := slices.ContainsFunc(o.script.Acts, func(a act) bool { return a.Do == "gc" && a.At < r.ended })
	lost := workflows.ErrorOf(r.err)
	return gc && lost != nil && lost.Type == workflows.PlanLostError
}

// until is when a run ended, or the end of all.
func (o *observed) until(r *ran) time.Duration {
	if r.ended > 0 {
		return r.ended
	}
	return 1 << 62
}

// ends compares the end of each step with the model's.
func (v *verdict) ends(n int, r *ran) {
	of := people{failFast: r.FailFast, skipFailed: r.SkipFailed, cancelled: r.cancelled > 0, away: v.o.away(patience-inARow*time.Second, r.began, v.o.until(r))}
	switch {
	case r.began == 0 || r.ended == 0: // it had nothing to do, or see inTime
		return
	case r.record == nil:
		if !of.cancelled && !of.away && !v.o.collected(r) {
			v.add("end", "run %d has no record; it ended at %s with %v", n, r.ended, r.err)
		}
		return
	}
	all := model(v.o.script.Pipeline, r.Edition, of)
	failed, counted := map[string]bool{}, map[workflows.Status]int{}
	for _, s := range r.record.Steps {
		failed[s.Address] = s.Outcome == workflows.Failed
	}
	for _, s := range r.record.Steps {
		counted[s.Outcome]++
		e, known := all[s.Address]
		delete(all, s.Address)
		is := s.Outcome
		if is == workflows.Hit {
			is = workflows.Ran
		}
		switch {
		case !known && (of.cancelled || of.failFast || of.away) && is != workflows.Ran && is != workflows.Failed: // it was not known yet
		case !known:
			v.add("end", "run %d: %s is %s, and there is no such step: %s", n, s.Address, is, s.Error)
		case !slices.Contains(e.ends, is):
			v.add("end", "run %d: %s is %s, and the model says %v: %s", n, s.Address, is, e.ends, s.Error)
		case is == workflows.Failed && !strings.Contains(s.Error, e.why):
			v.add("end", "run %d: %s failed with %q, and the model says %q", n, s.Address, s.Error, e.why)
		case is == workflows.Skipped:
			if cause, _, _ := strings.Cut(strings.TrimPrefix(s.Error, "needs "), ", which failed"); !failed[cause] {
				v.add("end", "run %d: %s was skipped because of %q, which did not fail", n, s.Address, s.Error)
			}
		}
		if strings.Contains(s.Error, "for no reason") || is == workflows.NotStarted && r.err == nil {
			v.add("left out", "run %d: %s was not started: %s", n, s.Address, s.Error)
		}
	}
	for at, e := range all {
		if !e.maybe {
			v.add("left out", "run %d: %s is not in its record", n, at)
		}
	}
	bad := counted[workflows.Failed] + counted[workflows.Cancelled] + counted[workflows.NotStarted]
	if (r.err == nil) != (bad == 0) && !of.cancelled && !of.away {
		v.add("end", "run %d ends with %v, and %d of its steps did not end well", n, r.err, bad)
	}
	for status, count := range r.record.Counts {
		if counted[status] != count {
			v.add("end", "run %d says that %d steps are %s, and its record has %d", n, count, status, counted[status])
		}
	}
}

// inTime: a run ends within a time of the last fault that follows from the work that it did.
func (v *verdict) inTime(n int, r *ran) {
	if r.began == 0 && r.err == nil {
		return
	}
	last := max(r.began, r.cancelled)
	for _, f := range v.o.script.Faults {
		last = max(last, f.At+f.For)
	}
	for _, a := range v.o.script.Acts {
		last = max(last, a.At)
	}
	for _, u := range v.o.unhandy {
		last = max(last, u.to)
	}
	if r.ended == 0 {
		v.add("in time", "run %d has not ended: %v", n, r.err)
		return
	}
	// Each try costs its time, and at most the pause or the loss before it; each step the way to
	// a worker, its lease and its result; passes that release bytes are half a minute apart.
	most := last + 2*patience
	for _, w := range v.o.work {
		if w.ended > last {
			most += w.ended - max(w.began, last) + missed
		}
	}
	if r.ended > most {
		v.add("in time", "run %d ended at %s, and could have at %s", n, r.ended, most)
	}
	v.still(n, r, last)
}

// still: while a run is open and no work goes on, something begins or ends soon.
func (v *verdict) still(n int, r *ran, healed time.Duration) {
	busy := []unhandy{}
	for _, w := range v.o.work {
		to := w.ended
		if w.how == "" {
			to = v.o.until(r)
		}
		busy = append(busy, unhandy{from: w.began, to: to})
	}
	slices.SortFunc(busy, func(a, b unhandy) int { return int(a.from - b.from) })
	at := max(r.began, healed)
	for _, b := range append(busy, unhandy{from: r.ended, to: r.ended}) {
		if b.from > r.ended {
			b.from = r.ended
		}
		if b.from-at > patience {
			v.add("stands still", "run %d: nothing from %s to %s", n, at, b.from)
		}
		at = max(at, b.to)
	}
}

// leftBehind: when a run was cancelled, nothing of it goes on.
func (v *verdict) leftBehind(n int, r *ran) {
	if r.cancelled == 0 || r.ended == 0 {
		return
	}
	for _, w := range v.o.work {
		if w.began < r.began || w.server != r.Server || w.how != "" && w.ended <= r.ended+missed {
			continue
		}
		if w.began > r.ended && w.run == r.id && w.run != "" {
			v.add("cancelled", "run %d ended at %s, and %s begins at %s", n, r.ended, w.address, w.began)
		}
		others := slices.ContainsFunc(v.o.runs, func(other ran) bool {
			return other.id != r.id && other.Do == "run" && other.began < w.ended+1 && v.o.until(&other) > r.ended
		})
		if !others {
			v.add("cancelled", "run %d ended at %s, and %s of %s goes on: %s at %s", n, r.ended, w.address, w.began, w.how, w.ended)
		}
	}
}

// result reports whether the store has had a whole result of a key from a time on that was there
// at another.
func (o *observed) result(key artifacts.Digest, at time.Duration) (since time.Duration, is bool) {
	var blobs []artifacts.Digest
	for _, s := range o.stored {
		switch {
		case s.at >= at:
			return since, is
		case s.what == "result" && s.key == key:
			since, is, blobs = s.at, true, s.blobs
		case s.what == "result gone" && s.key == key:
			is = false
		case s.what == "gone" && slices.ContainsFunc(s.blobs, func(d artifacts.Digest) bool { return slices.Contains(blobs, d) }):
			is = false
		}
	}
	return since, is
}

// again: nothing with a result runs again.
func (v *verdict) again() {
	for _, w := range v.o.work {
		since, is := v.o.result(w.key, w.began)
		// Who had its lease taken may write its result while another looks and begins.
		if is && !(w.began-since < missed && v.o.away(leaseLives, since-10*leaseLives, since)) {
			v.add("again", "%s begins at %s by process %d.%d, and has a result since %s", w.address, w.began, w.server, w.process, since)
		}
	}
}

// twice: work is done by two at once only after a lease was lost.
func (v *verdict) twice() {
	for i, a := range v.o.work {
		for _, b := range v.o.work[i+1:] {
			over := func(w work) time.Duration {
				if w.how == "" {
					return 1 << 62
				}
				return w.ended
			}
			if a.key != b.key || over(a) <= b.began || over(b) <= a.began {
				continue
			}
			first, second := a, b
			if b.began < a.began {
				first, second = b, a
			}
			if !v.o.away(leaseLives, first.began, second.began) {
				v.add("twice", "%s runs since %s on process %d.%d, and since %s on %d.%d", first.address, first.began, first.server, first.process, second.began, second.server, second.process)
			}
		}
	}
}

// failFast: once a run of --fail-fast knows of a failure, it gives nothing more out.
func (v *verdict) failFast() {
	for n, r := range v.o.runs {
		if !r.FailFast || r.id == "" {
			continue
		}
		for _, h := range v.o.histories {
			if historyOf(h) != workflows.ReproduceWorkflowID(r.id) {
				continue
			}
			known := time.Time{}
			for _, e := range h.Events {
				switch e.EventType {
				case enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED:
					if cause := e.GetChildWorkflowExecutionFailedEventAttributes().GetFailure(); known.IsZero() && !strings.Contains(cause.String(), workflows.InputLostError) {
						known = e.EventTime.AsTime()
					}
				case enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
					if !known.IsZero() {
						v.add("fail-fast", "run %d knows of a failure since %s, and starts %s", n, known.Format(time.TimeOnly), e.GetStartChildWorkflowExecutionInitiatedEventAttributes().GetWorkflowId())
					}
				case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
					if what := e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName(); !known.IsZero() && what == workflows.BatchActivity {
						v.add("fail-fast", "run %d knows of a failure since %s, and gives out a batch", n, known.Format(time.TimeOnly))
					}
				}
			}
		}
	}
}

func historyOf(h *history.History) string {
	if len(h.Events) == 0 {
		return ""
	}
	return h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
}

// left: when all has ended there is no work, no workflow and no lease.
func (v *verdict) left() {
	for _, w := range v.o.work {
		if w.how == "" {
			v.add("nothing is left", "%s of %s goes on", w.address, w.began)
		}
	}
	for _, id := range v.o.open {
		v.add("nothing is left", "%s has not ended", id)
	}
	for _, name := range v.o.leases {
		if !strings.HasSuffix(name, " (killed)") {
			v.add("nothing is left", "there is a lease %s", name)
		}
	}
}

// growth: no history and no payload grows without bound.
func (v *verdict) growth() {
	steps := 0
	for _, r := range v.o.runs {
		if r.record != nil {
			steps = max(steps, len(r.record.Steps))
		}
	}
	most := 300 + 30*(steps+len(v.o.work)) // some ten events of a step's start and end, and of each try
	if v.o.longest > most {
		v.add("growth", "a history has %d events: %d steps and %d tries account for %d", v.o.longest, steps, len(v.o.work), most)
	}
	if v.o.largest > mostBytes {
		v.add("growth", "a payload has %d bytes", v.o.largest)
	}
}

// sound: the store passes verify, but for what faults did to it.
func (v *verdict) sound() {
	if v.o.store.Blobs == nil {
		return
	}
	report, err := artifacts.Check(context.Background(), v.o.store, artifacts.CheckOptions{})
	if err != nil {
		v.add("sound", "the store cannot be checked: %v", err)
	}
	for _, p := range report.Problems {
		if hurt := v.harmed(p); !hurt {
			v.add("sound", "%s", p)
		}
	}
}

// harmed reports whether faults are to blame for what is wrong in the store.
func (v *verdict) harmed(p artifacts.Problem) bool {
	for d := range v.o.harmed {
		if p.Blob == d || strings.Contains(p.String(), d.Hex()) || strings.Contains(p.String(), d.Short()) {
			return true
		}
	}
	for _, s := range v.o.stored {
		if s.what == "result" && p.Record == artifacts.ResultsPrefix+s.key.Hex() && slices.ContainsFunc(s.blobs, func(d artifacts.Digest) bool { return v.o.harmed[d] }) {
			return true
		}
	}
	return false
}
