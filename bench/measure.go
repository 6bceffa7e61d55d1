package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// resultsFile has the last row of each name, from the root of the repository.
const resultsFile = "bench/results.jsonl"

// store puts rows into the file in place of those of the same names. What is measured quickly is not kept.
func (e *env) store(rows []result) error {
	if e.quick {
		return nil
	}
	old, err := os.ReadFile(resultsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var out bytes.Buffer
	for line := range bytes.Lines(old) {
		var r result
		if json.Unmarshal(line, &r) == nil && !slices.ContainsFunc(rows, func(n result) bool { return n.Name == r.Name }) {
			out.Write(line)
		}
	}
	enc := json.NewEncoder(&out)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return atomicfile.WriteFile(resultsFile, out.Bytes(), 0o644)
}

// measureAll measures lines and prints and stores a row for each. A line that
// fails is reported at the end; the others are measured all the same.
func measureAll(e *env, lines []line) error {
	err := e.store(nil)
	if err == nil {
		_, err = os.Stat(filepath.Dir(resultsFile))
	}
	if err != nil {
		return fmt.Errorf("run the bench from the root of the repository: %w", err)
	}
	fmt.Printf("%s, %d processors, load %s, %s\n", processor(), runtime.NumCPU(), load(), runtime.Version())
	fmt.Printf("%-46s %10s %10s  %-9s %7s  %s\n", "name", "ours", "peer", "unit", "ratio", "(target)")
	var errs []error
	for _, l := range lines {
		rows, err := measureLine(e, l)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", l.name, err))
			fmt.Printf("%-46s failed\n", l.name)
			if e.ctx.Err() != nil {
				break
			}
			continue
		}
		for _, r := range rows {
			target := ""
			if r.Name == l.name && l.target > 0 {
				target = fmt.Sprintf("(%g)", l.target)
				if r.Ratio < l.target {
					target += "  below"
				}
			}
			fmt.Printf("%-46s %10.4g %10.4g  %-9s %7.2f  %s%s\n", r.Name, r.Ours, r.Peer, r.Unit, r.Ratio, target, r.notes())
		}
		if err := e.store(rows); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// measureLine returns the line's row and those beside it.
func measureLine(e *env, l line) ([]result, error) {
	if l.sliced {
		return measureSlices(e, l)
	}
	r, err := measure(e, l)
	return []result{r}, err
}

// measure alternates the sides and compares their medians. Lines that are measured once take
// what a command has shown in another line, of which they compare another value.
func measure(e *env, l line) (result, error) {
	sides := []side{l.ours, l.peer}
	commands := make([][]string, len(sides))
	for i, s := range sides {
		var err error
		if commands[i], err = s.command(e); err != nil {
			return result{}, err
		}
	}
	values := make([][]float64, len(sides))
	var check string
	warmUps, pairs := e.warmUps, e.pairs
	if l.once {
		warmUps, pairs = 0, 1
	}
	for round := range warmUps + pairs {
		for i, command := range commands {
			id := strings.Join(command, "\x00")
			s, known := e.ran[id]
			if !l.once || !known {
				var err error
				if s, err = start(e, command); err != nil {
					return result{}, err
				}
				e.ran[id] = s
			}
			if check == "" || l.unlike {
				check = s.Check
			} else if s.Check != check {
				return result{}, fmt.Errorf("%s found %q, and what ran before it %q", filepath.Base(command[0]), s.Check, check)
			}
			v := l.value.of(s)
			who := [2]string{"ours", "peer"}[i]
			fmt.Fprintf(os.Stderr, "  %s %s: %.4g %s (%.2f s, %.2f s of processor, %.0f MB, load %s)\n",
				l.name, who, v, l.value.unit, s.Seconds, s.CPU.Seconds(), s.Peak/1e6, load())
			if round >= warmUps {
				values[i] = append(values[i], v)
			}
		}
	}
	r := result{Name: l.name, Ours: median(values[0]), Peer: median(values[1]), Unit: l.value.unit}
	r.Ratio = l.ratio(r.Ours, r.Peer)
	return r, nil
}

// start runs one piece to its end.
func start(e *env, command []string) (sample, error) {
	var s sample
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(e.ctx, command[0], command[1:]...)
	c.Stdout, c.Stderr = &stdout, &stderr
	c.Env = append(os.Environ(), e.threads()...)
	err := c.Run()
	if err != nil {
		return s, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, tail(stderr.String()))
	}
	rows := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if err := json.Unmarshal([]byte(rows[len(rows)-1]), &s); err != nil {
		return s, fmt.Errorf("%s: its last line is not a measurement: %w", strings.Join(command, " "), err)
	}
	s.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	s.Peak = peak(c.ProcessState)
	return s, nil
}

var threadNames = []string{"GOMAXPROCS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"}

// threads are the variables that give both sides so many.
func (e *env) threads() []string {
	var all []string
	for _, name := range threadNames {
		all = append(all, fmt.Sprintf("%s=%d", name, e.cores))
	}
	return all
}

// peak is the resident memory of a process at its highest. Linux counts in what this
// program had when it started the process: 130 MB, most of it libtorch's.
func peak(p *os.ProcessState) float64 {
	return float64(usage.MaxMemory(p.SysUsage().(*syscall.Rusage)))
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// tail is the end of what a command printed.
func tail(s string) string { return s[max(0, len(s)-2000):] }

// load is the system's load average of the last minute, where it tells.
func load() string {
	n, ok := capacity.Load()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", n)
}

func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for l := range strings.SplitSeq(string(b), "\n") {
		if name, ok := strings.CutPrefix(l, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return runtime.GOARCH
}

// stopwatch returns the seconds since it was made.
func stopwatch() func() float64 {
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}
