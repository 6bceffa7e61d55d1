package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// What reliability.md promises in figures.
const (
	missed     = 20 * time.Second // until a lost worker is noticed, and between tries of work
	silence    = 8 * time.Second  // after which a worker that says something every 7 s may be taken for lost: 15 s without a word
	patience   = 90 * time.Second // that a store may be away; and after which short work is done
	leaseLives = time.Minute      // without its holder
	taskLost   = 45 * time.Second // until a task of a workflow is given out again
	inARow     = 10               // tries of work that fails
	mostBytes  = 2 << 20          // of a payload
)

// never is when that ends which goes on.
const never = time.Duration(1 << 62)

// A verdict is what breaks a promise, by rule.
type verdict struct {
	observed
	said []string
	last time.Duration // when all was well again
}

// must says what breaks a rule if something does not hold.
func (v *verdict) must(holds bool, rule, format string, args ...any) {
	if !holds {
		v.said = append(v.said, rule+": "+fmt.Sprintf(format, args...))
	}
}

// judge names what must hold after each schedule and does not, each with its rule, who, what and when.
func judge(o observed) []string {
	o.runs, o.work = slices.Clone(o.runs), slices.Clone(o.work)
	v := &verdict{observed: o}
	for i := range o.work {
		o.work[i].ended = cmp.Or(o.work[i].ended, never)
	}
	for i := range o.runs {
		o.runs[i].ended = cmp.Or(o.runs[i].ended, never)
	}
	slices.SortStableFunc(o.work, func(a, b work) int { return int(a.began - b.began) })
	for _, f := range o.script.Faults {
		v.last = max(v.last, f.At+f.For)
	}
	for _, a := range o.script.Acts {
		v.last = max(v.last, a.At, a.At+map[string]time.Duration{"freeze": a.For}[a.Do])
	}
	v.must(len(o.troubles) == 0, "no trouble", "%s", strings.Join(o.troubles, "\n"))
	v.must(!o.stuck, "ends", "the schedule has not ended")
	for n := range o.runs {
		r := &o.runs[n]
		v.inTime(n, r)
		v.cancelled(n, r)
		of := people{r.FailFast, r.SkipFailed, r.cancelled > 0, v.away(patience-inARow*time.Second, r.began, r.ended)}
		if over := r.began > 0 && r.ended < never && !v.collected(r); over && r.record != nil {
			v.ends(n, r, of)
			v.filed(n, r)
		} else {
			v.must(!over || of.cancelled && (v.noted(r, "opened") > r.ended || v.noted(r, "closed") <= r.ended || v.happened(r.began-missed, r.ended, "outage", "slow", "throttle", "lost-answer")) || of.away, "end", "run %d has no record; it ended at %s with %v", n, r.ended, r.err)
		}
	}
	for _, rule := range []func(){v.works, v.twice, v.limits, v.tries, v.replaced, v.told, v.growth, v.left, v.sound} {
		rule()
	}
	return v.said
}

// happened reports whether one of some acts or faults falls in a time.
func (o *observed) happened(from, to time.Duration, what ...string) bool {
	in := func(at, long time.Duration, is string) bool {
		return slices.Contains(what, is) && at <= to && from <= at+long+missed
	}
	return slices.ContainsFunc(o.script.Acts, func(a act) bool { return in(a.At, a.For, a.Do) }) ||
		slices.ContainsFunc(o.script.Faults, func(f fault) bool { return in(f.At, f.For, f.What) })
}

// away reports whether faults of the store, one after the other, of more than so long fall in a time.
func (o *observed) away(than, from, to time.Duration) bool {
	faults := slices.SortedFunc(slices.Values(o.script.Faults), func(a, b fault) int { return int(a.At - b.At) })
	var began, over time.Duration
	return slices.ContainsFunc(faults, func(f fault) bool {
		if !slices.Contains([]string{"outage", "slow", "throttle", "lost-answer"}, f.What) {
			return false
		}
		if f.At > over+missed {
			began = f.At
		}
		over = max(over, f.At+f.For)
		return over-began > than && began < to && from < over
	})
}

