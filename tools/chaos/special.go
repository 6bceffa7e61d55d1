//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// crowd starts two to ten runs in one folder and hurts some of them. The others
// must end well, and the next run must find everything done.
func crowd(r *round) error {
	c := r.plan.choices[0]
	hurt := map[*process]syscall.Signal{}
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGSTOP, syscall.SIGTERM}
	for i := range c.N {
		p, err := r.run("--out", fmt.Sprintf("results-%d", i))
		if err != nil {
			return err
		}
		if r.rng.IntN(3) == 0 {
			hurt[p] = signals[r.rng.IntN(len(signals))]
		}
		p.wait(time.Duration(r.rng.IntN(400)) * time.Millisecond)
	}
	stopped := 0
	for _, p := range r.runs {
		s, ok := hurt[p]
		if !ok {
			continue
		}
		p.wait(time.Duration(r.rng.IntN(1500)) * time.Millisecond)
		p.signal(s)
		if s == syscall.SIGSTOP {
			stopped++
		}
	}
	r.before = append(r.before, r.snapshot())
	if stopped > 0 {
		time.Sleep(time.Duration(c.HoldMS) * time.Millisecond)
	}
	for p, s := range hurt {
		if s == syscall.SIGSTOP {
			p.signal(syscall.SIGCONT)
			delete(hurt, p)
		}
	}
	r.gone = time.Now()
	limit := r.slack(recovery)
	for _, p := range r.runs {
		if !p.wait(limit - time.Since(r.gone)) {
			return fmt.Errorf("%s has not ended %.0f s after the fault was gone; it said last: %s", p.name, time.Since(r.gone).Seconds(), p.out.tail(4))
		}
		if _, was := hurt[p]; !was && p.code != 0 {
			r.violate("%s, which nobody had hurt, ended with code %d: %s", p.name, p.code, p.out.tail(6))
		}
	}
	r.note("%d runs, %d ended, %d stopped", c.N, len(hurt), stopped)
	if err := r.next(); err != nil {
		return err
	}
	if !r.cli.wait(limit) || r.cli.code != 0 {
		return fmt.Errorf("the next run does not succeed: %s", r.cli.out.tail(6))
	}
	last := r.gone
	for _, p := range r.runs {
		if p.ended.After(last) {
			last = p.ended
		}
	}
	r.res.By, r.res.RecoveredS = "itself", last.Sub(r.gone).Seconds()
	return nil
}

// twenty starts twenty runs of one pipeline on a cluster, each with a step of its
// own. None may straggle, and what they share runs once.
func twenty(r *round) error {
	const runs = 20
	r.gone = time.Now()
	for i := range runs {
		dir := fmt.Sprintf("user-%d", i)
		if err := os.MkdirAll(r.path(dir), 0o755); err != nil {
			return err
		}
		if _, err := r.run("--state", dir+"/state", "--out", dir+"/results", "--var", fmt.Sprintf("run=%d", i)); err != nil {
			return err
		}
	}
	limit := 3 * r.slack(recovery)
	var took []float64
	for _, p := range r.runs {
		if !p.wait(limit - time.Since(r.gone)) {
			return fmt.Errorf("%s has not ended after %.0f s; it said last: %s", p.name, time.Since(r.gone).Seconds(), p.out.tail(4))
		}
		if p.code != 0 {
			r.violate("%s ended with code %d: %s", p.name, p.code, p.out.tail(6))
		}
		took = append(took, p.ended.Sub(r.gone).Seconds())
	}
	slices.Sort(took)
	median, last := took[runs/2], took[runs-1]
	r.note("ended after %.1f s (first), %.1f s (median), %.1f s (last)", took[0], median, last)
	if last-median > r.slack(speechless).Seconds() {
		r.violate("the last run ended %.1f s after the median one", last-median)
	}
	for name, n := range marks(r.path("marks")) {
		want := 1
		if mortal(name) {
			want = 2
		}
		if n != want {
			r.violate("%s ran %d times, not %d", name, n, want)
		}
	}
	r.results = fmt.Sprintf("user-%d/results", r.rng.IntN(runs))
	r.res.By, r.res.RecoveredS = "itself", last-median
	return nil
}

