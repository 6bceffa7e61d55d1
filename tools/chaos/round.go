//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/system/words"
)

// Bounds of the promises. On a machine with more load than cores they are multiplied by the load per core, at most by
// slowest; the factor is reported.
const (
	speechless = 20 * time.Second // for how long a run may say nothing
	standing   = 20 * time.Second // for how long no step may end or be found, after the store was away
	recovery   = 90 * time.Second // from the end of a fault to the end of the run
	leaving    = 20 * time.Second // until a process ends that is asked to
	following  = 5 * time.Second  // until the second program ends, after the run that started it
	cleared    = 30 * time.Second // until processes, folders and locks are gone, after the last run
	slowest    = 4
)

// longest bounds the text of a violation that is reported; the round's folder has the rest.
const longest = 600

// result is what a round reports, a line of the result file.
type result struct {
	Seed       uint64   `json:"seed"`
	Round      int      `json:"round"`
	Revision   string   `json:"revision"`
	Shape      string   `json:"shape"`
	Place      place    `json:"place"`
	Choices    []choice `json:"choices"`
	By         string   `json:"by"`
	RecoveredS float64  `json:"recovered_s"` // from the last fault's end
	SilenceS   float64  `json:"silence_s"`   // the longest of a run
	StoodS     float64  `json:"stood_s"`     // the longest time without the end of a step, after the last fault's end
	WallS      float64  `json:"wall_s"`
	Factor     float64  `json:"factor"` // what the bounds were multiplied by
	Violations []string `json:"violations,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// What ended the work of a round: the run itself, or the next one.
const itself, nextRun = "itself", "next run"

// round is a pipeline that is being hurt.
type round struct {
	h       *harness
	dir     string
	shape   shape
	fault   *fault
	rng     *rand.Rand
	res     result
	began   time.Time
	gone    time.Time // when the last fault's cause was gone
	runs    []*program
	cli     *program // the run that faults aim at
	nexts   int      // how many such runs there were
	dev     *program
	work    []*program
	lord    *server // Temporal of the cluster
	minio   *server
	proxy   *proxy
	closer  []func()
	looked  time.Time // when attended looked after the workers
	before  []snapshot
	resumes bool // a training must have resumed from a checkpoint
}

func (r *round) path(parts ...string) string {
	return filepath.Join(append([]string{r.dir}, parts...)...)
}

func (r *round) violate(format string, args ...any) {
	r.res.Violations = append(r.res.Violations, words.Clip(fmt.Sprintf(format, args...), longest))
}

func (r *round) note(format string, args ...any) {
	r.res.Notes = append(r.res.Notes, fmt.Sprintf(format, args...))
}

// slack returns a bound for this machine under its present load.
func (r *round) slack(d time.Duration) time.Duration {
	r.res.Factor = max(r.res.Factor, loadFactor())
	return time.Duration(float64(d) * r.res.Factor)
}

// standing is how long a run may stand still here: at most twice as long on a busy machine, so that a minute is noticed.
func (r *round) standing() time.Duration { return min(r.slack(standing), 2*standing) }

// loadFactor returns the load per core of the last minute, between 1 and slowest.
func loadFactor() float64 {
	load, _ := capacity.Load()
	return min(max(load/float64(runtime.NumCPU()), 1), slowest)
}

// env returns the environment of the round's processes, which are recognised by the round's folder in it.
func (r *round) env() []string {
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:" + r.path("marks"), "HOME=" + r.path("home"), "TMPDIR=" + r.path("tmp"),
		"REDSI_TEMPORAL_SERVER=" + os.Getenv("REDSI_TEMPORAL_SERVER"),
		"REDSI_DEPS=" + os.Getenv("REDSI_DEPS"), "REDSI_CHAOS=" + r.dir + "/",
		"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_REGION=us-east-1",
	}
	if r.lord != nil {
		env = append(env, "TEMPORAL_CONFIG_FILE="+r.clusterProfile())
	}
	return env
}

// storeArgs returns the flags that name the round's store, directly or by way of the proxy.
func (r *round) storeArgs(direct bool) []string {
	if r.minio == nil {
		return nil
	}
	address := r.minio.address
	if !direct {
		address = r.proxy.address
	}
	return []string{"--store", "s3://redsi/store?endpoint=" + address + "&insecure=true&region=us-east-1&path_style=true"}
}

// redsi starts the program in the round's folder.
func (r *round) redsi(name string, args ...string) (*program, error) {
	return start(name, r.dir, r.env(), r.h.redsi, args...)
}

func (r *round) run(more ...string) (*program, error) {
	args := append([]string{"run"}, r.storeArgs(false)...)
	if r.lord != nil {
		args = append(args, "--temporal-profile", devserver.ProfileName)
	}
	if r.shape.Updates > 0 {
		args = append(args, "--threads", "1") // several, which wait for each other, are slow on a busy machine
	}
	p, err := r.redsi(fmt.Sprintf("run %d", len(r.runs)), append(args, more...)...)
	if err == nil {
		r.runs = append(r.runs, p)
	}
	return p, err
}

// ask runs a verb that only reads, without the proxy.
func (r *round) ask(args ...string) (string, error) {
	p, err := r.redsi(args[0], append(args, r.storeArgs(true)...)...)
	if err != nil {
		return "", err
	}
	if !p.wait(r.slack(recovery)) {
		p.kill()
		return "", fmt.Errorf("redsi %s does not end", strings.Join(args, " "))
	}
	if p.code != 0 {
		return "", fmt.Errorf("redsi %s: exit code %d: %s", strings.Join(args, " "), p.code, p.tail(5))
	}
	return p.said(), nil
}

// do runs a round from start to end. What goes wrong is a violation.
func (r *round) do() {
	r.began = time.Now()
	r.res.Factor = loadFactor()
	defer r.end()
	if err := r.setup(); err != nil {
		r.violate("the round could not be set up: %v", err)
	} else if err := r.hurt(); err != nil {
		r.violate("%v", err)
	}
	if len(r.res.Violations) == 0 || r.res.By != "" {
		r.check()
	}
	r.res.WallS = time.Since(r.began).Seconds()
	for _, p := range r.runs {
		if p.running() {
			p.heard(nil, false)
		}
		r.res.SilenceS = max(r.res.SilenceS, p.longest.Seconds())
		if p.longest > r.slack(speechless) {
			r.violate("%s said nothing for %.0f s, after: %s", p.name, p.longest.Seconds(), p.after)
		}
	}
	if len(r.res.Violations) > 0 {
		r.save()
	}
}

// save writes what the processes said into the round's folder, which is kept.
func (r *round) save() {
	var b strings.Builder
	for _, p := range r.own() {
		state := "running"
		if !p.running() {
			state = fmt.Sprintf("ended %s with code %d", p.ended.Format(time.TimeOnly), p.code)
		}
		fmt.Fprintf(&b, "== %s, pid %d, began %s, %s\n%s\n", p.name, p.pid(), p.began.Format(time.TimeOnly), state, p.said())
	}
	_ = os.WriteFile(r.path("said.txt"), []byte(b.String()), 0o644)
}

// hurt causes the faults, one after the other, and waits for the run to recover.
func (r *round) hurt() error {
	if err := r.next(); err != nil {
		return err
	}
	for _, c := range r.res.Choices {
		if !r.moment(c) {
			r.note("too late for %s: the run had ended", c.Fault)
			continue
		}
		r.before = append(r.before, r.snapshot())
		at, computing := r.trained(), r.victims(roleModels)
		f := faultNamed(c.Fault)
		if err := f.do(r, c); err != nil {
			return fmt.Errorf("fault %s could not be made: %w", c.Fault, err)
		}
		r.gone = time.Now()
		if c.Ends && !r.cli.wait(r.standing()) {
			return fmt.Errorf("the run, interrupted while the store was away, has not ended %.0f s after it was back; it said last: %s", time.Since(r.gone).Seconds(), r.cli.tail(4))
		}
		lost := func() bool { return !slices.ContainsFunc(computing, found.Running) }
		if len(computing) > 0 && eventually(time.Second, lost) && (r.cli.running() || r.cli.code != 0) {
			r.note("a training with a checkpoint at update %d lost its process", at)
			r.resumes = r.resumes || at > 0 && at <= r.shape.Updates/2
		}
		if !r.cli.running() && (r.cli.code != 0 || c != r.res.Choices[len(r.res.Choices)-1]) {
			if r.cli.code != 0 && c.itself() && r.begun() {
				r.violate("the run gave up (exit code %d) where it should have gone on: %s", r.cli.code, r.cli.tail(4))
			}
			if err := r.next(); err != nil {
				return err
			}
		}
	}
	if r.gone.IsZero() {
		r.gone = time.Now()
	}
	return r.recover()
}

// leaves waits for a process that was asked to end by a signal.
func (r *round) leaves(p *program, by any) {
	if !p.wait(r.slack(leaving)) {
		r.violate("%s does not end %.0f s after %v", p.name, r.slack(leaving).Seconds(), by)
		p.kill()
	}
}

// next starts another run, at which faults aim from now on.
func (r *round) next() (err error) {
	r.nexts++
	r.cli, err = r.run()
	return err
}

// begun reports whether the run had reached its servers: a run that finds none at its start, perhaps because of a
// fault, says so and ends. The embedded server is started by the run.
func (r *round) begun() bool {
	return r.minio == nil || len(r.before) == 0 || strings.Contains("\n"+r.cli.said(), "\nrun 2")
}

// recover waits until a run has succeeded.
func (r *round) recover() error {
	limit := r.slack(recovery)
	most, helped := limit, slices.ContainsFunc(r.res.Choices, func(c choice) bool { return !c.itself() })
	if r.fault.away {
		most = r.standing()
	}
	for attempt := 0; ; attempt++ {
		done, moved := -1, time.Now()
		r.attended(limit-time.Since(r.gone), func() bool {
			if now := r.cli.done(); now != done {
				done, moved = now, time.Now()
			}
			r.res.StoodS = max(r.res.StoodS, time.Since(moved).Seconds())
			return !r.cli.running() || time.Since(moved) > most
		})
		if r.cli.running() {
			return fmt.Errorf("the run has not ended %.0f s after the fault was gone, and stood still for %.0f s; it said last: %s",
				time.Since(r.gone).Seconds(), time.Since(moved).Seconds(), r.cli.tail(4))
		}
		if r.cli.code == 0 {
			break
		}
		if !helped && r.begun() || attempt > 0 {
			r.violate("the run ended with code %d: %s", r.cli.code, r.cli.tail(6))
		}
		if attempt == 2 {
			return nil
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	r.res.RecoveredS = max(0, r.cli.ended.Sub(r.gone).Seconds())
	if r.res.By = itself; r.nexts > 1 {
		r.res.By = nextRun
	}
	return nil
}

// moment waits for the time of a fault; false if the run ends before.
func (r *round) moment(c choice) bool {
	p, limit := r.cli, r.slack(recovery)
	switch c.When {
	case whenDatabase:
		eventually(limit, func() bool {
			return len(within(r.path(".redsi", "temporal"), "*.db*")) > 0 || !p.running()
		})
	case whenModels:
		r.attended(limit, func() bool { return !p.running() || len(r.victims(roleModels)) > 0 })
	case whenTraining:
		r.attended(limit, func() bool { return !p.running() || r.trained() > 0 })
	case whenDone:
		r.attended(limit, func() bool { return !p.running() || p.done() >= c.Done })
	}
	r.attended(time.Duration(c.AfterMS)*time.Millisecond, func() bool { return !p.running() })
	return p.running()
}

// victims returns the present processes of a role.
func (r *round) victims(role string) []found {
	return slices.DeleteFunc(belonging(r.dir, r.own()...), func(f found) bool { return f.role != role })
}

// own returns the programs that the round has started and not replaced.
func (r *round) own() []*program {
	all := append(slices.Concat(r.runs, r.work), r.dev)
	for _, s := range []*server{r.lord, r.minio} {
		if s != nil {
			all = append(all, s.p)
		}
	}
	return slices.DeleteFunc(all, func(p *program) bool { return p == nil })
}

// end kills and unmounts what is left of the round, and removes its folder if there was no violation.
func (r *round) end() {
	for _, p := range r.own() {
		if p.running() {
			p.kill()
		}
	}
	r.interrupt()
	for _, undo := range slices.Backward(r.closer) {
		undo()
	}
	if len(r.res.Violations) == 0 {
		os.RemoveAll(r.dir)
	}
}
