// Package words says counts, sizes and durations as people read them. It must not know what is counted, or where shown.
package words

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Count returns a number with its noun: 1 step, 2 steps.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Number is how many there are of something.
type Number struct {
	N  int
	Of string
}

// Counts says how many there are of each thing, without those that are 0: 3 hit, 1 ran.
func Counts(list ...Number) (said []string) {
	for _, x := range list {
		if x.N > 0 {
			said = append(said, fmt.Sprintf("%d %s", x.N, x.Of))
		}
	}
	return said
}

// Size returns a number of bytes in decimal units.
func Size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// ParseSize reads a number of bytes above 0 with its unit: 12GB and 12 GB are decimal, 12GiB is binary.
func ParseSize(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if unit := strings.TrimLeft(text, "0123456789. "); err == nil && (unit == "" || n == 0 || n > 1<<62 || strings.Contains(text, ",")) {
		err = errors.New("not a size with its unit, such as 12GB or 12GiB")
	}
	return int64(n), err
}

// Took is Seconds for a number of seconds, cut at the 292 years of a duration: estimates have been longer.
func Took(seconds float64) string {
	return Seconds(time.Duration(min(seconds*float64(time.Second), 9e18)))
}

// Seconds writes a duration: 0.4 s, 12 s, 3 min 20 s, 5 h 12 min.
func Seconds(d time.Duration) string {
	seconds := d.Round(time.Second)
	switch {
	case d < 9950*time.Millisecond: // more would print as 10.0
		return fmt.Sprintf("%.1f s", d.Seconds())
	case seconds < 2*time.Minute:
		return fmt.Sprintf("%d s", int(seconds.Seconds()))
	case seconds < 2*time.Hour:
		return fmt.Sprintf("%d min %d s", int(seconds.Minutes()), int(seconds.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(seconds.Hours()), int(seconds.Minutes())%60)
}

// Clip shortens a text to n characters, followed by … if it was longer.
func Clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return string([]rune(s[:i])) + "…"
		}
		n--
	}
	return s
}

// Fit shortens a text to most characters, … included.
func Fit(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Of returns the form of a word for a number: one thing has, other numbers have.
func Of(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// First yields the first n elements of a list with their places, then calls more with how many are left, if any are.
func First[T any](list []T, n int, more func(left int)) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range list[:min(n, len(list))] {
			if !yield(i, x) {
				return
			}
		}
		if left := len(list) - n; left > 0 {
			more(left)
		}
	}
}

// And lists the first n texts, and says how many more there are: a, b and 3 more.
func And(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// Quoted is And for names in quotes, with long names cut.
func Quoted(names []string, n int) string {
	quoted := slices.Clone(names)
	for i, name := range quoted[:min(n, len(names))] {
		quoted[i] = fmt.Sprintf("%.80q", name)
	}
	return And(quoted, n)
}