// thousands kills a worker every ten seconds of a run of 2,000 steps.
func thousands(r *round) error {
	if err := r.next(); err != nil {
		return err
	}
	r.gone = time.Now()
	limit, kills := r.slack(15*time.Minute), 0
	for !r.cli.wait(10*time.Second) && time.Since(r.gone) < limit {
		// Any of them: the server gives work to the one that has waited longest, and if that were
		// always the next to be killed, a step of more than ten seconds could never end.
		p := r.work[r.rng.IntN(len(r.work))]
		p.kill()
		kills++
		if err := r.employ(); err != nil {
			return err
		}
	}
	r.note("%d kills in %.0f s", kills, time.Since(r.gone).Seconds())
	if r.cli.running() {
		return fmt.Errorf("the run has not ended after %.0f s; it said last: %s", time.Since(r.gone).Seconds(), r.cli.out.tail(4))
	}
	if r.cli.code != 0 {
		return fmt.Errorf("the run ended with code %d: %s", r.cli.code, r.cli.out.tail(6))
	}
	again, lost := 0, 0
	for name, n := range marks(r.path("marks")) {
		if mortal(name) {
			n--
		}
		if n > 1 {
			again++
			lost += n - 1
		}
	}
	r.note("%d steps began again, %d attempts lost", again, lost)
	r.res.By = "itself"
	return nil
}

// rival is the mark of the step that two publish at once.
const rival = "slow-n0"

// rivals has two runs that share nothing but the store publish a result of one key, over one
// that is damaged or has lost a blob, at the same moment and with other outputs each: their
// leases are taken away, the step ends when both are at it, and what they write under the key
// meets on the way to the store. One of them must win, and whatever else there was must be
// recorded.
func rivals(r *round) error {
	ctx := context.Background()
	first, err := r.run()
	if err != nil {
		return err
	}
	if !first.wait(r.slack(recovery)) || first.code != 0 {
		return fmt.Errorf("a run that nobody hurts does not succeed: %s", first.out.tail(6))
	}
	store, ok := r.store(ctx)
	if !ok {
		return fmt.Errorf("the store does not open")
	}
	old, err := resultOf(ctx, store, rival)
	incomplete := r.rng.IntN(2) == 0
	want := 1 // results that are recorded besides the winner
	switch {
	case err != nil:
	case incomplete:
		want++
		for _, f := range old.Outputs["out"].Files {
			if f.Name == "text" { // of this step alone
				err = store.Blobs.Delete(ctx, f.Digest)
			}
		}
	default:
		err = store.Records.Put(ctx, artifacts.ResultName(old.Key), []byte(`{"format":"redsi.result/1"}`))
	}
	if err == nil {
		err = os.WriteFile(r.path("marks", "rivals."+rival), nil, 0o644)
	}
	r.proxy.pair("/" + artifacts.RecordPath(artifacts.ResultName(old.Key)))
	for i := 0; i < 2 && err == nil; i++ { // each with a server of its own
		var p *process
		p, err = r.redsi(fmt.Sprintf("rival %d", i), append([]string{"run", "--state", fmt.Sprintf("worker-rival-%d", i), "--out", fmt.Sprintf("results-%d", i)}, r.storeArgs(false)...)...)
		if err == nil {
			r.runs = append(r.runs, p)
		}
	}
	if err != nil {
		return err
	}
	limit := r.slack(recovery)
	if !eventually(limit, func() bool {
		for lease, err := range store.Leases.List(ctx, "") {
			if err == nil {
				_ = store.Leases.Delete(ctx, lease.Name)
			}
		}
		return marks(r.path("marks"))[rival] >= 3
	}) {
		r.violate("two runs are not at %s after %.0f s", rival, limit.Seconds())
	}
	r.gone = time.Now()
	for _, p := range r.runs[1:] {
		if !p.wait(limit-time.Since(r.gone)) || p.code != 0 {
			r.violate("%s does not end well: %s", p.name, p.out.tail(6))
		}
	}
	r.res.RecoveredS = time.Since(r.gone).Seconds()
	won, err := artifacts.Lookup(ctx, artifacts.Alone(store), old.Key)
	if err != nil || won == nil || won.OutputsDigest() == old.OutputsDigest() {
		return fmt.Errorf("in the end the result of %s is %+v, %v", rival, won, err)
	}
	var lost []string
	for info, err := range store.Records.List(ctx, "nondeterminism/"+old.Key.Hex()+"/") {
		if err != nil || strings.HasSuffix(info.Name, won.OutputsDigest().Hex()) {
			r.violate("the winner is recorded as what lost: %s, %v", info.Name, err)
		}
		lost = append(lost, info.Name)
	}
	if len(lost) != want {
		r.violate("%d results that lost are recorded, not %d: %q", len(lost), want, lost)
	}
	r.res.By = "itself"
	r.note("incomplete: %v, recorded: %d", incomplete, len(lost))
	return nil
}

// resultOf finds the result of the step that leaves a mark.
func resultOf(ctx context.Context, store artifacts.Store, mark string) (found artifacts.Result, err error) {
	err = artifacts.EachResult(ctx, artifacts.Alone(store), func(x *artifacts.Result) bool {
		if markOf(x.Origin.Step) == mark {
			found = *x
		}
		return found.Key.IsZero()
	})
	if err == nil && found.Key.IsZero() {
		err = fmt.Errorf("%s has no result", mark)
	}
	return found, err
}
