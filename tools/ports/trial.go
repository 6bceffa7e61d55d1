package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// trial is a port that was laid out.
type trial struct {
	*port
	redsi, folder string
}

// outcome is how often a change made steps run.
type outcome struct {
	steps  int            // of all that count
	reruns map[string]int // by kind of change
}

// try runs a port, compares its results with the original's, and makes each change.
func try(redsi, from, originals, work string, progress io.Writer) (*port, outcome, error) {
	o := outcome{reruns: map[string]int{}}
	p, err := readPort(from)
	if err != nil {
		return nil, o, err
	}
	t := &trial{port: p, redsi: redsi, folder: filepath.Join(work, filepath.Base(from))}
	if err := os.RemoveAll(t.folder); err != nil {
		return nil, o, err
	}
	if err := p.lay(from, originals, t.folder); err != nil {
		return nil, o, err
	}
	if o.steps, err = t.run(); err != nil {
		return nil, o, err
	}
	if err := t.compare(); err != nil {
		return nil, o, err
	}
	fmt.Fprintf(progress, "%s: %d steps, %d results are the original's\n", filepath.Base(from), o.steps, len(p.Results))
	for _, kind := range kinds {
		c, ok := p.Changes[kind]
		if !ok {
			continue
		}
		if o.reruns[kind], err = t.change(c); err != nil {
			return nil, o, fmt.Errorf("%s: %w", kind, err)
		}
		fmt.Fprintf(progress, "%s: %s: %d ran again, %d by the original\n", filepath.Base(from), kind, o.reruns[kind], c.Ran)
	}
	return p, o, nil
}

// run runs the pipeline and says how many steps that count it ran.
func (t *trial) run() (int, error) {
	_, lines, err := t.call("run", "--quiet", "--yes")
	if err != nil {
		return 0, err
	}
	counts, err := regexp.Compile(cmp.Or(t.Counts, `^step\.(command|python|script)\.`))
	if err != nil {
		return 0, err
	}
	ran := 0
	for line := range strings.Lines(string(lines)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "DONE" && counts.MatchString(f[1]) {
			ran++
		}
	}
	return ran, nil
}

func (t *trial) call(args ...string) (out, errs []byte, err error) {
	cmd := exec.Command(t.redsi, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.folder, &stdout, &stderr
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("redsi %s in %s: %w\n%s", strings.Join(args, " "), t.folder, err, stderr.Bytes())
	}
	return stdout.Bytes(), stderr.Bytes(), err
}

// compare holds the results against the original's.
func (t *trial) compare() error {
	for _, r := range t.Results {
		b, _, err := t.call("artifacts", "cat", r.Output)
		if err != nil {
			return err
		}
		if got := sum(without(b, r.Skip)); got != r.SHA256 {
			return fmt.Errorf("%s in %s is not what the original made: its SHA-256 is %s, not %s", r.Output, t.folder, got, r.SHA256)
		}
	}
	return nil
}

// change makes a change, runs, and takes the change back.
func (t *trial) change(c change) (int, error) {
	before, err := t.files()
	if err != nil {
		return 0, err
	}
	if err := apply(t.folder, c.Edits); err != nil {
		return 0, err
	}
	ran, err := t.run()
	if err != nil {
		return 0, err
	}
	after, err := t.files()
	if err != nil {
		return 0, err
	}
	for path := range after {
		if _, old := before[path]; !old {
			if err := os.Remove(path); err != nil {
				return 0, err
			}
		}
	}
	for path, b := range before {
		if now, is := after[path]; is && bytes.Equal(now, b) {
			continue
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return 0, err
		}
	}
	return ran, nil
}

// files are those of the port, without what redsi makes.
func (t *trial) files() (map[string][]byte, error) {
	found := map[string][]byte{}
	return found, filepath.WalkDir(t.folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".redsi" || d.Name() == "results") {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			found[path], err = os.ReadFile(path)
		}
		return err
	})
}
