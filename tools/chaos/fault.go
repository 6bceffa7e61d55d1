//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// moments of a fault.
const (
	whenStart    = "start"    // so long after the run began
	whenDatabase = "database" // so long after the first file of the server's database is there
	whenDone     = "done"     // so long after so many steps are done
	whenModels   = "models"   // so long after the second program is there
	whenTraining = "training" // so long after a training has a checkpoint
)

// choice is one fault as a seed has drawn it.
type choice struct {
	Fault   string  `json:"fault"`
	When    string  `json:"when"`
	Done    int     `json:"done,omitempty"`
	AfterMS int     `json:"after_ms"`
	HoldMS  int     `json:"hold_ms,omitempty"` // how long the cause lasts
	N       int     `json:"n,omitempty"`       // how many, or how often
	Share   float64 `json:"share,omitempty"`   // of requests
	Ends    bool    `json:"ends,omitempty"`    // the run is interrupted halfway, while the cause lasts
}

// itself reports whether the run must go on by itself.
func (c choice) itself() bool { return faultNamed(c.Fault).itself && !c.Ends }

// hold waits while a cause lasts: until the run has ended, or all of the time if it is
// interrupted, since what its workers do then is to meet the cause too.
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

// stop stops a process while a cause lasts.
func (r *round) stop(p *process, c choice) {
	p.signal(syscall.SIGSTOP)
	r.hold(c)
	p.signal(syscall.SIGCONT)
}

// fault is a way to hurt a round.
type fault struct {
	name    string
	place   place
	itself  bool   // the run must go on by itself
	moment  string // of the run; "": any
	second  bool   // may be the second of a round
	away    bool   // the store is away for 5 to 20 s
	small   string // the folder that is a small disk of its own
	rare    int    // once in so many cycles; 0: in each
	many    bool   // has several runs by itself
	odd     bool   // leaves other outputs than an undisturbed run
	workers int
	do      func(r *round, c choice) error
	special func(r *round) error // a whole round of its own, in place of do
	shape   *shape               // of its pipeline; nil: one of shapes
}

const (
	momentFirst = "first"
	momentLast  = "last"
)

// scenario is what a round does, drawn from its seed alone.
type scenario struct {
	fault   *fault
	choices []choice
}

// faultNamed finds a fault; the names come from the table itself.
func faultNamed(name string) *fault {
	if i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name }); i >= 0 {
		return &faults[i]
	}
	return nil
}

// draw makes the scenario of a fault.
func draw(f *fault, s shape, r *rand.Rand) scenario {
	sc := scenario{fault: f, choices: []choice{drawOne(f, s, r)}}
	if f.special == nil && !f.many && r.IntN(4) == 0 {
		var more []*fault
		for i := range faults {
			if g := &faults[i]; g.second && g.place == f.place && (g.away || !f.away) && (g.small == "" || g.small == f.small) {
				more = append(more, g)
			}
		}
		if len(more) > 0 {
			sc.choices = append(sc.choices, drawOne(more[r.IntN(len(more))], s, r))
		}
	}
	return sc
}

func drawOne(f *fault, s shape, r *rand.Rand) choice {
	c := choice{Fault: f.name, HoldMS: 1000 + r.IntN(6000), N: 2 + r.IntN(9), Share: 0.2 + 0.6*r.Float64()}
	if r.IntN(8) == 0 {
		c.HoldMS = 22000 + r.IntN(6000) // longer than what servers and workers forgive
	}
	if f.away {
		c.HoldMS, c.Ends = 5000+r.IntN(15000), r.IntN(3) == 0
	}
	switch {
	case f.place == models && f.moment == momentFirst:
		c.When, c.AfterMS = whenModels, r.IntN(250)
	case f.place == models && r.IntN(3) == 0:
		c.When, c.AfterMS = whenModels, r.IntN(2500)
	case f.place == models:
		c.When, c.AfterMS = whenTraining, r.IntN(1500)
	case f.moment == momentFirst:
		c.When, c.AfterMS = whenDatabase, r.IntN(250)
	case f.moment == momentLast:
		c.When, c.Done, c.AfterMS = whenDone, s.steps()-1-r.IntN(2), r.IntN(700)
	case r.IntN(5) == 0:
		c.When, c.AfterMS = whenStart, r.IntN(2500)
	default:
		c.When, c.Done, c.AfterMS = whenDone, 1+r.IntN(s.steps()-2), r.IntN(400)
	}
	return c
}

