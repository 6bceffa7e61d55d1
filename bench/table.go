package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/atomicfile"
)

// The table of all rows stands in a page between two marks.
const (
	tablePage  = "docs/performance.md"
	tableBegin = "<!-- rows: written by go run ./bench -docs, from bench/rows.jsonl -->\n"
	tableEnd   = "<!-- rows: end -->\n"
	oldMark    = "; **old**: "
	oldAfter   = 200 // commits
)

func writeTable(ctx context.Context) error {
	page, err := os.ReadFile(tablePage)
	if err != nil {
		return err
	}
	rows, err := readRows(resultsFile)
	if err != nil {
		return err
	}
	text, err := withTable(string(page), rows, func(revision string) bool {
		revision = strings.TrimSuffix(revision, "+")
		out, err := exec.CommandContext(ctx, "git", "rev-list", "--count", revision+"..HEAD").Output()
		n, invalid := strconv.Atoi(strings.TrimSpace(string(out)))
		return revision == "" || err != nil || invalid != nil || n > oldAfter
	})
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(tablePage, []byte(text), 0o644)
}

func readRows(file string) (rows []result, err error) {
	b, err := os.ReadFile(file)
	for line := range bytes.Lines(b) {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		rows = append(rows, r)
	}
	return rows, err
}

// withTable is the page with the table of these rows in place of the table that it has; old says which revisions are.
func withTable(page string, rows []result, old func(revision string) bool) (string, error) {
	before, rest, begins := strings.Cut(page, tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return "", fmt.Errorf("%s has no table between %q and %q", tablePage, tableBegin, tableEnd)
	}
	return before + tableBegin + "\n" + table(allLines(), rows, old) + "\n" + tableEnd + after, nil
}

// table has a row for each line, with a peer's memory behind its time, and below it when and where they were measured.
func table(lines []line, rows []result, old func(revision string) bool) string {
	var b strings.Builder
	var runs []session
	named := func(name string) (r result, ok bool) {
		i := slices.IndexFunc(rows, func(r result) bool { return r.Name == name })
		if i < 0 {
			return r, false
		}
		return rows[i], true
	}
	b.WriteString("| line | what | floor | ours / the peer | ratio | the peer, and slower ones with their ratios | |\n|---|---|---|---|---|---|---|\n")
	for _, l := range lines {
		r, ok := named(l.name)
		if !ok && l.asked {
			continue
		}
		floor, figures, ratio, peers, run := "", "", "not measured", "", ""
		if l.target > 0 {
			floor = fmt.Sprintf("%.3g", l.target)
		}
		if ok {
			figures, ratio = fmt.Sprintf("%.4g / %.4g %s", r.Ours, r.Peer, r.Unit), fmt.Sprintf("%.2f", r.Ratio)
			if m, ok := named(l.name + "_memory"); ok {
				figures, ratio = figures+fmt.Sprintf("; %.4g / %.4g %s", m.Ours, m.Peer, m.Unit), ratio+fmt.Sprintf("; %.2f", m.Ratio)
			}
			if r.OursTraffic != nil && r.PeerTraffic != nil {
				figures += "; " + r.OursTraffic.beside(r.PeerTraffic)
			}
			switch {
			case r.Ratio < l.target:
				ratio += ", **below**"
			case r.Ratio < 1 && l.target == 0:
				ratio += ", **behind**"
			}
			peers = r.Against
			for _, o := range r.Others {
				peers += fmt.Sprintf("; %s: %.2f", o.Is, o.Ratio)
			}
			at := slices.Index(runs, r.session)
			if at < 0 {
				at, runs = len(runs), append(runs, r.session)
			}
			run = "[" + strconv.Itoa(at+1) + "]"
		}
		cells := []string{"`" + l.name + "`", l.doc, floor, figures, ratio, peers, run}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteString("\nWhere measured, with time first and memory after it:\n\n")
	for i, s := range runs {
		mark := ""
		if old(s.Revision) {
			mark = oldMark + strconv.Itoa(oldAfter) + " commits and more came since"
		}
		fmt.Fprintf(&b, "- [%d] %s%s\n", i+1, s.said(), mark)
	}
	return b.String()
}
