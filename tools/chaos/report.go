//go:build linux

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/system/lists"
)

// logFile is the result file: a line of JSON for each round, of one call or several.
type logFile struct {
	mu   sync.Mutex
	path string // "": no file
	all  []result
}

// readLog reads the rounds in the file.
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

// add keeps a round, and prints a line about it, with its violations and notes.
func (l *logFile) add(r result) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r)
	fmt.Printf("%4d  %5.1f s  %s (%s): recovered after %.1f s by %s\n", r.Round, r.WallS, strings.Join(r.names(), ", then "), r.Shape, r.RecoveredS, cmp.Or(r.By, "nobody"))
	for _, v := range r.Violations {
		fmt.Println("      VIOLATION ", strings.ReplaceAll(v, "\n", "\n        "))
	}
	for _, n := range r.Notes {
		fmt.Println("      ", n)
	}
	if l.path == "" {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(r), f.Close())
}

// names returns the names of a round's faults.
func (r *result) names() []string {
	return lists.Map(r.Choices, func(c choice) string { return c.Fault })
}

// table prints sums by fault as Markdown, and the violations with how to repeat them.
func (l *logFile) table() {
	fmt.Println("\n| fault | rounds | by itself | by the next run | recovered after, median | at most | silent at most | stood still at most | rounds with violations |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, f := range append(faults, fault{name: "all"}) {
		var times []float64
		by, rounds, bad, silence, stood := map[string]int{}, 0, 0, 0.0, 0.0
		for _, r := range l.all {
			if f.do != nil && r.Choices[0].Fault != f.name {
				continue
			}
			rounds++
			by[r.By]++
			bad += min(len(r.Violations), 1)
			silence, stood = max(silence, r.SilenceS), max(stood, r.StoodS)
			if r.By != "" {
				times = append(times, r.RecoveredS)
			}
		}
		if rounds == 0 {
			continue
		}
		if len(times) == 0 {
			times = []float64{0}
		}
		slices.Sort(times)
		fmt.Printf("| %s | %d | %d | %d | %.1f s | %.1f s | %.1f s | %.1f s | %d |\n",
			f.name, rounds, by[itself], by[nextRun], times[len(times)/2], times[len(times)-1], silence, stood, bad)
	}
	for _, r := range l.all {
		for _, v := range r.Violations {
			fmt.Printf("\nround %d of seed %d, %s: %s\n  repeat it: make chaos SEED=%d ROUND=%d\n", r.Round, r.Seed, r.Choices[0].Fault, v, r.Seed, r.Round)
		}
	}
}
