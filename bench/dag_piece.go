package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/redsi/redsi/internal/host/usage"
)

// runDAG runs a DAG (tool, program, shape, steps) in a new folder, then does what its other arguments say: first is
// that run itself, again repeats it, changed repeats it after an edit, and all else is a command of redsi, such as
// plan. It measures the last command with all processes that it started. The folder -in stays, and every command except first finds
// the DAG run there if an earlier piece has run it.
func runDAG(args []string) (sample, error) {
	set := flag.NewFlagSet("", flag.ExitOnError)
	in := set.String("in", "", "")
	set.Parse(args) // an error ends the process
	args = set.Args()
	tool, program, shape, what := args[0], args[1], args[2], args[4]
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return sample{}, err
	}
	dir := *in
	if dir == "" {
		if dir, err = os.MkdirTemp("", "redsi-bench-dag-"); err != nil {
			return sample{}, err
		}
		defer os.RemoveAll(dir)
	}
	if what == "first" {
		err = os.RemoveAll(dir)
	}
	if err = errors.Join(err, os.MkdirAll(dir, 0o755)); err != nil {
		return sample{}, err
	}
	write := func(edit string) error {
		if shape == "pieces" || shape == "written" {
			if err := writePieces(dir, n, edit); err != nil {
				return err
			}
		}
		text, err := shapeText(tool, shape, n)
		name := map[string]string{"redsi": "pipelines.hcl", "snakemake": "Snakefile", "make": "Makefile", "cp": "copies.sh"}[tool]
		return errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	run := map[string][]string{"redsi": {"run", "--log-level", "warn"}, "snakemake": {"--cores", "2", "--quiet", "all"}, "make": {"-j2", "-s"}, "cp": {"-e", "copies.sh"}}[tool]
	if shape == "failing" && tool == "snakemake" {
		run = append(run, "--keep-going")
	}
	var s sample
	ran := filepath.Join(dir, "ran")
	if _, missing := os.Stat(ran); missing != nil {
		if err = write(""); err == nil {
			s, err = runAll(dir, program, run)
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && shape == "failing" && exit.ExitCode() == 1 {
			err = nil
		}
		if err == nil {
			err = os.WriteFile(ran, nil, 0o644)
		}
	}
	if err == nil && what == "changed" {
		err = write(" # edited")
	}
	if err == nil && what != "first" {
		next := run
		switch {
		case what == "again" || what == "changed":
		case tool == "snakemake":
			next = append(run, "--dry-run")
		default:
			next = append(args[4:], "--log-level", "warn")
		}
		s, err = runAll(dir, program, next)
	}
	s.Work = float64(n)
	s.Check = fmt.Sprintf("%s %d %s", strings.NewReplacer("steps", "chain", "written", "pieces").Replace(shape), n, what)
	if err == nil {
		want := n
		if shape == "failing" {
			want -= n / 100 // each 100th fails
			if tool == "redsi" {
				want++ // what gathers the others
			}
		}
		if shape == "pieces" || shape == "written" {
			want += 1 // what gathers them
			if tool == "redsi" {
				want += 1 // what cuts them
			}
			if tool == "redsi" && what == "changed" {
				want += 3 // new ones: both, and the piece
			}
		}
		err = complete(dir, tool, want)
	}
	return s, err
}

// complete checks that the steps have left what they should.
func complete(dir, tool string, n int) error {
	top, want := filepath.Join(dir, "out"), n
	if tool == "redsi" {
		top = filepath.Join(dir, ".redsi", "store", "records", "results")
	}
	found := 0
	err := filepath.WalkDir(top, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			found++
		}
		return err
	})
	if err == nil && (found < want || found > want+1) { // an edit makes one more
		err = fmt.Errorf("%s has %d results of %d", top, found, want)
	}
	return err
}

// runAll runs a command and waits for all processes that it leaves, which become ours.
func runAll(dir, program string, args []string) (sample, error) {
	if err := adoptOrphans(); err != nil {
		return sample{}, err
	}
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &before); err != nil {
		return sample{}, err
	}
	var out bytes.Buffer
	c := exec.Command(program, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &out
	if filepath.IsAbs(dir) {
		c.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(dir))
	}
	clock := stopwatch()
	failed := c.Run()
	s := sample{Seconds: clock()}
	for {
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			break
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return s, err
		}
	}
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &after); err != nil {
		return s, err
	}
	s.Processor = (usage.CPU(&after) - usage.CPU(&before)).Seconds()
	s.Written = float64(after.Oublock-before.Oublock) * 512
	s.Resident = peak(c.ProcessState)
	if failed != nil {
		return s, fmt.Errorf("%s %v: %w\n%s", program, args, failed, tail(out.String()))
	}
	return s, nil
}
