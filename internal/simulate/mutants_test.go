package simulate

// mutations are faults that the engine has had, and others that are as easily made.
var mutations = []mutation{
	// Leases: who works on a key.
	{"lease of a host", "internal/host/lease/keeper.go", `ended := l.Process.Host == k.self.Host && l.Process.PID > 0 && !l.Process.Running()`,
		`ended := false
	if l.Process.Host == k.self.Host && l.Process.PID > 0 {
		return !l.Process.Running()
	}`, "A lease counts as long as a process of its host runs, though nobody holds or renews it: its step waits for ever."},
	{"lease left", "internal/host/lease/keeper.go", `go h.k.tidy(h.lease)`, ``,
		"A lease that could not be given back, because the store was away, is not tried again and stays."},
	{"lease never released", "activities/cached.go", `defer held.Release()`, `_ = held`,
		"A step that has ended keeps its lease while its process lives."},
	{"lease not renewed", "internal/host/lease/keeper.go", `h.lease.Renewed++`, ``,
		"A lease does not change when it is renewed: after a minute others take a step that is worked on."},
	{"lease of a run", "internal/host/lease/keeper.go", `if c.Attempt != "" && l.Attempt == c.Attempt && l.Run == c.Run {`, `if l.Run == c.Run {`,
		"Any work of a run takes a lease from other work of that run, not only an attempt from the lost one before it."},
	{"lost lookup", "activities/cached.go", `if hit != nil && (req.RunID == ""`, `if hit = nil; hit != nil && (req.RunID == ""`,
		"A step that gets its lease does not look whether another has left a result meanwhile, and runs again."},
	{"busy is done", "activities/batch.go", `if e.err == nil && (e.Busy || e.Unfit != "") {`, `if false {`,
		"A batch takes a step that somebody else is working on for done: it has no result."},

	// A plan that grows.
	{"waiting steps", "workflows/grow.go", `r.free(r.paces[class])`, `_ = class`,
		"Steps that wait to be tried out stay held when the plan grows: they are left out."},
	{"held", "workflows/grow.go", `is.held[j] = was.held[i]`, ``,
		"Steps that are handed out are not held any more when the plan has grown: they are given out again."},
	{"places", "workflows/batch.go", `i := r.today(b.grown, x.Index)`, `i := x.Index`,
		"A batch's answers go to the steps that have the places now that the batch's had before the plan grew."},
	{"limits grow", "workflows/grow.go", `moved(r.within, move)`, `r.within`,
		"After growth the limits of running steps belong to the steps in their old places."},
	{"whole", "workflows/grow.go", `moved(r.whole, move)`, `r.whole`,
		"After growth a step whose released bytes must be made again is taken for whole."},
	{"skipped by growth", "workflows/grow.go", `is.skip(j, "which failed")`, ``,
		"Steps that growth adds below one that has failed are not skipped: they are left out without a reason."},
	{"behind a skipped one", "workflows/grow.go", `is.skipReaders(j, s.Error)`, ``,
		"Steps that growth adds behind one that was skipped are left out without a reason."},
	{"left out", "internal/pipeline/plan/grow.go", `return slices.Contains(out, grown.Steps[i].Address)`, `return i < 0 && slices.Contains(out, "")`,
		"The first growth brings back what --skip-failed has left out."},
	{"lacks", "activities/grow.go", `if lacks := invalid.Diagnostics.Lacks; lacks.Secrets || lacks.Files && lock != "" {`, `if false {`,
		"A worker without a secret or the pipeline's files fails the pending steps, in place of leaving the plan to another one."},

	// Fail-fast.
	{"fail-fast batches", "workflows/batch.go", `if r.stop {`, `if false {`,
		"With fail-fast, a failure during a look-up does not keep its steps from being given out in batches."},
	{"fail-fast steps", "workflows/reproduce.go", `if r.stop || !r.enter(p) {`, `if !r.enter(p) {`,
		"With fail-fast, a failure during a look-up does not keep its steps from being started."},
	{"fail-fast continued", "workflows/reproduce.go", `r.stop, r.long = true, false`, `r.stop = true`,
		"With fail-fast, a failure while the run is about to continue as new is forgotten there: the rest is started."},
	{"fail-fast parts", "workflows/step.go", `			failures = append(failures, err)
		}
		if len(failures) > 0 { // the step has failed: it starts nothing more
			break
		}`, `			failures = append(failures, err)
			break
		}`, "A step in parts goes on through all of them after one has failed for good."},
	{"fail-fast in a batch", "activities/batch.go", `if done.Status == workflows.Failed && b.req.FailFast {`, `if false {`,
		"With fail-fast, a batch goes on after one of its steps has failed."},

	// What a worker and a store answer.
	{"slow look-up", "activities/batch.go", `	todo, err := b.advance(ctx)
	if err != nil {
		return err
	}
	end := time.Now().Add(workflows.BatchTime)`, `	end := time.Now().Add(workflows.BatchTime)
	todo, err := b.advance(ctx)
	if err != nil {
		return err
	}`, "A batch's time is over before it begins a step, if its look-up is slow: the run asks for ever."},
	{"unfit is an error", "activities/cached.go", `return done.Executed, err`, `if done.Unfit != "" {
		err = temporal.NewApplicationErrorWithOptions(done.Unfit, workflows.TransientError, temporal.ApplicationErrorOptions{NextRetryDelay: time.Second})
	}
	return done.Executed, err`, "A step fails for good after 200 workers have left it to others."},
	{"check unread", "activities/walk.go", `case step.IsPermanent(err):`, `case err != nil:`,
		"A store that does not answer while a check is judged fails the step."},
	{"check skipped", "activities/cached.go", `if err == nil && done.result != nil {`, `if false {`,
		"A step's checks are not judged when it has run."},
	{"panic in a batch", "activities/batch.go", `e.err = stepio.Guard(func() (err error) {
			e.executed, err = b.a.executeTask(sctx, req, x.task)
			return err
		})`, `_ = stepio.Guard
		e.executed, e.err = b.a.executeTask(sctx, req, x.task)`, "A panic in a kind's own code ends the worker if the step is in a batch."},
	{"batch forgets", "activities/batch.go", `all := make([]workflows.Batched, 0, len(b.walk.steps))
	for _, x := range b.walk.steps {`, `all := make([]workflows.Batched, 0, len(b.walk.steps))
	for _, x := range b.walk.steps[:len(b.walk.steps)-1] {`, "A batch does not tell what came of its last step."},
	{"batch overrules", "workflows/batch.go", `if s.Status != Waiting && s.Status != Running { // another step of the batch has failed`, `if false {`,
		"A batch's answer gives a step that was skipped meanwhile another status."},
	{"released is whole", "activities/walk.go", `if r := found[x.key]; r != nil && (!r.Released || w.p.Steps[x.Index].Temporary && !x.Whole) {`, `if r := found[x.key]; r != nil {`,
		"A look-up takes a result whose bytes were released for one that can be read."},
	{"last writer wins", "artifacts/publish.go", `err = s.Records.Create(ctx, ResultName(r.Key), b)`, `err = s.Records.Put(ctx, ResultName(r.Key), b)`,
		"The last of two who publish a result wins: what others have read is replaced."},

	// Errors and attempts.
	{"permanent is transient", "activities/failure.go", `case step.IsPermanent(err), is[*payload.Error](err):`, `case is[*payload.Error](err):`,
		"What no retry can fix is tried ten times."},
	{"transient is permanent", "activities/failure.go", `if n >= errorTries {`, `if n >= 1 {`,
		"What a retry would fix fails the step at once."},
	{"lost input is permanent", "activities/failure.go", `errorText(err), workflows.InputLostError, nil)`, `errorText(err), workflows.PermanentError, nil)`,
		"An input whose bytes are lost fails the step that reads it, in place of being made again."},
	{"inputs stay", "workflows/reproduce.go", `r.set(d, Waiting)`, ``,
		"A step is asked for again after it lost its inputs, and they are not."},
	{"failure not kept", "activities/cached.go", `a.keepFailure(ctx, req, of, did.took, log, err)`, ``,
		"A step's failure is not recorded: --skip-failed does not know it, and retry does not count."},
	{"two attempts", "workflows/step.go", `const attemptsMost = 200`, `const attemptsMost = 2`,
		"A step that loses its worker twice fails for good."},
	{"no heartbeat", "workflows/step.go", `HeartbeatTimeout: silence,`, ``,
		"A worker that is killed is not missed: its steps hang."},

	// Cancelled runs, and steps that runs share.
	{"leave too early", "workflows/step.go", `if ctx.Err() != nil { // it had not started when the run left`, `if false {`,
		"A step that is being started when its run is cancelled goes on with nobody who wants it."},
	{"join again", "workflows/step.go", `return Executed{}, ctx.Err() == nil, ctx.Err()`, `return Executed{}, true, nil`,
		"A cancelled run whose join has failed starts the step anew."},
	{"members not carried", "workflows/ending.go", `r.mine[s.Index], r.members[StepWorkflowID(s.Key)] = !s.Shared, true`, `r.mine[s.Index] = !s.Shared`,
		"A run that is cancelled soon after it continued as new leaves the steps that run on."},
	{"mine not carried", "workflows/ending.go", `r.mine[s.Index], r.members[StepWorkflowID(s.Key)] = !s.Shared, true`, `r.members[StepWorkflowID(s.Key)] = true`,
		"Steps that a run started before it continued as new count as found, and for no limit."},
	{"signals dropped", "workflows/step.go", `_ = workflow.Await(ctx, func() bool { return joins.Len()+leaves.Len() == 0 })`, `_, _ = joins, leaves`,
		"Signals that reach a step as it continues as new are lost: it goes on for nobody."},
	{"leave is lost", "workflows/step.go", `delete(members, l.Run)`, ``,
		"A step goes on after the last run that wanted it has left."},
	{"join is lost", "workflows/step.go", `members[run] = true`, ``,
		"A step that two runs share is cancelled with the one that started it."},
	{"another's cancellation", "workflows/step.go", `if ctx.Err() == nil && errorType(err) == AwaitCancelled {`, `if false {`,
		"A shared step that was cancelled with another run fails this one."},
	{"cancelled and lost", "workflows/failure.go", `if ctx.Err() != nil && (isLost(err) || errorType(err) == TransientError) {`, `if false {`,
		"A step that is cancelled as its worker ends has failed, also for a run that has just joined it."},
	{"no record", "workflows/ending.go", `jerr := r.journal(dctx)`, `jerr := r.journal(ctx)`,
		"A cancelled run writes no record, and stays open."},
	{"map order", "workflows/step.go", `for _, id := range sortedKeys(r.members) {`, `for id := range r.members {`,
		"A cancelled run tells its steps in another order when it is replayed."},
	{"failures not carried", "workflows/ending.go", `if s.Status != Waiting {`, `if s.Status != Waiting && s.Status != Failed {`,
		"A run that continues as new forgets which steps have failed, and tries them again."},
	{"hit as ran", "workflows/reproduce.go", `if done.Hit {`, `if false {`,
		"A step that was found done counts as one that ran."},

	// Limits.
	{"limit passed", "workflows/limits.go", `if !r.room(names) {`, `if false {`,
		"More steps have a limit's name at a time than it allows."},
	{"limit kept", "workflows/limits.go", `r.use(r.limitsOf(i), -1)`, ``,
		"A limit is not given back until nothing runs."},

	// What is kept and what goes.
	{"runs not opened", "activities/load.go", `if err == nil && req.RunID != "" && !req.Again {`, `if false {`,
		"Nothing says in the store that a run is in progress: gc deletes what it has just made."},
	{"open runs collected", "artifacts/gc.go", `return o.Now.Sub(t) < o.Grace || len(open) > 0 && !t.Before(open[0].Since)`, `return o.Now.Sub(t) < o.Grace`,
		"gc deletes what a run in progress has made before gc's grace."},
	{"open runs released", "activities/release.go", `if o.RunID == req.RunID ||`, `if true || o.RunID == req.RunID ||`,
		"A run lets go of bytes that another run in progress is to read."},
	{"others closed", "activities/runs.go", `if o.isOf(ctx, store, rec.Plan) {`, `if true {`,
		"A run that ends well closes the open runs of other plans."},
	{"grown run not closed", "activities/runs.go", `if o.isOf(ctx, store, rec.Plan) {`, `if o.Plan == rec.Plan {`,
		"A killed run of a plan that grows stays open after another one has ended it."},
}
