package view

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/redsi/redsi/internal/escape"
)

// Shown is text that may be written as it is: it was escaped when it was made.
// Only this package makes it.
type Shown struct{ text string }

// String is the text with its colours.
func (s Shown) String() string { return s.text }

// continuation is where the lines of a text stand that belongs to a line.
const continuation = "\n       "

// Lines shows a text of several lines below a line: they are indented, so that no
// text looks like a line of ours.
func Lines(text string) Shown {
	return Shown{strings.ReplaceAll(escape.Text(strings.TrimRight(text, "\n")), "\n", continuation)}
}

// Document shows a text of several lines as it stands.
func Document(text string) Shown { return Shown{escape.Text(text)} }

// Printf is fmt.Fprintf for people. Whatever the arguments are, nothing in them can
// move a cursor, colour, forge a line or turn the direction of writing: it is shown
// escaped, each argument on one line, but for errors, whose further lines are indented.
func Printf(w io.Writer, format string, args ...any) {
	for i, v := range args {
		args[i] = safe(v)
	}
	fmt.Fprintf(w, format, args...)
}

// Println is fmt.Fprintln with the care of Printf.
func Println(w io.Writer, args ...any) {
	for i, v := range args {
		args[i] = safe(v)
	}
	fmt.Fprintln(w, args...)
}

// Copy prints bytes: as they are where a program reads them, escaped on a terminal.
func Copy(w io.Writer, r io.Reader, terminal bool) error {
	if terminal {
		return escape.Copy(w, r)
	}
	_, err := io.Copy(w, r)
	return err
}

// safe is an argument that prints escaped.
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

// foreign is a value whose text is made when it is printed.
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
