package view

import (
	"context"
	jsonv1 "encoding/json"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"log/slog"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// How many of something are printed, unless all are asked for; --json has all.
const (
	failedShown   = 5  // steps that failed before, as a run begins
	fetchShown    = 10 // blocks that would be fetched from other stores
	hostsShown    = 5  // hosts in a line
	idShown       = 8  // digits of an environment's ID: enough to tell it from others
	impactShown   = 20 // causes and claims of a change
	inputsShown   = 12 // of a step
	keptShown     = 5  // published files that somebody else has changed
	leavesShown   = 12 // values of a traced step's configuration
	leftOutShown  = 10 // steps that are not rebuilt for lack of time
	linesShown    = 20 // that differ in an output
	lostShown     = 5  // results that could not be copied
	nameShown     = 24 // columns of a running step's name, while something else can be left out
	packagesShown = 50 // of a traced step
	pairsShown    = 16 // steps that differ: with the rest, a screen
	reasonsShown  = 2  // why steps of a block must run
	rebuiltShown  = 5  // attestations of a result
	requestsShown = 10 // steps that ask for what is not there, or is far from what they took
	rowsShown     = 8  // running steps below a run's lines
	stepsShown    = 5  // running steps of an open run, and as many that failed
	straysShown   = 20 // files in the store that it did not write
	unmetShown    = 20 // expectations; the report has all
	usagesShown   = 30 // groups of results
	valuesShown   = 10 // that differ in an output
	wroteShown    = 20 // files of a new study; of more, their number
)

// Shown is escaped text, to be written unchanged. Only this package makes it.
type Shown struct{ text string }

func (s Shown) String() string { return s.text }

// continuation begins the further lines of a message.
const continuation = "\n       "

// Lines shows a text of several lines below a line, indented so that it cannot look like redsi's own output.
func Lines(text string) Shown {
	return Shown{strings.ReplaceAll(escape.Text(strings.TrimRight(text, "\n")), "\n", continuation)}
}

// Document shows a text of several lines without indenting it.
func Document(text string) Shown { return Shown{escape.Text(text)} }

// Printf is fmt.Fprintf for people. Arguments cannot move a cursor, colour, forge a line or reverse the direction of writing: they
// are escaped, each on one line, except errors, whose further lines are indented.
func Printf(w io.Writer, format string, args ...any) {
	for i, v := range args {
		args[i] = safe(v)
	}
	fmt.Fprintf(w, format, args...)
}

// either is one of two texts or values: the first, if so.
func either[T any](so bool, yes, no T) T {
	if so {
		return yes
	}
	return no
}

// bound is how many of something are printed: most, or all.
func bound(most int, all bool) int { return either(all, math.MaxInt, most) }

// printIf is Printf, if so.
func printIf(w io.Writer, so bool, format string, args ...any) {
	if so {
		Printf(w, format, args...)
	}
}

// PrintEach prints each of a list with one format.
func PrintEach[T any](w io.Writer, format string, list []T) {
	for _, x := range list {
		Printf(w, format, x)
	}
}

// Println is fmt.Fprintln with Printf's escaping.
func Println(w io.Writer, args ...any) {
	for i, v := range args {
		args[i] = safe(v)
	}
	fmt.Fprintln(w, args...)
}

// Copy prints bytes: escaped on a terminal, else unchanged.
func Copy(w io.Writer, r io.Reader, terminal bool) error {
	if terminal {
		return escape.Copy(w, r)
	}
	_, err := io.Copy(w, r)
	return err
}

// safe is an argument in escaped form.
func safe(v any) any {
	switch v := v.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return v
	case Shown:
		return v.text
	case string:
		return escape.Line(v)
	}
	return foreign{v}
}

// foreign is a value that makes its text when it is printed.
type foreign struct{ v any }

// flush is a further line of an error that is not indented.
var flush = regexp.MustCompile(`\n([^ \n])`)

func (f foreign) Format(s fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(s, verb), f.v)
	if _, ok := f.v.(error); ok {
		text = flush.ReplaceAllString(escape.Text(text), "\n  $1")
	} else {
		text = escape.Line(text)
	}
	io.WriteString(s, text)
}

// WriteJSON prints a value as indented JSON with a newline, as encoding/json has it, except that an empty list is [], never null,
// and control characters are JSON escapes.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, jsontext.WithIndent("  ")) }

func writeJSON(w io.Writer, v any, form ...json.Options) error {
	b, err := json.Marshal(v, append(form, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false))...)
	if err != nil {
		return err
	}
	_, err = w.Write(escape.JSON(append(b, '\n')))
	return err
}

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

func (s Style) Dim(t string) Shown { return s.paint("2", t) }

func (s Style) Bold(t string) Shown { return s.paint("1", t) }

// Outcome pads a word to five columns and colours it by the outcome it names.
func (s Style) Outcome(outcome, word string) Shown {
	code := map[string]string{"hit": "32", "ran": "32", "run": "33", "running": "36", "maybe": "34", "failed": "31", "skipped": "35", "not started": "35", "cancelled": "35"}[outcome]
	return s.paint(code, fmt.Sprintf("%-5s", word))
}

// fit cuts a text to columns of a terminal, between letters and outside of colour codes.
func fit(t Shown, columns int) Shown { return Shown{ansi.Truncate(t.text, columns, "")} }

func widest[T any](list []T, text func(T) string) (columns int) {
	for _, x := range list {
		columns = max(columns, ansi.StringWidth(escape.Line(text(x))))
	}
	return columns
}

func pad(t string, columns int) Shown {
	t = escape.Line(t)
	return Shown{t + strings.Repeat(" ", max(0, columns-ansi.StringWidth(t)))}
}

// Seconds prints a duration as people read it: 0.4 s, 12 s, 3 min 20 s, 5 h 12 min.
func Seconds(d time.Duration) string { return words.Seconds(d) }

func Items(n int) string {
	return fmt.Sprintf("%d %s", n, words.Of(n, "table or figure", "tables and figures"))
}

func Size(n int64) string { return words.Size(n) }

func Count(n int, noun string) string { return words.Count(n, noun) }

// Log passes records on to a handler without control characters: messages and names on one line, values with their lines.
func Log(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ to slog.Handler }

func (h logHandler) Enabled(ctx context.Context, l slog.Level) bool { return h.to.Enabled(ctx, l) }

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, escape.Line(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(attr(a))
		return true
	})
	return h.to.Handle(ctx, out)
}

func (h logHandler) WithAttrs(as []slog.Attr) slog.Handler {
	return logHandler{h.to.WithAttrs(lists.Map(as, attr))}
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.to.WithGroup(escape.Line(name))}
}

func attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString, slog.KindAny: // an error, mostly
		v = slog.StringValue(escape.Text(v.String()))
	case slog.KindGroup:
		v = slog.GroupValue(lists.Map(v.Group(), attr)...)
	}
	return slog.Attr{Key: escape.Line(a.Key), Value: v}
}
