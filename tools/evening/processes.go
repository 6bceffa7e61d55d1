package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mark is a variable in the environment of all processes of a run, by which they are known.
const mark = "REDSI_EVENING="

// processes are those of the run, on Linux.
func (e *evening) processes() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range all {
		if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(mark+e.work+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// memory is what they have: pages that several share count once.
func (e *evening) memory() (sum int64) {
	for _, pid := range e.processes() {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // it may have ended
		for line := range strings.Lines(string(b)) {
			var kb int64
			if n, _ := fmt.Sscanf(line, "Pss: %d kB", &kb); n == 1 {
				sum += kb << 10
			}
		}
	}
	return sum
}

// watch looks at the memory of the run, and closes the lid once there is a checkpoint of a training.
func (e *evening) watch(done chan struct{}) {
	t := time.NewTicker(500 * time.Millisecond)
	defer t.Stop()
	for slept := e.lid == 0; ; {
		select {
		case <-done:
			return
		case <-t.C:
		}
		e.peak = max(e.peak, e.memory())
		checkpoints, _ := filepath.Glob(filepath.Join(e.work, "state", "store", "records", "checkpoints", "*"))
		if !slept && len(checkpoints) > 0 {
			slept = true
			e.sleep("a training")
		}
	}
}

// sleep stops the processes of the run for as long as the lid is closed.
func (e *evening) sleep(in string) {
	pids := e.processes()
	fmt.Printf("the lid is closed for %s in %s: %d processes\n", e.lid, in, len(pids))
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		for _, pid := range pids {
			_ = syscall.Kill(pid, signal) // it may have ended
		}
		if signal == syscall.SIGSTOP {
			time.Sleep(e.lid)
		}
	}
}

// sleepDownloading closes the lid when a megabyte of a file of train has come, and then breaks the
// connection off.
func (e *evening) sleepDownloading(r *http.Request, n int64) {
	if n < 1<<20 || !strings.Contains(r.URL.Path, "/nq-train-") {
		return
	}
	e.slept.Do(func() {
		e.sleep("a download")
		panic(http.ErrAbortHandler)
	})
}