// stood is until when the process of some work stood still in a time, for so long that its work may have been given to another one.
func (o *observed) stood(w work, from, to time.Duration) (until time.Duration) {
	for _, a := range o.script.Acts {
		if a.Do == "freeze" && a.Server == w.server && a.Number == w.process && a.For >= silence && a.At <= to && from <= a.At+a.For+missed {
			until = max(until, a.At+a.For+missed)
		}
	}
	return until
}

// noted is when a run was first noted as opened or closed.
func (o *observed) noted(r *ran, what string) time.Duration {
	if i := slices.IndexFunc(o.stored, func(s stored) bool { return s.run == r.id && s.what == what }); i >= 0 {
		return o.stored[i].at
	}
	return never
}

// closedBy reports whether another run of a run's plan ended well when the run was closed: its record names all that the run will leave.
func (o *observed) closedBy(r *ran, at time.Duration) bool {
	return slices.ContainsFunc(o.runs, func(x ran) bool {
		same := x.plan == r.plan || o.script.Pipeline.hcl(x.Edition) == o.script.Pipeline.hcl(r.Edition)
		return x.id != r.id && same && x.err == nil && x.began < at && at < x.ended+missed
	})
}

// collected reports whether gc took the plan of a run, with a grace shorter than the plan's age, before the run was noted as open.
func (o *observed) collected(r *ran) bool {
	opened, lost := min(r.ended, o.noted(r, "opened")), workflows.ErrorOf(r.err)
	return lost != nil && lost.Type == workflows.PlanLostError && slices.ContainsFunc(o.script.Acts, func(a act) bool {
		return a.Do == "gc" && a.For <= a.At+missed-r.At && a.At <= opened+missed
	})
}

// beside are the runs in progress at some time between two.
func (o *observed) beside(from, to time.Duration) (n int) {
	for _, r := range o.runs {
		if r.began > 0 && r.began <= to && from <= r.ended {
			n++
		}
	}
	return n
}

// lost reports whether faults took a blob of a result.
func (o *observed) lost(key artifacts.Digest) bool {
	return slices.ContainsFunc(o.stored, func(s stored) bool {
		return s.what == "result" && s.key == key && slices.ContainsFunc(s.blobs, func(d artifacts.Digest) bool { return o.harmed[d] })
	})
}

// result is since when the store has a whole result of a key at a time, or had one last, whether it is there still, and its blobs.
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
		}
		was := is
		if is = filed && !slices.ContainsFunc(blobs, func(d artifacts.Digest) bool { return gone[d] }); is && !was {
			since = s.at
		}
	}
	return since, is, blobs
}

// lacks: what gathers steps has all but those that failed, and its record says which it has not. Where faults took blobs, a step
// may be one that was to be made again when the run ended.
func (v *verdict) lacks(r *ran, s runs.Step, who string) {
	b := v.script.Pipeline.of(s.Address)
	for _, of := range r.record.Steps {
		from, named := v.script.Pipeline.of(of.Address), slices.Contains(s.Lacks, of.Address)
		gone := of.Outcome == runs.Failed || of.Outcome == runs.Skipped
		v.must(!named || gone && from != nil && from.LeaveOut, "lacks", "%s, without %s, which is %s", who, of.Address, of.Outcome)
		if s.Finished() && b != nil && from != nil && slices.Contains(b.After, from.Name) {
			v.must(of.Finished() || named && gone || of.Outcome != runs.Failed && len(v.harmed) > 0, "lacks", "%s, and %s is %s", who, of.Address, of.Outcome)
		}
	}
}

