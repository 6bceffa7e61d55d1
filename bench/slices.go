package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/redsi/redsi/internal/host/usage"
)

// workload is a piece that stays: it prepares once and does the same work as often as it is asked.
type workload struct {
	check string                  // what it computes, equal on both sides
	run   func() (float64, error) // one slice; how much work that was
	close func()

	warm   func() error   // what is done first and does not count; nil: a slice
	graphs func() *graphs // nil: there are none

	traffic *traffic // of the last slice, where that is clients'
}

// serve prepares and warms a workload, then answers each line of standard input with the sample of a slice.
func serve(prepare func(p *placed, w *workload) error, args []string) error {
	runtime.LockOSThread() // as a step does: libtorch keeps a pool of threads per thread that calls it
	defer runtime.UnlockOSThread()
	w, err := onDevice(args, prepare)
	if err != nil {
		return err
	}
	defer w.close()
	if w.warm == nil {
		w.warm = func() error { _, err := w.run(); return err }
	}
	if err := w.warm(); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(sample{Check: w.check}); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		cpu, lap := processorSeconds(), stopwatch()
		work, err := w.run()
		if err != nil {
			return err
		}
		s := sample{Seconds: lap(), Work: work, Check: w.check, Processor: processorSeconds() - cpu}
		s.Traffic = w.traffic
		if w.graphs != nil {
			s.Graphs = w.graphs()
		}
		if err := out.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

func processorSeconds() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // else it stays zero
	return usage.CPU(&u).Seconds()
}

type server struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	stderr  strings.Builder
	is      string // as the first line of its output says
}

func startServer(e *env, command []string) (*server, error) {
	c := exec.CommandContext(e.ctx, command[0], command[1:]...)
	s := &server{command: c}
	c.Env = append(os.Environ(), e.threads()...)
	c.Stderr = &s.stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.in, err = c.StdinPipe(); err != nil {
		return nil, err
	}
	s.out = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		return nil, err
	}
	first, err := s.read()
	if err != nil {
		_, stopped := s.stop()
		return nil, errors.Join(err, stopped)
	}
	s.is = first.Is
	return s, nil
}

func (s *server) read() (sample, error) {
	var v sample
	if !s.out.Scan() {
		return v, errors.New("it ended before its measurement")
	}
	err := json.Unmarshal(s.out.Bytes(), &v)
	return v, err
}

func (s *server) slice() (sample, error) {
	if _, err := io.WriteString(s.in, "\n"); err != nil {
		return sample{}, err
	}
	v, err := s.read()
	v.Is = cmp.Or(v.Is, s.is)
	return v, err
}

// stop ends the process and returns its peak memory in bytes.
func (s *server) stop() (float64, error) {
	s.in.Close()
	if err := s.command.Wait(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(s.command.Args, " "), err, tail(s.stderr.String()))
	}
	return peak(s.command.ProcessState), nil
}
