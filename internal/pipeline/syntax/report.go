package syntax

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
	"github.com/charmbracelet/x/ansi"
	"github.com/hashicorp/hcl/v2"
	wordwrap "github.com/mitchellh/go-wordwrap"

	"github.com/redsi/redsi/internal/system/escape"
)

type Style struct {
	Width int  // columns that details are wrapped at; 0 for none
	Color bool // for terminals
}

// Write writes the diagnostics as text, each with the source line it is about:
//
//	Error: Unknown step kind
//	  pipelines.hcl:4:6, in step "dedpu" "nq"
//	   4 | step "dedpu" "nq" {
//	     |      ^^^^^^^
//	There is no kind "dedpu". Did you mean "dedup"?
//
// It is not hcl.NewDiagnosticTextWriter's, which shows no second place and marks the first only by underlining.
func (ds Diagnostics) Write(w io.Writer, s Style) error {
	b := bufio.NewWriter(w)
	for _, d := range ds.List {
		r := reporter{w: b, style: s, sources: ds.sources, color: "\x1b[31m"}
		title := "Error"
		if d.Severity == hcl.DiagWarning {
			r.color, title = "\x1b[33m", "Warning"
		}
		fmt.Fprintf(b, "%s: %s\n", r.paint(title), escape.Line(d.Summary))
		r.excerpt(*d.Subject, "")
		for _, also := range Related(d) {
			r.excerpt(also.Range, also.Text)
		}
		if d.Detail != "" {
			detail := escape.Text(strings.TrimSpace(d.Detail))
			if s.Width > 0 {
				detail = wordwrap.WrapString(detail, uint(s.Width))
			}
			fmt.Fprintf(b, "%s\n", detail)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}

type reporter struct {
	w       *bufio.Writer
	style   Style
	color   string
	sources map[string][]byte
}

func (r *reporter) paint(s string) string {
	if !r.style.Color {
		return s
	}
	return "\x1b[1m" + r.color + s + "\x1b[0m"
}

// excerpt shows the first lines of a range, marked.
func (r *reporter) excerpt(rng hcl.Range, note string) {
	fmt.Fprintf(r.w, "  %s:%d:%d", escape.Line(rng.Filename), rng.Start.Line, rng.Start.Column)
	if note != "" {
		fmt.Fprintf(r.w, ", %s", escape.Line(note))
	}
	fmt.Fprintln(r.w)
	const most = 3
	src, quoted := r.sources[rng.Filename]
	start := bytes.LastIndexByte(src[:min(rng.Start.Byte, len(src))], '\n') + 1
	for n := rng.Start.Line; quoted && start <= len(src) && n <= min(rng.End.Line, rng.Start.Line+most-1); n++ {
		if n > rng.Start.Line && start >= rng.End.Byte {
			break
		}
		text, _, _ := bytes.Cut(src[start:], []byte("\n"))
		line := strings.TrimRight(string(text), "\r")
		first := len(line) - len(strings.TrimLeft(line, " \t"))
		last := len(strings.TrimRight(line, " \t"))
		from := min(max(rng.Start.Byte-start, first), len(line))
		to := max(min(rng.End.Byte-start, last), from)
		start += len(text) + 1
		line, from, to = window(line, from, to)
		mark := max(1, ansi.StringWidth(printable(line[from:to])))
		fmt.Fprintf(r.w, "%5d | %s\n", n, printable(line))
		fmt.Fprintf(r.w, "      | %s%s\n", strings.Repeat(" ", ansi.StringWidth(printable(line[:from]))), r.paint(strings.Repeat("^", mark)))
	}
}

// window is what is shown of a long line: what is marked, and some of what is before.
func window(line string, from, to int) (string, int, int) {
	const most, before = 600, 100
	if len(line) <= most {
		return line, from, to
	}
	rest := ""
	start := max(0, from-before)
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	end := start + Runes(line[start:], most)
	if end < len(line) {
		rest = "…"
	}
	return line[start:end] + rest, min(from, end) - start, min(to, end) - start
}

// printable makes a line safe for a terminal, with a blank for a tab.
func printable(line string) string { return escape.Line(strings.ReplaceAll(line, "	", " ")) }

// Invalid is the error of a pipeline that cannot be loaded.
type Invalid struct{ Diagnostics Diagnostics }

// Err is the errors as one error whose text is the report; nil: there are none.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return &Invalid{ds}
}

func (e *Invalid) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the pipeline has %s:\n\n", e.Diagnostics.Summary())
	e.Diagnostics.Write(&b, Style{}) // a strings.Builder does not fail
	return strings.TrimRight(b.String(), "\n")
}

// Shown is how many characters a diagnostic quotes of a text that has more than Long, such as a file's.
const (
	Shown = 80
	Long  = 2 * Shown
)

// brief cuts the long texts that a message quotes, each once.
func brief(message string) string {
	const cut = "… ("
	if len(message) <= Long {
		return message
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(message, '"')
		if at < 0 {
			return b.String() + message
		}
		quoted, err := strconv.QuotedPrefix(message[at:])
		if err != nil {
			quoted = `"`
		}
		b.WriteString(message[:at])
		message = message[at+len(quoted):]
		if text, err := strconv.Unquote(quoted); err == nil && len(text) > Long && !strings.HasPrefix(message, cut) {
			quoted = fmt.Sprintf("%q%s%d bytes)", text[:Runes(text, Shown)], cut, len(text))
		}
		b.WriteString(quoted)
	}
}

// Runes counts the bytes of the first n characters of a text.
func Runes(text string, n int) int {
	for i := range text {
		if n--; n < 0 {
			return i
		}
	}
	return len(text)
}

// Nearest is the candidate that a mistyped name most likely meant, the first of equals; "": none is close.
func Nearest(name string, candidates []string) string {
	best, dist := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(c), nil); d < dist && d < len(c) {
			best, dist = c, d
		}
	}
	return best
}

// Suggest says which of the candidates was meant, or else lists them.
func Suggest(name string, candidates []string, noun string) string {
	if n := Nearest(name, candidates); n != "" {
		return fmt.Sprintf("Did you mean %q?", n)
	}
	const most = 12
	switch {
	case len(candidates) == 0:
		return fmt.Sprintf("There are no %ss here.", noun)
	case len(candidates) > most:
		return fmt.Sprintf("There are %d %ss, such as %s.", len(candidates), noun, strings.Join(candidates[:most], ", "))
	}
	return fmt.Sprintf("The %ss are %s.", noun, strings.Join(candidates, ", "))
}
