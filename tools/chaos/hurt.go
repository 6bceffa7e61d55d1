//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/system/lists"
)

// hold waits while a cause lasts, at most until the run's end, unless the run is interrupted: its workers meet the rest.
func (r *round) hold(c choice) {
	lasts := time.Duration(c.HoldMS) * time.Millisecond
	if !c.Ends {
		r.cli.wait(lasts)
		return
	}
	r.cli.wait(lasts / 2)
	r.cli.signal(syscall.SIGINT)
	time.Sleep(lasts / 2)
}

func (r *round) stop(p *program, c choice) error {
	p.signal(syscall.SIGSTOP)
	r.hold(c)
	p.signal(syscall.SIGCONT)
	return nil
}

// byRun sends a signal to the run and waits for its end.
func byRun(s syscall.Signal, times int) func(*round, choice) error {
	return func(r *round, _ choice) error {
		for i := range times {
			if i > 0 {
				r.cli.wait(1500 * time.Millisecond) // as a person does: signals within a second count as one
			}
			r.cli.signal(s)
		}
		r.leaves(r.cli, s)
		// On a cluster the workers have it, and keep it.
		if r.fault.place != cluster && !eventually(r.slack(following), func() bool { return len(r.victims(roleModels)) == 0 }) {
			r.violate("the second program is there %.0f s after the run that started it", r.slack(following).Seconds())
		}
		return nil
	}
}

func byAll(r *round, c choice) error {
	all := r.victims(roleModels)
	if c.N%2 == 0 {
		r.cli.signal(syscall.SIGKILL)
	}
	for _, f := range all {
		f.signal(syscall.SIGKILL)
	}
	return byRun(syscall.SIGKILL, 1)(r, c)
}

func pause(of func(*round) *program) func(*round, choice) error {
	return func(r *round, c choice) error { return r.stop(of(r), c) }
}

// met waits for processes of a role that redsi has started.
func (r *round) met(role string, limit time.Duration) (all []found) {
	eventually(r.slack(limit), func() bool {
		all = r.victims(role)
		return len(all) > 0 || !r.cli.running()
	})
	return all
}

// silent is for how long the second program may say nothing.
const silent = 15 * time.Second

// byRole signals all processes of a role, and lets stopped processes continue.
func byRole(role string, s syscall.Signal) func(*round, choice) error {
	return func(r *round, c choice) error {
		all := r.met(role, 5*time.Second)
		if len(all) == 0 {
			r.note("there was no %s to hurt", role)
		}
		for _, f := range all {
			if role == roleOther {
				r.note("%s", f)
			}
			f.signal(s)
		}
		if s == syscall.SIGSTOP {
			lasts := time.Duration(c.HoldMS) * time.Millisecond
			if role == roleModels {
				lasts += silent
			}
			eventually(lasts, func() bool { return !slices.ContainsFunc(all, found.Running) })
			for _, f := range all {
				f.signal(syscall.SIGCONT)
			}
		}
		return nil
	}
}

func often(r *round, c choice) error {
	killed := 0
	for range 20 {
		all := r.met(roleServer, recovery)
		if !r.cli.running() {
			break
		}
		if len(all) == 0 {
			return fmt.Errorf("after %d kills no server came back in time", killed)
		}
		for _, f := range all {
			f.signal(syscall.SIGKILL)
			killed++
		}
		r.cli.wait(time.Duration(c.HoldMS) * time.Millisecond / 3)
	}
	r.note("the server was killed %d times", killed)
	return nil
}

// byServer ends or stops a server of the round, and brings it back.
func byServer(of func(*round) *server, s syscall.Signal) func(*round, choice) error {
	return func(r *round, c choice) error {
		srv := of(r)
		if s == syscall.SIGSTOP {
			return r.stop(srv.p, c)
		}
		srv.p.signal(s)
		if !srv.p.wait(30 * time.Second) {
			srv.p.kill()
		}
		r.hold(c)
		return srv.up(r.slack(time.Minute))
	}
}

