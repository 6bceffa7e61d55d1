// Package words says counts, sizes and durations as people read them. It must not know what is counted, or where the
// words are shown.
package words

import (
	"errors"
	"fmt"
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
