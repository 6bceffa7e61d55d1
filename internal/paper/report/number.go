package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

func number(v *float64) string {
	if v == nil {
		return "–"
	}
	return humanize.Commaf(math.Round(*v*1e4)/1e4 + 0) // + 0: no -0
}

func signed(v *float64) string {
	if v == nil || *v <= 0 {
		return number(v)
	}
	return "+" + number(v)
}

// took prints a duration as people read it: 0.4 s, 12 s, 3 min 20 s, 5 h 12 min.
func took(s float64) string {
	d := time.Duration(s * float64(time.Second)).Round(time.Second)
	switch {
	case s < 9.95:
		return fmt.Sprintf("%.1f s", s)
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// counted prints a number with its noun: 1 step, 2 steps.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func short(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 12 {
		return digest
	}
	return hex[:12]
}

// slug makes a fragment name from an address.
func slug(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '-'
	}, s)
}
