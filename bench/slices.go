package main

import (
	"bufio"
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

// workload is a piece that stays: it prepares once and then does the same work as
// often as it is asked.
type workload struct {
	check string                  // what it computes, equal on both sides
	run   func() (float64, error) // one slice; how much work that was
	close func()

	warm   func() error   // what is done first and does not count; nil: a slice
	graphs func() *graphs // nil: there are none
}

// serve prepares a workload, does what does not count, and then a slice for
// each line of standard input, answering each with a sample.
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

// server is a workload's process.
type server struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	stderr  strings.Builder
	check   string
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
	ready, err := s.read()
	s.check = ready.Check
	if err != nil {
		_, stopped := s.stop()
		return nil, errors.Join(err, stopped)
	}
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

// slice runs one.
func (s *server) slice() (sample, error) {
	if _, err := io.WriteString(s.in, "\n"); err != nil {
		return sample{}, err
	}
	return s.read()
}

// stop ends the process and returns its peak memory in bytes.
func (s *server) stop() (float64, error) {
	s.in.Close()
	if err := s.command.Wait(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(s.command.Args, " "), err, tail(s.stderr.String()))
	}
	return peak(s.command.ProcessState), nil
}

// measureSlices alternates slices of both sides, each of which has started once, and
// compares the fastest of each: what else the machine does only ever adds time. The
// second result is peak memory.
//
// Of a whole work there are as many rounds as other lines have pairs, or fewer, where
// ours have taken env.peerTime. In each the peer does parts until its share of that
// time is over, at least one, and no more than there are.
func measureSlices(e *env, l line) (results []result, err error) {
	var servers []*server
	peaks := make([]float64, 2)
	defer func() {
		for i, s := range servers {
			var stopped error
			peaks[i], stopped = s.stop()
			err = errors.Join(err, stopped)
		}
		if err == nil && !l.unlike {
			results = append(results, result{Name: l.name + "_memory", Ours: peaks[0] / 1e6, Peer: peaks[1] / 1e6, Unit: "MB", Ratio: peaks[1] / peaks[0]})
		}
	}()
	for _, s := range []side{l.ours, l.peer} {
		command, err := s.command(e)
		if err != nil {
			return nil, err
		}
		server, err := startServer(e, command)
		if err != nil {
			return nil, err
		}
		servers = append(servers, server)
	}
	if ours, peer := servers[0].check, servers[1].check; ours != peer && !l.unlike {
		return nil, fmt.Errorf("ours found %q and the peer %q", ours, peer)
	}
	rounds := e.slices
	if l.toEnd {
		rounds = e.pairs
	}
	var best, last [2]sample
	taken := 0.0 // by ours
	for round := range rounds {
		if l.toEnd && round > 0 && taken >= e.peerTime.Seconds() {
			break
		}
		for i, s := range servers {
			v, err := s.slice()
			for peer := i == 1; peer && l.toEnd && err == nil && v.Work < last[0].Work && v.Seconds < e.peerTime.Seconds()/float64(rounds); {
				var more sample
				more, err = s.slice()
				v.Work, v.Seconds, v.Processor = v.Work+more.Work, v.Seconds+more.Seconds, v.Processor+more.Processor
			}
			if err != nil {
				return nil, err
			}
			if last[i] = v; i == 0 {
				taken += v.Seconds
			}
			if round == 0 || l.value.better(v, best[i]) {
				best[i] = v
			}
			fmt.Fprintf(os.Stderr, "  %s %s: %.4g %s (%.2f s, %.2f s of processor, load %s)\n",
				l.name, [2]string{"ours", "peer"}[i], l.value.of(v), l.value.unit, v.Seconds, v.Processor, load())
		}
	}
	r := result{Name: l.name, Ours: l.value.of(best[0]), Peer: l.value.of(best[1]), Unit: l.value.unit, Graphs: last[0].Graphs}
	r.Ratio = l.ratio(r.Ours, r.Peer)
	if l.toEnd {
		r.OursOf, r.PeerOf = best[0].Work, best[1].Work
	}
	return []result{r}, nil
}
