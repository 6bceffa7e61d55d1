package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// What reliability.md promises in figures.
const (
	missed     = 20 * time.Second // until a lost worker is noticed, and between tries of work
	silence    = 8 * time.Second  // after which a worker that says something every 7 s may be taken for lost: 15 s without a word
	patience   = 90 * time.Second // that a store may be away; and after which short work is done
	leaseLives = time.Minute      // without its holder
	inARow     = 10               // tries of work that fails
	mostBytes  = 2 << 20          // of a payload
)

// A verdict is what breaks a promise, by rule.
type verdict struct {
	*observed
	said []string
}

// must says what breaks a rule if something does not hold.
func (v *verdict) must(holds bool, rule, format string, args ...any) {
	if !holds {
		v.said = append(v.said, rule+": "+fmt.Sprintf(format, args...))
	}
}

// judge names what must hold after each schedule and does not, each with its rule, who, what and when.
func judge(o observed) []string {
	v := &verdict{observed: &o}
	for _, t := range o.troubles {
		v.must(false, "no trouble", "%s", t)
	}
	v.must(!o.stuck, "ends", "the schedule has not ended")
	for n := range o.runs {
		if r := &o.runs[n]; r.Do == "run" {
			v.ends(n, r)
			v.filed(n, r)
			v.inTime(n, r)
			v.leftBehind(n, r)
		}
	}
	v.works()
	v.twice()
	v.limits()
	v.tries()
	v.replaced()
	v.told()
	v.left()
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

// acted reports whether one of some acts falls in a time.
func (o *observed) acted(from, to time.Duration, does ...string) bool {
	return slices.ContainsFunc(o.script.Acts, func(a act) bool { return slices.Contains(does, a.Do) && a.At <= to && from <= a.At+a.For+missed })
}

// faulty reports whether there are such faults, at any time.
func (o *observed) faulty(what ...string) bool {
	return slices.ContainsFunc(o.script.Faults, func(f fault) bool { return slices.Contains(what, f.What) })
}

// stood is until when the process of some work stood still in a time, for so long that its work may have
// been given to another one.
func (o *observed) stood(w work, from, to time.Duration) (until time.Duration) {
	for _, a := range o.script.Acts {
		if a.Do == "freeze" && a.Server == w.server && a.Number == w.process && a.For >= silence && a.At <= to && from <= a.At+a.For+missed {
			until = max(until, a.At+a.For+missed)
		}
	}
	return until
}

// collected reports whether gc took the plan of a run, with a grace shorter than the plan's age, before a
// worker had noted in the store that the run is open.
func (o *observed) collected(r *ran) bool {
	opened := until(r.ended)
	for _, s := range o.stored {
		if s.what == "opened" && s.run == r.id {
			opened = min(opened, s.at)
		}
	}
	lost := workflows.ErrorOf(r.err)
	return lost != nil && lost.Type == workflows.PlanLostError && slices.ContainsFunc(o.script.Acts, func(a act) bool {
		return a.Do == "gc" && a.For <= a.At+missed-r.At && a.At <= opened+missed
	})
}

// until is an end, or that of all.
func until(end time.Duration) time.Duration {
	if end > 0 {
		return end
	}
	return 1 << 62
}

// beside are the runs in progress at some time between two.
func (o *observed) beside(from, to time.Duration) (n int) {
	for _, r := range o.runs {
		if r.began > 0 && r.began <= to && from <= until(r.ended) {
			n++
		}
	}
	return n
}

// ends compares the end of each step with the model's.
func (v *verdict) ends(n int, r *ran) {
	of := people{failFast: r.FailFast, skipFailed: r.SkipFailed, cancelled: r.cancelled > 0, away: v.away(patience-inARow*time.Second, r.began, until(r.ended))}
	switch {
	case r.began == 0 || r.ended == 0: // it had nothing to do, or see inTime
		return
	case r.record == nil:
		opened := slices.ContainsFunc(v.stored, func(s stored) bool { return s.what == "opened" && s.run == r.id })
		v.must(of.cancelled && !opened || of.away || v.collected(r), "end", "run %d has no record; it ended at %s with %v", n, r.ended, r.err)
		return
	case v.collected(r):
		return
	}
	all := model(v.script.Pipeline, r.Edition, of)
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
			v.must(false, "end", "run %d: %s is %s, and there is no such step: %s", n, s.Address, is, s.Error)
		case !slices.Contains(e.ends, is):
			v.must(false, "end", "run %d: %s is %s, and the model says %v: %s", n, s.Address, is, e.ends, s.Error)
		case is == workflows.Failed && !strings.Contains(s.Error, e.why):
			v.must(false, "end", "run %d: %s failed with %q, and the model says %q", n, s.Address, s.Error, e.why)
		case is == workflows.Skipped:
			cause, _, _ := strings.Cut(strings.TrimPrefix(s.Error, "needs "), ", which failed")
			v.must(failed[cause], "end", "run %d: %s was skipped because of %q, which did not fail", n, s.Address, s.Error)
		}
		v.must(!strings.Contains(s.Error, "for no reason") && (is != workflows.NotStarted || r.err != nil), "left out", "run %d: %s was not started: %s", n, s.Address, s.Error)
	}
	for at, e := range all {
		v.must(e.maybe, "left out", "run %d: %s is not in its record", n, at)
	}
	bad := counted[workflows.Failed] + counted[workflows.Cancelled] + counted[workflows.NotStarted]
	v.must((r.err == nil) == (bad == 0) || of.cancelled || of.away, "end", "run %d ends with %v, and %d of its steps did not end well", n, r.err, bad)
	for status, count := range r.record.Counts {
		v.must(counted[status] == count, "end", "run %d says that %d steps are %s, and its record has %d", n, count, status, counted[status])
	}
}

