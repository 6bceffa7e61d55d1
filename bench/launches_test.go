package main

import (
	"slices"
	"testing"
)

// TestLaunches: each line of launches finds its counts in the goldens, ours and transformers'.
func TestLaunches(t *testing.T) {
	t.Chdir("..") // where make bench begins
	for _, l := range launchLines {
		for _, s := range []side{l.ours, l.peer} {
			command, err := s.command(nil)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.Index(command, "launches")
			if at < 0 {
				t.Fatalf("%s: %q", l.name, command)
			}
			if got, err := countLaunches(command[at+1:]); err != nil || got.Work <= 0 {
				t.Errorf("%s: %g, %v", l.name, got.Work, err)
			}
		}
	}
}
