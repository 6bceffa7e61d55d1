package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/usage"
)

// startLines are what each start costs, and a worker that waits.
var startLines = []line{
	{name: "version_vs_30ms", target: 1, value: perUnit,
		doc:  "redsi version, the whole process by the clock, the median of 20, against a bound of 30 ms",
		ours: redsiStarts("starts", "version"), peer: side{bound: 30}},
	{name: "version_memory_vs_50mb", target: 1, value: resident, once: true,
		doc:  "the same, its memory at most, against a bound of 50 MB",
		ours: redsiStarts("memory", "version"), peer: side{bound: 50}},
	{name: "complete_vs_60ms", target: 1, value: perUnit,
		doc:  "the names of the paper's steps for the tabulator key, by the clock, the median of 20, against a bound of 60 ms",
		ours: redsiStarts("starts", "__complete", "run", "-t", ""), peer: side{bound: 60}},
	{name: "worker_memory_vs_80mb", target: 1, value: resident, once: true,
		doc:  "memory of redsi dev that has computed nothing, without its server, against a bound of 80 MB",
		ours: waitingWorker("new"), peer: side{bound: 80}},
	{name: "worker_memory_trained_vs_new", target: 0.8, value: resident, once: true, unlike: true, asked: true,
		doc:  "the same after a training and the minutes in which the program that computes is kept, against one that has computed nothing",
		ours: waitingWorker("trained"), peer: waitingWorker("new")},
}

// redsiStarts is a piece that starts redsi with these arguments.
func redsiStarts(piece string, args ...string) side {
	return pieceOn(piece, (*env).redsi, args...)
}

// waitingWorker is a worker with the results of what the training of run_train.hcl reads.
func waitingWorker(has string) side {
	return side{command: func(e *env) ([]string, error) {
		program, dir, err := e.trained()
		return ours("worker", program, dir, has), err
	}}
}

// runStarts starts a command again and again; the first time does not count.
func runStarts(args []string) (sample, error) {
	var took []float64
	for range 21 {
		clock := stopwatch()
		out, err := exec.Command(args[0], args[1:]...).Output()
		took = append(took, clock())
		if err == nil && bytes.Count(out, []byte("\n")) < 2 {
			err = errors.New("it found nothing")
		}
		if err != nil {
			return sample{}, fmt.Errorf("%q: %w: %s", args, err, out)
		}
	}
	return sample{Seconds: median(took[1:]), Work: 1}, nil
}

// startMemory starts a command as the child of a shell that ends, so that this process waits for it without having
// started it: see peak.
func startMemory(args []string) (sample, error) {
	if err := adoptOrphans(); err != nil {
		return sample{}, err
	}
	c := exec.Command("sh", append([]string{"-c", `"$0" "$@" >/dev/null &`}, args...)...)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return sample{}, err
	}
	var status syscall.WaitStatus
	var of syscall.Rusage
	_, err := syscall.Wait4(-1, &status, 0, &of)
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(-1, &status, 0, &of)
	}
	if err == nil && status != 0 {
		err = fmt.Errorf("%q ended with %d", args, status.ExitStatus())
	}
	return sample{Resident: float64(usage.MaxMemory(&of))}, err
}

// settles is how long a worker waits before its memory is looked at.
const settles = 10 * time.Second

// workerMemory is that of a worker that waits, with what it started; first it has a training where the last argument
// says so.
func workerMemory(args []string) (s sample, err error) {
	program, dir, has := args[0], args[1], args[2]
	state := filepath.Join(dir, "state")
	c := exec.Command(program, "dev", "--port", "0", "--ui-port", "0", "--graph-port", "0", "--state", state, "--log-level", "warn")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return s, err
	}
	if err := c.Start(); err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, c.Process.Signal(os.Interrupt), c.Wait()) }()
	server := 0
	for said := bufio.NewScanner(out); ; {
		if !said.Scan() {
			return s, errors.Join(errors.New("the worker did not start"), said.Err())
		}
		if _, after, ok := strings.Cut(said.Text(), "(process "); ok {
			server, _ = strconv.Atoi(strings.TrimSuffix(after, ")"))
		}
		if strings.HasPrefix(said.Text(), "start a run") {
			break
		}
	}
	if has == "trained" {
		run := exec.Command(program, trainingOf(dir, "run", "-t", "step.train.tiny", "--var", newSeed(), "--out", filepath.Join(dir, "results"),
			"--temporal-profile", "redsi")...)
		run.Env = append(os.Environ(), "TEMPORAL_CONFIG_FILE="+filepath.Join(state, "temporal", "temporal.toml"))
		if text, err := run.CombinedOutput(); err != nil {
			return s, fmt.Errorf("%w\n%s", err, tail(string(text)))
		}
		time.Sleep(compute.DefaultIdle)
	}
	time.Sleep(settles)
	s.Resident, err = memoryOf(c.Process.Pid, server)
	return s, err
}

// memoryOf is what a process and its children but one have in memory.
func memoryOf(pid, but int) (float64, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	sum := 0
	for _, path := range stats {
		text, err := os.ReadFile(path)
		_, after, ok := strings.Cut(string(text), ") ")
		fields := strings.Fields(after) // from the state on
		if err != nil || !ok || len(fields) < 22 {
			continue // it has ended
		}
		own, parent := filepath.Base(filepath.Dir(path)), fields[1]
		if own != strconv.Itoa(but) && (own == strconv.Itoa(pid) || parent == strconv.Itoa(pid)) {
			pages, _ := strconv.Atoi(fields[21])
			sum += pages * os.Getpagesize()
		}
	}
	if err == nil && sum == 0 {
		err = errors.New("only Linux tells what a process has in memory")
	}
	return float64(sum), err
}
