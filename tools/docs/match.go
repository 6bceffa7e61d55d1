package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// different matches what differs in each run: ids of runs, durations, ports.
var different = regexp.MustCompile(`[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}` +
	`|\b(?:[0-9]+(?:\.[0-9]+)? (?:h|min|ms|s)\b ?)+` +
	`|127\.0\.0\.1:[0-9]+`)

// anything stands for any text or lines.
const anything = "…"

// mask replaces what differs each time.
func mask(s string, varies *regexp.Regexp) string {
	s = different.ReplaceAllString(strings.TrimRight(s, " \t\r"), "~")
	if varies != nil {
		s = varies.ReplaceAllString(s, "~")
	}
	return s
}

// Mismatch returns the first shown line that is not printed so, and what is printed there; at is -1 if there is none.
func Mismatch(shown, printed []string, varies *regexp.Regexp) (at int, got string) {
	shown, printed = trim(shown), trim(printed)
	patterns := make([]*regexp.Regexp, len(shown))
	for i, s := range shown {
		if s == anything {
			continue // any lines
		}
		parts := strings.Split(mask(s, varies), anything)
		for j := range parts {
			parts[j] = regexp.QuoteMeta(parts[j])
		}
		patterns[i] = regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
	}
	masked := lists.Map(printed, func(s string) string { return mask(s, varies) })
	// after[i] are the numbers of printed lines that the first i lines shown can stand for.
	after := map[int]bool{0: true}
	for i := range shown {
		next := map[int]bool{}
		for n := range after {
			switch {
			case patterns[i] == nil:
				for m := n; m <= len(masked); m++ {
					next[m] = true
				}
			case n < len(masked) && patterns[i].MatchString(masked[n]):
				next[n+1] = true
			}
		}
		if len(next) == 0 {
			// After any lines the place is unknown: the first that could have been is shown.
			if first := slices.Min(slices.Collect(maps.Keys(after))); first < len(printed) {
				got = printed[first]
			}
			return i, got
		}
		after = next
	}
	if after[len(masked)] {
		return -1, ""
	}
	return len(shown), printed[slices.Max(slices.Collect(maps.Keys(after)))]
}

// trim leaves out empty lines at both ends.
func trim(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