// byWorker ends one worker, and starts another in its place.
func byWorker(s syscall.Signal) func(*round, choice) error {
	return func(r *round, c choice) error {
		p := theWorker(r)
		p.signal(s)
		r.leaves(p, s)
		time.Sleep(time.Duration(c.HoldMS%2000) * time.Millisecond)
		return r.employ()
	}
}

// workersOften kills a random worker every ten seconds. The server gives work to the worker that has been idle longest:
// if that were always the next to be killed, a step of more than ten seconds could never end.
func workersOften(r *round, _ choice) error {
	kills, began := 0, time.Now()
	for ; !r.cli.wait(10*time.Second) && time.Since(began) < r.slack(15*time.Minute); kills++ {
		theWorker(r).kill()
		if err := r.employ(); err != nil {
			return err
		}
	}
	r.note("%d kills in %.0f s", kills, time.Since(began).Seconds())
	return nil
}

// byDev ends redsi dev, and restarts it after a kill, as somebody would.
func byDev(s syscall.Signal) func(*round, choice) error {
	return func(r *round, _ choice) error {
		r.dev.signal(s)
		r.leaves(r.dev, s)
		if s == syscall.SIGKILL {
			return r.setupDev()
		}
		return nil
	}
}

// byProxy breaks requests to the store for a while.
func byProxy(mode string) func(*round, choice) error {
	return func(r *round, c choice) error {
		r.proxy.set(mode, c.Share)
		r.hold(c)
		r.proxy.set("", 0)
		r.note("%d requests were broken", r.proxy.hurt.Load())
		return nil
	}
}

// crowd starts up to ten more runs in the folder and hurts some of them.
func crowd(r *round, c choice) error {
	hurt := map[*program]syscall.Signal{}
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
	for _, p := range r.runs {
		if s, ok := hurt[p]; ok {
			p.wait(time.Duration(r.rng.IntN(1500)) * time.Millisecond)
			p.signal(s)
		}
	}
	r.before = append(r.before, r.snapshot())
	r.note("%d runs more, %d of them hurt", c.N, len(hurt))
	r.hold(c)
	for p, s := range hurt {
		if s == syscall.SIGSTOP {
			p.signal(syscall.SIGCONT)
			delete(hurt, p)
		}
	}
	return r.beside(recovery, hurt)
}

// twenty starts nineteen more runs, each with a step of its own. None may straggle; shared steps run once.
func twenty(r *round, _ choice) error {
	for i := range 19 {
		if err := os.MkdirAll(r.path(fmt.Sprintf("worker-user-%d", i)), 0o755); err != nil {
			return err
		}
		if _, err := r.run("--state", fmt.Sprintf("worker-user-%d", i), "--out", fmt.Sprintf("results-%d", i), "--var", fmt.Sprintf("run=%d", i+1)); err != nil {
			return err
		}
	}
	if err := r.beside(3*recovery, nil); err != nil {
		return err
	}
	took := lists.Map(r.runs, func(p *program) float64 { return p.ended.Sub(r.began).Seconds() })
	slices.Sort(took)
	if last := took[len(took)-1] - took[len(took)/2]; last > r.slack(speechless).Seconds() {
		r.violate("the last run ended %.1f s after the median one", last)
	}
	for name, n := range marks(r.path("marks")) {
		if n != 1 {
			r.violate("%s ran %d times, not once", name, n)
		}
	}
	return nil
}

// beside waits for all runs. Runs that were not hurt must succeed.
func (r *round) beside(limit time.Duration, hurt map[*program]syscall.Signal) error {
	limit = r.slack(limit)
	for end, i := time.Now().Add(limit), 0; i < len(r.runs); i++ {
		p := r.runs[i]
		if !p.wait(time.Until(end)) {
			return fmt.Errorf("%s has not ended after %.0f s; it said last: %s", p.name, limit.Seconds(), p.tail(4))
		}
		if _, was := hurt[p]; !was && p.code != 0 {
			r.violate("%s, which nobody had hurt, ended with code %d: %s", p.name, p.code, p.tail(6))
		}
	}
	return nil
}