// filed: what a run has done or found is in the store, where gc and the release of bytes leave it while the
// run is open; it is open until its last result is there; what failed for good is known as such.
func (v *verdict) filed(n int, r *ran) {
	if r.record == nil || r.ended == 0 || v.collected(r) {
		return
	}
	var opened, closed time.Duration
	for _, s := range v.stored {
		if s.run == r.id && s.what == "opened" && opened == 0 {
			opened = s.at
		} else if s.run == r.id && s.what == "closed" && closed == 0 {
			closed = s.at
		}
	}
	calm := v.beside(r.began-missed, r.ended) == 1 && len(v.harmed) == 0 && !v.acted(0, r.ended, "kill", "stop", "freeze", "gc") &&
		!v.faulty("outage", "slow", "throttle", "lost-answer", "redeliver", "lose-task")
	wrong, twins := map[artifacts.Digest]bool{}, map[artifacts.Digest]int{}
	for _, s := range r.record.Steps {
		twins[s.Key]++
	}
	for _, s := range r.record.Steps {
		b := v.script.Pipeline.of(s.Address)
		if s.Outcome == workflows.Failed && strings.Contains(s.Error, "it cannot be done") && b != nil && b.End == "permanent" {
			wrong[s.Key] = true
		}
		if s.Outcome != workflows.Ran && s.Outcome != workflows.Hit {
			continue
		}
		since, is, _ := v.result(s.Key, r.ended)
		v.must(since > 0, "result", "run %d: %s is %s, and the store has never had its result", n, s.Address, s.Outcome)
		found := s.Outcome == workflows.Hit && v.acted(0, r.ended, "gc")
		v.must(is || b == nil || b.temporary(r.Edition) || found || v.lost(s.Key), "kept", "run %d: %s is %s, and when the run ended its result of %s was not whole", n, s.Address, s.Outcome, since)
		mine := slices.ContainsFunc(v.work, func(w work) bool {
			return w.key == s.Key && w.server == r.Server && (w.how != "failed" || !calm) && r.began < until(w.ended) && w.began < r.ended
		})
		v.must(mine || s.Outcome == workflows.Hit, "hit or ran", "run %d: %s ran, and nobody did its work", n, s.Address)
		v.must(!mine || s.Outcome == workflows.Ran || !calm || twins[s.Key] > 1, "hit or ran", "run %d: %s was found, and the run has done its work", n, s.Address)
		v.must(s.Outcome == workflows.Hit || opened > 0 && opened < since && (closed == 0 || closed > since), "open", "run %d is open from %s to %s, and has the result of %s at %s", n, opened, closed, s.Address, since)
	}
	v.must(closed > 0 || v.away(0, r.ended-missed, 1<<62), "open", "run %d has ended, and its record of being open is left", n)
	ended := r.err == nil && r.result.Hit+r.result.Ran == len(r.record.Steps) && !v.away(0, r.ended-missed, 1<<62)
	v.must(!r.Killed || !ended || slices.ContainsFunc(v.stored, func(s stored) bool { return s.what == "closed" && s.run == killed+r.id }),
		"open", "run %d has ended well, and a run of its plan that was killed is open still", n)
	if len(wrong) > 0 && v.store.Records != nil && !v.away(missed/4, r.began, r.ended) {
		known, err := activities.PermanentFailures(context.Background(), v.store, wrong)
		v.must(err == nil && len(known) == len(wrong), "failures", "run %d: %d steps failed for good, and the store knows %d: %v", n, len(wrong), len(known), err)
	}
}