// ends compares the end of each step with the model's.
func (v *verdict) ends(n int, r *ran, of people) {
	all, failed, counted := model(v.script.Pipeline, r.Edition, of), map[string]bool{}, map[runs.Status]int{}
	for _, s := range r.record.Steps {
		failed[s.Address] = s.Outcome == runs.Failed
		counted[s.Outcome]++
	}
	for _, s := range r.record.Steps {
		e, known := all[s.Address]
		delete(all, s.Address)
		is, who := s.Outcome, fmt.Sprintf("run %d: %s is %s (%s)", n, s.Address, s.Outcome, s.Error)
		if is == runs.Hit {
			is = runs.Ran
		}
		cause, _, _ := strings.Cut(strings.TrimPrefix(s.Error, "needs "), ", which failed")
		unknown := (of.cancelled || of.failFast || of.away) && is != runs.Ran && is != runs.Failed // as the run ended
		v.must(known || unknown, "end", "%s, and there is no such step", who)
		v.must(!known || slices.Contains(e.ends, is), "end", "%s, and the model says %v", who, e.ends)
		v.must(!known || is != runs.Failed || strings.Contains(s.Error, e.why), "end", "%s, and the model says %q", who, e.why)
		v.must(!known || is != runs.Skipped || failed[cause] || strings.Contains(cause, " of step."), "end", "%s, and %q did not fail", who, cause)
		v.lacks(r, s, who)
		v.must(!strings.Contains(s.Error, "for no reason") && (is != runs.NotStarted || r.err != nil), "left out", "%s", who)
	}
	for at, e := range all {
		v.must(e.maybe, "left out", "run %d: %s is not in its record", n, at)
	}
	bad := counted[runs.Failed] + counted[runs.Cancelled] + counted[runs.NotStarted]
	v.must((r.err == nil) == (bad == 0) || of.cancelled || of.away, "end", "run %d ends with %v, and %d of its steps did not end well", n, r.err, bad)
	for status, count := range r.record.Counts {
		v.must(counted[status] == count, "end", "run %d says that %d steps are %s, and its record has %d", n, count, status, counted[status])
	}
}

// isOwn reports whether the result that the store has of a step in the end was made by the run for that step.
func (v *verdict) isOwn(r *ran, s runs.Step) bool {
	if v.store.Records == nil {
		return false
	}
	found, err := artifacts.LookupKnown(context.Background(), artifacts.Alone(v.store), []artifacts.Digest{s.Key})
	is := found[s.Key]
	return err == nil && is != nil && is.Origin.RunID == r.id && is.Origin.Step == s.Address
}

// filed: what a run has done or found is in the store, where gc and the release of bytes leave it while the run is open; the run is open
// until its last result is there, and what failed for good is known as such.
func (v *verdict) filed(n int, r *ran) {
	calm := v.beside(r.began-missed, r.ended) == 1 && len(v.harmed) == 0 && !v.happened(0, r.ended, "kill", "stop", "freeze", "gc") &&
		!v.happened(0, never, "outage", "slow", "throttle", "lost-answer", "redeliver", "lose-task")
	twins, opened, closed := map[artifacts.Digest]int{}, v.noted(r, "opened"), v.noted(r, "closed")
	wrong := map[artifacts.Digest]bool{}
	kept := r.ended // or until its record is there: then a later run may let go
	if closed < kept && !v.closedBy(r, closed) {
		kept = closed
	}
	for _, s := range r.record.Steps {
		twins[s.Key]++
	}
	for _, s := range r.record.Steps {
		hit, b, who := s.Outcome == runs.Hit, v.script.Pipeline.of(s.Address), fmt.Sprintf("run %d: %s is %s", n, s.Address, s.Outcome)
		if s.Outcome == runs.Failed && strings.Contains(s.Error, "it cannot be done") && b != nil && b.End == "permanent" {
			wrong[s.Key] = true
		}
		if !hit && s.Outcome != runs.Ran {
			continue
		}
		since, is, _ := v.result(s.Key, kept)
		v.must(since > 0, "result", "%s, and the store has never had its result", who)
		goes := b == nil || b.temporary(r.Edition) || hit && v.happened(0, r.ended, "gc") || v.lost(s.Key)
		v.must(is || goes, "kept", "%s, and when the run ended its result of %s was not whole", who, since)
		mine := slices.ContainsFunc(v.work, func(w work) bool {
			return w.key == s.Key && w.server == r.Server && (w.how != "failed" || !calm) && r.began < w.ended && w.began < r.ended
		})
		v.must(mine || hit, "hit or ran", "%s, and nobody did its work", who)
		v.must(!mine || !hit || !calm || twins[s.Key] > 1, "hit or ran", "%s, and the run has done its work", who)
		v.must(!hit || goes || !v.isOwn(r, s), "hit or ran", "%s, and its result is the run's own", who)
		v.must(hit || opened < since && (closed > since || v.closedBy(r, closed)), "open", "%s with a result of %s, and the run is open from %s to %s", who, since, opened, closed)
	}
	v.must(closed < never || v.away(0, r.ended-missed, never), "open", "run %d has ended, and its record of being open is left", n)
	well := r.err == nil && r.result != nil && r.result.Hit+r.result.Ran == len(r.record.Steps) && !v.away(0, r.ended-missed, never)
	v.must(!r.Killed || !well || slices.ContainsFunc(v.stored, func(s stored) bool { return s.what == "closed" && s.run == killed+r.id }),
		"open", "run %d has ended well, and a run of its plan that was killed is open still", n)
	if len(wrong) > 0 && v.store.Records != nil && !v.away(missed/4, r.began, r.ended) {
		known, err := runs.PermanentFailures(context.Background(), v.store, wrong)
		v.must(err == nil && len(known) == len(wrong), "failures", "run %d: %d steps failed for good, and the store knows %d: %v", n, len(wrong), len(known), err)
	}
}

