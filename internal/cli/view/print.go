package view

import (
	jsonv1 "encoding/json"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/redsi/redsi/internal/system/escape"
)

// Shown is escaped text, to be written unchanged. Only this package makes it.
type Shown struct{ text string }

// String is the text with its colours.
func (s Shown) String() string { return s.text }

// continuation begins the further lines of a message.
const continuation = "\n       "

// Lines shows a text of several lines below a line, indented so that it cannot look like our
// own output.
func Lines(text string) Shown {
	return Shown{strings.ReplaceAll(escape.Text(strings.TrimRight(text, "\n")), "\n", continuation)}
}

// Document shows a text of several lines without indenting it.
func Document(text string) Shown { return Shown{escape.Text(text)} }

// Printf is fmt.Fprintf for people. Arguments cannot move a cursor, colour, forge a line or
// reverse the direction of writing: they are escaped, each on one line, except errors, whose
// further lines are indented.
func Printf(w io.Writer, format string, args ...any) {
	for i, v := range args {
		args[i] = safe(v)
	}
	fmt.Fprintf(w, format, args...)
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

// WriteJSON prints a value as indented JSON with a newline, as encoding/json has it, but an empty
// list is [], never null. Control characters are written as JSON escapes.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, jsontext.WithIndent("  ")) }

func writeJSON(w io.Writer, v any, form ...json.Options) error {
	b, err := json.Marshal(v, append(form, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false))...)
	if err != nil {
		return err
	}
	_, err = w.Write(escape.JSON(append(b, '\n')))
	return err
}
