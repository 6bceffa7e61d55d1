//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

var silent = log.New(io.Discard, "", 0)

// harness runs rounds of one program.
type harness struct {
	redsi    string // path of the program
	revision string
	work     string // folder of the rounds' folders
	mounts   bool   // whether disks can be made
	keep     bool   // folders of rounds that went well, too

	mu   sync.Mutex
	refs map[string]func() (outcome, error) // by shape
}

func newHarness(program, work string, mounts bool) (*harness, error) {
	path, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	// The rounds' servers, which this program looks at by itself.
	for k, v := range map[string]string{"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_REGION": "us-east-1"} {
		if err := os.Setenv(k, v); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	if work, err = filepath.EvalSymlinks(work); err == nil {
		work, err = filepath.Abs(work)
	}
	return &harness{redsi: path, work: work, mounts: mounts, refs: map[string]func() (outcome, error){}}, err
}

// folder makes the folder of a round.
func (h *harness) folder(name string) (string, error) {
	return os.MkdirTemp(h.work, name+"-")
}

// reference is the outcome of an undisturbed run of a shape, which is made once.
func (h *harness) reference(s shape) (outcome, error) {
	h.mu.Lock()
	if h.refs[s.Name] == nil {
		h.refs[s.Name] = sync.OnceValues(func() (outcome, error) { return h.undisturbed(s) })
	}
	made := h.refs[s.Name]
	h.mu.Unlock()
	return made()
}

func (h *harness) undisturbed(s shape) (o outcome, err error) {
	r := &round{h: h, shape: s, plan: scenario{fault: &fault{place: embedded}}}
	if r.dir, err = h.folder("reference"); err != nil {
		return o, err
	}
	defer r.end()
	if err := r.setup(); err != nil {
		return o, err
	}
	p, err := r.run()
	if err != nil {
		return o, err
	}
	if !p.wait(10*recovery) || p.code != 0 {
		r.violate("undisturbed")
		return o, fmt.Errorf("an undisturbed run of the pipeline %q does not succeed: %s", s.Name, p.out)
	}
	if o, err = r.outcome(); err != nil {
		return o, err
	}
	for name, n := range marks(r.path("marks")) {
		if n != 1 && !mortal(name) {
			return o, fmt.Errorf("in an undisturbed run %s ran %d times", name, n)
		}
	}
	return o, nil
}

// awayTimes is how often a cycle has each fault that takes the store away: 40 of the 100 rounds of two cycles at least.
const awayTimes = 7

// cycle is the order of the faults in the n-th cycle of a seed; each is in it
// once or awayTimes, the rare ones not in each.
func (h *harness) cycle(seed uint64, n int) []*fault {
	var order []*fault
	for i := range faults {
		f := &faults[i]
		switch {
		case f.small != "" && !h.mounts, f.rare > 0 && n%f.rare != 0:
		case f.away:
			order = append(order, slices.Repeat([]*fault{f}, awayTimes)...)
		default:
			order = append(order, f)
		}
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// faultOf is the fault of a round by its number.
func (h *harness) faultOf(seed uint64, n int) *fault {
	for c := 0; ; c++ {
		order := h.cycle(seed, c)
		if n < len(order) {
			return order[n]
		}
		n -= len(order)
	}
}

// round runs one round. Everything in it is drawn from the seed, its number and,
// if it is given, the fault.
func (h *harness) round(ctx context.Context, seed uint64, n int, f *fault) (result, error) {
	if f == nil {
		f = h.faultOf(seed, n)
	}
	rng := rand.New(rand.NewPCG(seed, 1<<32+uint64(n)))
	s := shapeOf(rng)
	if f.shape != nil {
		s = *f.shape
	} else if f.place == models {
		s = shape{Name: "training", Fast: 4, Slow: 3, Tenths: 40, Updates: 1500}
	}
	r := &round{h: h, shape: s, rng: rng, plan: draw(f, s, rng)}
	r.res = result{Seed: seed, Round: n, Revision: h.revision, Fault: f.name, Shape: s.Name, Place: f.place, Choices: r.plan.choices}
	if len(r.plan.choices) > 1 {
		r.res.Then = r.plan.choices[1].Fault
	}
	if _, err := h.reference(s); err != nil { // before the clock starts
		return r.res, err
	}
	var err error
	if r.dir, err = h.folder(fmt.Sprintf("round-%d", n)); err != nil {
		return r.res, err
	}
	stop := context.AfterFunc(ctx, r.interrupt)
	defer stop()
	return r.do(), ctx.Err()
}

// interrupt kills the processes of a round.
func (r *round) interrupt() {
	for _, f := range belonging(r.dir) {
		f.signal(r.dir, syscall.SIGKILL)
	}
}

// version asks the program for its revision.
func (h *harness) version() {
	p, err := start("doctor", h.work, append(os.Environ(), "REDSI_CHAOS="+h.work+"/"), h.redsi, "doctor")
	if err != nil || !p.wait(time.Minute) {
		return
	}
	for line := range strings.Lines(p.out.String()) {
		if strings.Contains(line, "redsi") {
			h.revision = strings.Join(strings.Fields(line), " ")
			return
		}
	}
}