// inTime: a run ends within a time of the last fault that follows from the work that it did, and while no work goes on something begins
// or ends soon.
func (v *verdict) inTime(n int, r *ran) {
	unused, last := r.began == 0 && r.err == nil, max(r.began, r.cancelled, v.last)
	if v.must(unused || r.ended < never, "in time", "run %d has not ended: %v", n, r.err); unused || r.ended == never {
		return
	}
	// Each try costs its time, and at most the pause or the loss before it; each step the way to
	// a worker, its lease and its result; passes that release bytes are half a minute apart.
	most, at, still := last+2*patience, last, patience
	if v.script.Uneven { // what a worker has no room for goes to any of them, after each pause
		still *= 4
	}
	for _, w := range append(slices.Clip(v.work), work{began: r.ended, ended: r.ended}) {
		if w.ended > last && w.key != (artifacts.Digest{}) && w.ended < never {
			most += w.ended - max(w.began, last) + missed
		}
		began := min(w.began, r.ended)
		v.must(began-at <= still, "stands still", "run %d: nothing from %s to %s", n, at, began)
		at = max(at, w.ended)
	}
	v.must(r.ended <= most, "in time", "run %d ended at %s, and could have at %s", n, r.ended, most)
}

// cancelled: when a run was cancelled, nothing of it goes on, but on a process that stands still.
func (v *verdict) cancelled(n int, r *ran) {
	for _, w := range v.work {
		last := r.ended + missed
		if v.happened(r.cancelled-missed, last, "freeze", "lose-task") { // which may take the task that tells of it
			last += taskLost
		}
		over := w.ended <= max(last, v.stood(w, r.cancelled-missed, r.ended+missed))
		if r.cancelled > 0 && r.ended < never && w.began >= r.began && w.server == r.Server && !over {
			v.must(w.began <= r.ended || w.run != r.id || w.run == "", "cancelled", "run %d ended at %s, and %s begins at %s", n, r.ended, w.address, w.began)
			others := w.ended < never && slices.ContainsFunc(v.runs, func(o ran) bool { return o.id != r.id && o.began <= w.ended && o.ended > r.ended })
			v.must(others, "cancelled", "run %d ended at %s, and %s of %s goes on: %s at %s", n, r.ended, w.address, w.began, w.how, w.ended)
		}
	}
}

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
	testkit.None(t, broken.Records.Put(t.Context(), artifacts.ResultsPrefix+a.Hex(), []byte("{}")))
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
		testkit.Says(t, judged(breaks), want)
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
		testkit.Is(t, judged(right), "", name)
	}
}
