//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// logFile is the result file: a line of JSON for each round, of any number of calls.
type logFile struct {
	mu   sync.Mutex
	path string
	all  []result
}

// readLog reads the rounds of a seed and revision that are in the file already.
func readLog(path string) (*logFile, error) {
	l := &logFile{path: path}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || path == "" {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w: remove that line", path, n, err)
		}
		l.all = append(l.all, r)
	}
	return l, lines.Err()
}

// has reports whether a round is in the file.
func (l *logFile) has(seed uint64, n int, revision string) bool {
	return slices.ContainsFunc(l.all, func(r result) bool { return r.Seed == seed && r.Round == n && r.Revision == revision })
}

// add keeps a round, and says it.
func (l *logFile) add(r result) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r)
	say(r)
	if l.path == "" {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(r), f.Close())
}

// row sums up the rounds of a fault.
type row struct {
	fault      string
	rounds     int
	itself     int // recovered so
	next       int // recovered by the next run
	median     float64
	most       float64
	silence    float64
	stood      float64
	violations int // rounds with any
	times      []float64
}

func (w *row) add(r result) {
	w.rounds++
	switch r.By {
	case "itself":
		w.itself++
	case "next run":
		w.next++
	}
	if r.By != "" {
		w.times = append(w.times, r.RecoveredS)
		slices.Sort(w.times)
		w.median, w.most = w.times[len(w.times)/2], w.times[len(w.times)-1]
	}
	w.silence = max(w.silence, r.SilenceS)
	w.stood = max(w.stood, r.StoodS)
	if len(r.Violations) > 0 {
		w.violations++
	}
}

// rows sums up by fault, in the order of the list, with the sum of all last.
func rows(all []result) []row {
	by := map[string]*row{}
	total := &row{fault: "all"}
	for _, r := range all {
		w, ok := by[r.Fault]
		if !ok {
			w = &row{fault: r.Fault}
			by[r.Fault] = w
		}
		w.add(r)
		total.add(r)
	}
	var out []row
	for _, f := range faults {
		if w, ok := by[f.name]; ok {
			out = append(out, *w)
		}
	}
	return append(out, *total)
}

// table prints the sums as Markdown, and what went wrong with how to repeat it.
func table(w io.Writer, all []result) {
	fmt.Fprintln(w, "| fault | rounds | by itself | by the next run | recovered after, median | at most | silent at most | stood still at most | rounds with violations |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows(all) {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %.1f s | %.1f s | %.1f s | %.1f s | %d |\n",
			r.fault, r.rounds, r.itself, r.next, r.median, r.most, r.silence, r.stood, r.violations)
	}
	for _, r := range all {
		for _, v := range r.Violations {
			fmt.Fprintf(w, "\nround %d of seed %d, %s: %s\n  repeat it: make chaos SEED=%d ROUND=%d\n", r.Round, r.Seed, r.Fault, v, r.Seed, r.Round)
		}
	}
}
