//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
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
		c.hold()
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