// byRun sends a signal to the run and waits for its end.
func byRun(s syscall.Signal, times int) func(*round, choice) error {
	return func(r *round, _ choice) error {
		for i := range times {
			if i > 0 {
				r.cli.wait(500 * time.Millisecond)
			}
			r.cli.signal(s)
		}
		r.leaves(r.cli, s)
		// On a cluster it is the workers', which keep it.
		if r.plan.fault.place != cluster && !eventually(r.slack(following), func() bool { return len(r.victims(roleModels)) == 0 }) {
			r.violate("the second program is there %.0f s after the run that started it", r.slack(following).Seconds())
		}
		return nil
	}
}

// byAll kills the run and the second program at once.
func byAll(r *round, c choice) error {
	all := r.victims(roleModels)
	if c.N%2 == 0 {
		r.cli.signal(syscall.SIGKILL)
	}
	for _, f := range all {
		f.signal(r.dir, syscall.SIGKILL)
	}
	return byRun(syscall.SIGKILL, 1)(r, c)
}

// pause stops a process for a while.
func pause(of func(*round) *process) func(*round, choice) error {
	return func(r *round, c choice) error {
		r.stop(of(r), c)
		return nil
	}
}

// byRole signals all processes of a role that redsi has started; a stop is
// followed by a continue.
func byRole(role string, s syscall.Signal) func(*round, choice) error {
	return func(r *round, c choice) error {
		var all []found
		if !eventually(r.slack(5*time.Second), func() bool {
			all = r.victims(role)
			return len(all) > 0 || !r.cli.running()
		}) || len(all) == 0 {
			r.note("there was no %s to hurt", role)
			return nil
		}
		for _, f := range all {
			if role == roleOther {
				r.note("%s", f)
			}
			f.signal(r.dir, s)
		}
		if s == syscall.SIGSTOP {
			if role == roleModels {
				c.HoldMS += silentMS
			}
			eventually(time.Duration(c.HoldMS)*time.Millisecond, func() bool {
				return !slices.ContainsFunc(all, func(f found) bool { return f.alive(r.dir) })
			})
			for _, f := range all {
				f.signal(r.dir, syscall.SIGCONT)
			}
		}
		return nil
	}
}

// silentMS is for how long the second program may say nothing.
const silentMS = 15000

// often kills the embedded server again and again within one run.
func often(r *round, c choice) error {
	killed := 0
	for range 20 {
		var all []found
		if !eventually(r.slack(recovery), func() bool {
			all = r.victims(roleServer)
			return len(all) > 0 || !r.cli.running()
		}) {
			return fmt.Errorf("after %d kills no server came back in time", killed)
		}
		if !r.cli.running() {
			break
		}
		for _, f := range all {
			f.signal(r.dir, syscall.SIGKILL)
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
			r.stop(srv.p, c)
			return nil
		}
		srv.p.signal(s)
		if !srv.p.wait(30 * time.Second) {
			srv.p.kill()
		}
		r.hold(c)
		return srv.up(r.slack(time.Minute))
	}
}

// byWorker hurts one worker, and starts another in its place if it ended.
func byWorker(s syscall.Signal) func(*round, choice) error {
	return func(r *round, c choice) error {
		p := r.work[c.N%len(r.work)]
		if s == syscall.SIGSTOP {
			r.stop(p, c)
			return nil
		}
		p.signal(s)
		r.leaves(p, s)
		time.Sleep(time.Duration(c.HoldMS%2000) * time.Millisecond)
		return r.employ()
	}
}

// byProxy breaks requests to the store for a while.
func byProxy(mode string) func(*round, choice) error {
	return func(r *round, c choice) error {
		r.proxy.set(mode, c.Share)
		r.hold(c)
		r.proxy.set("", 0)
		r.note("%d requests were broken", r.proxy.broken())
		return nil
	}
}

// undone does something that can be undone, for a while.
func undone(do func(*round, choice) (func(), error)) func(*round, choice) error {
	return func(r *round, c choice) error {
		undo, err := do(r, c)
		if err != nil {
			return err
		}
		r.hold(c)
		undo()
		return nil
	}
}

// limited applies a limit to processes of a role, and with a server's to the run.
func limited(role string, set func(pid int, c choice) (func(), error)) func(*round, choice) (func(), error) {
	return func(r *round, c choice) (func(), error) {
		var pids []int
		if role == roleServer {
			pids = append(pids, r.cli.pid())
		}
		for _, f := range r.victims(role) {
			pids = append(pids, f.pid)
		}
		var undos []func()
		for _, pid := range pids {
			if undo, err := set(pid, c); err == nil { // it may have ended
				undos = append(undos, undo)
			}
		}
		return func() {
			for _, u := range undos {
				u()
			}
		}, nil
	}
}
