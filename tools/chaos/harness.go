//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

type harness struct {
	redsi    string // path of the program
	revision string
	work     string // folder of the rounds' folders
	mounts   bool   // whether disks can be mounted

	refs sync.Map // by shape, of func() (outcome, error)
}

func newHarness(program, work string) (*harness, error) {
	path, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	// For the rounds' servers, which this program calls itself.
	for k, v := range map[string]string{"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_REGION": "us-east-1"} {
		if err := os.Setenv(k, v); err != nil {
			return nil, err
		}
	}
	if work, err = filepath.EvalSymlinks(work); err != nil {
		return nil, err
	}
	said, err := exec.Command(path, "version").Output()
	first, _, _ := strings.Cut(string(said), "\n")
	return &harness{redsi: path, revision: strings.Join(strings.Fields(first), " "), work: work, mounts: os.Getenv(inNamespace) != ""}, err
}

// reference returns the outcome of an undisturbed run of a shape, which runs once.
func (h *harness) reference(s shape) (outcome, error) {
	once, _ := h.refs.LoadOrStore(s.Name, sync.OnceValues(func() (outcome, error) { return h.undisturbed(s) }))
	return once.(func() (outcome, error))()
}

func (h *harness) undisturbed(s shape) (o outcome, err error) {
	r := &round{h: h, shape: s, fault: &fault{place: embedded}}
	if r.dir, err = os.MkdirTemp(h.work, "reference-"); err != nil {
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
		return o, fmt.Errorf("an undisturbed run of the pipeline %q does not succeed: %s", s.Name, p.said())
	}
	if o, err = r.outcome(); err != nil {
		return o, err
	}
	for name, n := range marks(r.path("marks")) {
		if n != 1 {
			return o, fmt.Errorf("in an undisturbed run %s ran %d times", name, n)
		}
	}
	return o, nil
}

// round runs a round, which is drawn from the seed, its number and, if it is given, the fault.
func (h *harness) round(ctx context.Context, seed uint64, n int, f *fault) (result, error) {
	if f == nil {
		f = h.faultOf(seed, n)
	}
	rng := rand.New(rand.NewPCG(seed, 1<<32+uint64(n)))
	s := shapeOf(rng)
	if f.shape != nil {
		s = *f.shape
	} else if f.place == models {
		s = trains
	}
	r := &round{h: h, shape: s, rng: rng, fault: f}
	r.res = result{Seed: seed, Round: n, Revision: h.revision, Shape: s.Name, Place: f.place, Choices: draw(f, s, rng)}
	if _, err := h.reference(s); err != nil { // before the clock starts
		return r.res, err
	}
	var err error
	if r.dir, err = os.MkdirTemp(h.work, fmt.Sprintf("round-%d-", n)); err != nil {
		return r.res, err
	}
	stop := context.AfterFunc(ctx, r.interrupt)
	defer stop()
	r.do()
	return r.res, ctx.Err()
}

func (r *round) interrupt() {
	for _, f := range belonging(r.dir) {
		f.signal(syscall.SIGKILL)
	}
}
