package main

import (
	"bytes"
	"cmp"
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

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/cpu"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// resultsFile has the last row of each name, from the root of the repository.
const resultsFile = "bench/rows.jsonl"

// store puts rows into the file in place of rows of the same names. Quick measurements are not kept.
func (e *env) store(rows []result) error {
	if e.quick {
		return nil
	}
	for i := range rows {
		rows[i].session = e.at
	}
	all, err := readRows(resultsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all = slices.DeleteFunc(all, func(o result) bool { return slices.ContainsFunc(rows, func(n result) bool { return n.Name == o.Name }) })
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, r := range append(all, rows...) {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return atomicfile.WriteFile(resultsFile, out.Bytes(), 0o644)
}

// folderInMemory is a folder in memory with room for DAGs: earlier DAGs slow a disk down for some minutes, on ext4
// without a journal by half. It is "", the usual folder, on a machine without such memory.
func folderInMemory() string {
	const dir = "/dev/shm"
	if free, ok := system.Free(dir); ok && free > 4<<30 {
		return dir
	}
	return ""
}

// measureAll prepares what the lines need, measures them, prints and stores their rows, and reports what failed at the
// end.
func measureAll(e *env, lines []line) error {
	err := e.store(nil)
	if err == nil {
		_, err = os.Stat(filepath.Dir(resultsFile))
	}
	if err != nil {
		return fmt.Errorf("run the bench from the root of the repository: %w", err)
	}
	if e.scratch, err = os.MkdirTemp(folderInMemory(), "redsi-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(e.scratch)
	e.at = e.now()
	fmt.Println(e.at.said())
	left := 0.0
	for i := range lines {
		lines[i].takes = cmp.Or(lines[i].takes, 60)
		left += lines[i].takes
	}
	if !e.quick {
		fmt.Fprintf(os.Stderr, "  %d lines, about %s on two idle cores, and what is to be prepared before\n", len(lines), minutes(left))
	}
	ready := e.prepareAll(lines)
	fmt.Printf("%-46s %10s %10s  %-9s %7s  %s\n", "name", "ours", "peer", "unit", "ratio", "(target)")
	var errs []error
	var below []string
	all, expected := stopwatch(), 0.0
	for i, l := range lines {
		var rows []result
		err := errors.Join(ready[i].errs...)
		if err == nil {
			rows, err = measureLine(e, l, ready[i].commands)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", l.name, err))
			fmt.Printf("%-46s failed\n", l.name)
			if e.ctx.Err() != nil {
				break
			}
		}
		for _, r := range rows {
			target := ""
			if r.Name == l.name && l.target > 0 {
				target = fmt.Sprintf("(%.3g)", l.target)
				if r.Ratio < l.target {
					target += "  below"
					below = append(below, r.Name)
				}
			}
			fmt.Printf("%-46s %10.4g %10.4g  %-9s %7.2f  %s%s\n", r.Name, r.Ours, r.Peer, r.Unit, r.Ratio, target, r.notes())
		}
		if err := e.store(rows); err != nil {
			return err
		}
		left, expected = left-l.takes, expected+l.takes
		fmt.Fprintf(os.Stderr, "  %d of %d lines, %s, about %s left\n", i+1, len(lines), minutes(all()), minutes(left*all()/expected))
	}
	if e.quick {
		return errors.Join(errs...)
	}
	if len(below) > 0 {
		errs = append(errs, fmt.Errorf("below the floor: %s; bench -only %s measures anew", strings.Join(below, ", "), strings.Join(below, ",")))
	}
	return errors.Join(append(errs, writeTable(e.ctx))...)
}

func minutes(seconds float64) string {
	if seconds < 60 {
		return fmt.Sprintf("%.0f s", seconds)
	}
	return fmt.Sprintf("%.0f min", seconds/60)
}

// prepared are the commands of a line's sides, or why one is missing.
type prepared struct {
	commands [][]string
	errs     []error
}

// prepareAll builds what the lines' commands need before any is measured, some at once: much of it waits for downloads.
func (e *env) prepareAll(lines []line) []prepared {
	all := make([]prepared, len(lines))
	var g errgroup.Group
	g.SetLimit(4)
	for i, l := range lines {
		sides := l.sides()
		all[i] = prepared{make([][]string, len(sides)), make([]error, len(sides))}
		for k, s := range sides {
			g.Go(func() error {
				all[i].commands[k], all[i].errs[k] = s.command(e)
				return nil
			})
		}
	}
	_ = g.Wait() // each line has its own error
	return all
}

// measureLine alternates the sides until ours and the fastest peer agree, and compares the best of each: other work of
// the machine only ever adds time. Of workloads a second result is peak memory. Lines that are measured once take what
// a command has shown in another line, whose other values they compare.
//
// Of a work to its end there are as many pairs as other lines have at least, or fewer, once ours have taken
// env.peerTime. In each the peer does parts until its share of that time is over, at least one, and no more than there
// are.
func measureLine(e *env, l line, commands [][]string) (results []result, err error) {
	take := make([]func() (sample, error), len(commands))
	sides, last := make([][]sample, len(commands)), make([]sample, len(commands))
	var servers []*server
	defer func() {
		peaks := make([]float64, len(commands))
		for i, s := range servers {
			var stopped error
			peaks[i], stopped = s.stop()
			err = errors.Join(err, stopped)
		}
		if err == nil && l.sliced && !l.unlike && !l.noMemory {
			peer := peaks[l.fastest(sides)]
			results = append(results, result{Name: l.name + "_memory", Ours: peaks[0] / 1e6, Peer: peer / 1e6, Unit: "MB", Ratio: peer / peaks[0]})
		}
	}()
	for i, command := range commands {
		if !l.sliced {
			take[i] = func() (sample, error) { return e.run(command, l.once) }
			continue
		}
		s, err := startServer(e, command)
		if err != nil {
			return nil, err
		}
		servers, take[i] = append(servers, s), s.slice
	}
	for lap := stopwatch(); !l.enough(e, [2][]sample{sides[0], sides[l.fastest(sides)]}, lap()); {
		for i, side := range take {
			if l.slow(sides, i) {
				continue
			}
			v, err := side()
			for i > 0 && l.toEnd && err == nil && v.Work < last[0].Work && v.Seconds < e.peerTime.Seconds()/float64(e.pairs) {
				var more sample
				more, err = side()
				v.Work, v.Seconds, v.Processor = v.Work+more.Work, v.Seconds+more.Seconds, v.Processor+more.Processor
			}
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(os.Stderr, "  %s %s: %.4g %s (%.2f s, %.2f s of processor, load %s)\n",
				l.name, cmp.Or(v.Is, l.sides()[i].is, [2]string{"ours", "peer"}[min(i, 1)]), l.value.of(v), l.value.unit, v.Seconds, v.Processor, load())
			sides[i], last[i] = append(sides[i], v), v
			if v.Check != last[0].Check && !strings.HasPrefix(last[0].Check, v.Check+", ") && !l.unlike { // all of it, or its first parts
				return nil, fmt.Errorf("ours found %q and %s %q", last[0].Check, cmp.Or(v.Is, "the peer"), v.Check)
			}
		}
	}
	best := l.fastest(sides)
	low, high := l.interval([2][]sample{sides[0], sides[best]})
	ours, peer := sides[0][0], sides[best][0]
	is := func(i int) string { return cmp.Or(last[i].Is, l.sides()[i].is) }
	r := result{Name: l.name, Ours: l.value.of(ours), Peer: l.value.of(peer), Unit: l.value.unit, Ratio: l.ratio(ours, peer), Graphs: last[0].Graphs, Against: is(best),
		OursTraffic: ours.Traffic, PeerTraffic: peer.Traffic}
	for i := 1; i < len(sides); i++ {
		if i != best {
			slower := slices.MinFunc(sides[i], l.value.order)
			r.Others = append(r.Others, other{is(i), l.value.of(slower), l.ratio(ours, slower)})
		}
	}
	if l.toEnd {
		r.OursOf, r.PeerOf = ours.Work, peer.Work
	} else if n := len(sides[0]); n > 1 {
		r.Pairs, r.Low, r.High = n, low, high
	}
	return []result{r}, nil
}

// run runs one piece to its end; with reuse it returns what the piece has shown, if it has run.
func (e *env) run(command []string, reuse bool) (sample, error) {
	id := strings.Join(command, "\x00")
	if s, ran := e.ran[id]; ran && reuse {
		return s, nil
	}
	s, err := start(e, command)
	if err == nil {
		e.ran[id] = s
	}
	return s, err
}

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
	if s.Processor == 0 {
		s.Processor = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	}
	s.Peak = peak(c.ProcessState)
	return s, nil
}

var threadNames = []string{"GOMAXPROCS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"}

// threads are the variables that give both sides so many.
func (e *env) threads() []string {
	return lists.Map(threadNames, func(name string) string { return fmt.Sprintf("%s=%d", name, e.cores) })
}

// peak is a process's greatest resident memory, with the 130 MB that this program had when it started the process.
func peak(p *os.ProcessState) float64 {
	return float64(usage.MaxMemory(p.SysUsage().(*syscall.Rusage)))
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

func load() string {
	n, ok := capacity.Load()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", n)
}

func (e *env) now() session {
	revision, err := exec.CommandContext(e.ctx, "git", "describe", "--always", "--exclude=*", "--dirty=+").Output()
	if err != nil {
		revision = nil // no repository: rows without one are old
	}
	machine := attest.CPU()
	for _, has := range []struct {
		it   bool
		name string
	}{{cpu.X86.HasAVX512F, "AVX-512"}, {cpu.X86.HasAVX512BF16, "AVX512-BF16"}, {cpu.X86.HasAMXBF16, "AMX"}} {
		if has.it {
			machine += ", " + has.name
		}
	}
	return session{time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(revision)),
		fmt.Sprintf("%s, %s, %s", machine, words.Size(capacity.Here().Memory), runtime.Version()), e.cores}
}

func (s session) said() string {
	return fmt.Sprintf("%s, revision %s, %s, %d threads a side", s.Date, cmp.Or(s.Revision, "unknown"), s.Machine, s.Threads)
}

// stopwatch returns a function that returns the seconds since.
func stopwatch() func() float64 {
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}
