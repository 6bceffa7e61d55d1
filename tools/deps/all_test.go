package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// What is said of the parts waits for the end of the command that comes first; a part's failure does not end it.
func TestInstallAllBeside(t *testing.T) {
	deps := t.TempDir()
	table := filepath.Join(deps, "table")
	for _, tt := range []struct {
		first, want string
		table       bool
	}{
		{"touch " + table, "gotch: open no such header", true},
		{"false", "false: exit status 1", false},
	} {
		os.Remove(table)
		var out bytes.Buffer
		b := newBoard(&out)
		o := options{header: "no such header", jobs: 1, first: tt.first, dirs: map[string]string{"gotch": filepath.Join(deps, "gotch", "1-linux")}}
		if !tt.table { // the part waits for this lock, and would for ever
			held := testkit.Value(lock(t.Context(), filepath.Join(deps, "gotch", ".1-linux.lock"), quiet()))(t)
			defer held.Close()
		}
		testkit.ErrSays(t, installAll(t.Context(), o, b), tt.want)
		testkit.Says(t, out.String(), "redsi: installing gotch\n", "into "+deps+", for all clones", "10 MB of downloads; about ")
		if _, err := os.Stat(table); (err == nil) != tt.table {
			t.Errorf("%s: its file: %v", tt.first, err)
		}
		if b.holds() {
			t.Errorf("%s: the terminal is still held", tt.first)
		}
	}
}

func TestLeft(t *testing.T) {
	oneFile := cost{usual: 100 * time.Second}
	packages := cost{usual: 200 * time.Second, lines: 400}
	tests := []struct {
		cost    cost
		elapsed time.Duration
		lines   int
		want    string
	}{
		{cost{}, time.Minute, 3, ""},
		{oneFile, 0, 0, "about 2 min left"},
		{oneFile, 80 * time.Second, 0, "about 20 s left"},
		{oneFile, 99 * time.Second, 0, "about 5 s left"},
		{oneFile, 2 * time.Minute, 0, "almost done, or a busy machine"},
		{packages, 5 * time.Second, 100, "about 3 min left"},   // too early to tell by what was compiled
		{packages, time.Minute, 100, "about 3 min left"},       // a quarter in one minute
		{packages, 10 * time.Minute, 200, "about 10 min left"}, // slower than usual
		{packages, time.Minute, 400, "almost done, or a busy machine"},
	}
	for _, tt := range tests {
		if got := tt.cost.left(tt.elapsed, tt.lines); got != tt.want {
			t.Errorf("%+v after %s and %d lines: %q, want %q", tt.cost, tt.elapsed, tt.lines, got, tt.want)
		}
	}
}

// Each part has a cost, or nothing could be said of its time.
func TestCosts(t *testing.T) {
	for name := range builders(options{}) {
		testkit.That(t, costs[name].cpu != 0 && costs[name].usual != 0, name, "has no cost")
	}
}

// On a terminal each part keeps a line of its own, below the lines that stay; elsewhere states come with pauses.
func TestBoard(t *testing.T) {
	var out bytes.Buffer
	b := newBoard(&out)
	b.terminal = true
	one, two := b.part("one"), b.part("two")
	one.state("a")
	two.state("b")
	one.state("c")
	two.line("ready")
	one.end()
	want := "one: a\n" +
		"\x1b[1A\x1b[J" + "one: a\ntwo: b\n" +
		"\x1b[2A\x1b[J" + "one: c\ntwo: b\n" +
		"\x1b[2A\x1b[J" + "two: ready\none: c\n" +
		"\x1b[1A\x1b[J"
	testkit.Is(t, out.String(), want)

	out.Reset()
	b.drawn = 0
	b.hold()
	one.state("a")
	two.line("ready")
	if out.Len() > 0 {
		t.Errorf("printed %q while held", out.String())
	}
	b.release()
	testkit.Is(t, out.String(), "two: ready\none: a\n", "after it")

	out.Reset()
	plain := newBoard(&out).part("one")
	plain.state("too early")
	plain.last = plain.last.Add(-plain.board.every)
	plain.state("due")
	plain.state("too early again")
	plain.end()
	testkit.Is(t, out.String(), "one: due\n")
}
