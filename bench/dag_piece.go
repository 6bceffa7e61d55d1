package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// runDAG runs a DAG (tool, program, shape, steps) in a new folder, then does what its other arguments say: first is that run
// itself, again runs it once more, changed does so after an edit, and all else is a command of redsi, such as plan. It measures
// the last command with all processes that it started.
func runDAG(args []string) (sample, error) {
	tool, program, shape, what := args[0], args[1], args[2], args[4]
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return sample{}, err
	}
	dir, err := os.MkdirTemp("", "redsi-bench-dag-")
	if err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(dir)
	write := func(edit string) error {
		if shape == "pieces" || shape == "written" {
			if err := writePieces(dir, n, edit); err != nil {
				return err
			}
		}
		name, text := "pipelines.hcl", redsiText(shape, n)
		switch tool {
		case "snakemake":
			name, text = "Snakefile", snakemakeText(shape, n)
		case "cp":
			name, text = "copies.sh", copies
		}
		return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	}
	if err := write(""); err != nil {
		return sample{}, err
	}
	run := map[string][]string{"redsi": {"run", "--log-level", "warn"}, "snakemake": {"--cores", "2", "--quiet", "all"}, "cp": {"-e", "copies.sh"}}[tool]
	s, err := runAll(dir, program, run)
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
	clock := stopwatch()
	err := c.Run()
	s := sample{Seconds: clock()}
	if err != nil {
		return s, fmt.Errorf("%s %v: %w\n%s", program, args, err, tail(out.String()))
	}
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
	spent := func(r syscall.Rusage) float64 {
		return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
	}
	s.Processor = spent(after) - spent(before)
	s.Written = float64(after.Oublock-before.Oublock) * 512
	s.Resident = peak(c.ProcessState)
	return s, nil
}

// redsiText is a pipeline of so many steps.
func redsiText(shape string, n int) string {
	var b strings.Builder
	switch shape {
	case "pieces", "written":
		return piecesText(shape, n)
	case "large", "tree":
		return redsiBytes(shape, n)
	case "steps":
		fmt.Fprintf(&b, `step "command" "c" {
  for_each = { for i in range(%d) : format("%%05d", i) => i }
  argv     = ["sh", "-c", each.value == 0 ? "echo 0 > out/x" : "(cat in/p/x; echo ${each.value}) | tail -n 3 > out/x"]
  inputs   = { for i in [each.value - 1] : "p" => step.command.c[format("%%05d", i)].out if i >= 0 }
  outputs  = ["x"]
}
`, n)
		return b.String()
	}
	if shape == "wide" {
		fmt.Fprintf(&b, `step "command" "w" {
  for_each = toset(flatten([for i in range(%d) : [for j in range(100) : tostring(100 * i + j)]]))
  argv     = ["sh", "-c", "echo ${each.key} > out/x"]
  outputs  = ["x"]
}
`, n/100)
		return b.String()
	}
	b.WriteString("step \"command\" \"c0\" {\n  argv    = [\"sh\", \"-c\", \"echo 0 > out/x\"]\n  outputs = [\"x\"]\n}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `step "command" "c%d" {
  argv    = ["sh", "-c", "(cat in/p/x; echo %d) | tail -n 3 > out/x"]
  inputs  = { p = step.command.c%d.out }
  outputs = ["x"]
}
`, i, i, i-1)
	}
	return b.String()
}

func snakemakeText(shape string, n int) string {
	var b strings.Builder
	switch shape {
	case "pieces":
		return snakemakePieces
	case "large", "tree":
		return snakemakeBytes(shape, n)
	}
	fmt.Fprintf(&b, "rule all:\n    input: expand('out/{i}', i=range(%d))\n\n", n)
	if shape == "wide" {
		b.WriteString("rule w:\n    output: 'out/{i}'\n    shell: 'echo {wildcards.i} > {output}'\n")
		return b.String()
	}
	b.WriteString("rule c0:\n    output: 'out/0'\n    shell: 'echo 0 > {output}'\n\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "rule c%d:\n    input: 'out/%d'\n    output: 'out/%d'\n    shell: '(cat {input}; echo %d) | tail -n 3 > {output}'\n\n", i, i-1, i, i)
	}
	return b.String()
}