// lost reports whether faults took a blob of a result.
func (o *observed) lost(key artifacts.Digest) bool {
	return slices.ContainsFunc(o.stored, func(s stored) bool {
		return s.what == "result" && s.key == key && slices.ContainsFunc(s.blobs, func(d artifacts.Digest) bool { return o.harmed[d] })
	})
}

// inTime: a run ends within a time of the last fault that follows from the work that it did.
func (v *verdict) inTime(n int, r *ran) {
	if r.began == 0 && r.err == nil {
		return
	}
	last := max(r.began, r.cancelled)
	for _, f := range v.script.Faults {
		last = max(last, f.At+f.For)
	}
	for _, a := range v.script.Acts {
		if last = max(last, a.At); a.Do == "freeze" {
			last = max(last, a.At+a.For)
		}
	}
	for _, u := range v.unhandy {
		last = max(last, u.to)
	}
	if v.must(r.ended > 0, "in time", "run %d has not ended: %v", n, r.err); r.ended == 0 {
		return
	}
	// Each try costs its time, and at most the pause or the loss before it; each step the way to
	// a worker, its lease and its result; passes that release bytes are half a minute apart.
	most := last + 2*patience
	for _, w := range v.work {
		if w.ended > last {
			most += w.ended - max(w.began, last) + missed
		}
	}
	v.must(r.ended <= most, "in time", "run %d ended at %s, and could have at %s", n, r.ended, most)
	v.still(n, r, last)
}

// still: while a run is open and no work goes on, something begins or ends soon.
func (v *verdict) still(n int, r *ran, healed time.Duration) {
	busy := []unhandy{}
	for _, w := range v.work {
		busy = append(busy, unhandy{from: w.began, to: until(w.ended)})
	}
	slices.SortFunc(busy, func(a, b unhandy) int { return int(a.from - b.from) })
	at := max(r.began, healed)
	for _, b := range append(busy, unhandy{from: r.ended, to: r.ended}) {
		b.from = min(b.from, r.ended)
		v.must(b.from-at <= patience, "stands still", "run %d: nothing from %s to %s", n, at, b.from)
		at = max(at, b.to)
	}
}

// leftBehind: when a run was cancelled, nothing of it goes on, but on a process that stands still.
func (v *verdict) leftBehind(n int, r *ran) {
	if r.cancelled == 0 || r.ended == 0 {
		return
	}
	for _, w := range v.work {
		if w.began < r.began || w.server != r.Server || w.how != "" && w.ended <= max(r.ended+missed, v.stood(w, r.cancelled-missed, r.ended+missed)) {
			continue
		}
		v.must(w.began <= r.ended || w.run != r.id || w.run == "", "cancelled", "run %d ended at %s, and %s begins at %s", n, r.ended, w.address, w.began)
		others := slices.ContainsFunc(v.runs, func(other ran) bool {
			return other.id != r.id && other.Do == "run" && other.began < w.ended+1 && until(other.ended) > r.ended
		})
		v.must(others, "cancelled", "run %d ended at %s, and %s of %s goes on: %s at %s", n, r.ended, w.address, w.began, w.how, w.ended)
	}
}
