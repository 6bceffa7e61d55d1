package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/internal/system/words"
)

// Style colours text for a terminal; the zero value prints plain text. Both are escaped.
type Style struct{ Color bool }

// paint colours text of any kind.
func (s Style) paint(code, text string) Shown {
	return s.colour(code, escape.Line(text))
}

// colour colours text that is escaped already.
func (s Style) colour(code, text string) Shown {
	if !s.Color {
		return Shown{text}
	}
	return Shown{"\x1b[" + code + "m" + text + "\x1b[0m"}
}

// DimLines is Dim for a text that may have several lines, as Lines shows them.
func (s Style) DimLines(t string) Shown { return s.colour("2", Lines(t).text) }

// Dim is for minor details.
func (s Style) Dim(t string) Shown { return s.paint("2", t) }

// Bold is for headings.
func (s Style) Bold(t string) Shown { return s.paint("1", t) }

// Outcome pads a word to five columns and colours it by the outcome it names.
func (s Style) Outcome(outcome, word string) Shown {
	code := map[string]string{"hit": "32", "ran": "32", "run": "33", "running": "36", "maybe": "34", "failed": "31", "skipped": "35", "not started": "35", "cancelled": "35"}[outcome]
	return s.paint(code, fmt.Sprintf("%-5s", word))
}

// fit cuts a text to columns of a terminal, between letters and outside of colour codes.
func fit(t Shown, columns int) Shown { return Shown{ansi.Truncate(t.text, columns, "")} }

// pad fills a text up to columns of a terminal.
func pad(t string, columns int) Shown {
	t = escape.Line(t)
	return Shown{t + strings.Repeat(" ", max(0, columns-ansi.StringWidth(t)))}
}

// Seconds prints a duration as people read it: 0.4 s, 12 s, 3 min 20 s, 5 h 12 min.
func Seconds(d time.Duration) string { return words.Seconds(d) }

// Items says how many tables and figures there are.
func Items(n int) string {
	return fmt.Sprintf("%d %s", n, words.Of(n, "table or figure", "tables and figures"))
}

// Size prints bytes in decimal units.
func Size(n int64) string { return words.Size(n) }

// Count prints a number with its noun: 1 step, 2 steps.
func Count(n int, noun string) string { return words.Count(n, noun) }
