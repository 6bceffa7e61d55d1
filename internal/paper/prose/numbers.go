package prose

import (
	_ "embed" // the LaTeX package
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/paper/render"
)

// Style is redsi.sty, the LaTeX package that prints cells in prose.
//
//go:embed redsi.sty
var Style []byte

// Format is the first word of a file of numbers, after its comment sign.
const Format = "redsi-numbers/1"

// Names of the files that a paper reads.
const (
	StyleFile   = "redsi.sty"
	NumbersFile = "numbers.tex"
)

// Numbers are the cells of tables and figures as printed.
type Numbers struct {
	Scale  string // of the run; "" if it declares none
	Tables []Table
	NotRun []string // addresses of tables and figures without cells yet; not in the file

	Pictures []Picture // of figures; not in the file
}

// Table is a table or figure.
type Table struct {
	Address string // such as table.dedup_counts
	Label   string // of the paper, such as tab:dedup-counts; "" for none
	Cells   []Cell
}

// Cell is a number or text of a table or figure.
type Cell struct {
	Name string // ROW.COLUMN, or of a figure SERIES.POINT.AXIS
	render.Inline
	Words string // row and column, for people
}

// texName returns a name in \redsi{…}, with TeX's special characters escaped.
func texName(name string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `#`, `\#`, `{`, `\{`, `}`, `\}`, `^`, `\^`).Replace(printable(name))
}

// plainName returns a name from \redsi{…}, without texName's escapes.
func plainName(tex string) string {
	return strings.NewReplacer(`\\`, `\`, `\%`, `%`, `\#`, `#`, `\{`, `{`, `\}`, `}`, `\^`, `^`).Replace(tex)
}

// oneLine returns a text on one line, for a comment.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// printable replaces characters that TeX refuses with blanks.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, s)
}

// WriteTeX writes the file of numbers, a line per cell, so that a changed cell is a changed line.
func (n *Numbers) WriteTeX(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%% %s: made by redsi report --latex, read by redsi.sty and redsi check\n", Format)
	fmt.Fprintf(&b, "\\redsiscale{%s}\n", texName(n.Scale))
	for _, t := range n.Tables {
		fmt.Fprintf(&b, "\\redsitable{%s}{%s}\n", texName(t.Address), texName(t.Label))
		for _, c := range t.Cells {
			pm := ""
			if c.ShowsStd {
				pm = "std"
			}
			fmt.Fprintf(&b, "\\redsicell{%s}{%s}{%s}{%s}{%s}{%d}{%s}%% %s\n", texName(c.Name), oneLine(c.TeX), c.Value, c.Std, c.Style, c.Decimals, pm, oneLine(c.Words))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ReadTeX reads a file of numbers.
func ReadTeX(name string, text string) (*Numbers, error) {
	first, rest, _ := strings.Cut(text, "\n")
	if !IsNumbers(first) {
		return nil, fmt.Errorf("%s is not a file of numbers: its first line does not begin with %q; redsi report --latex FOLDER writes one", name, "% "+Format)
	}
	n := &Numbers{}
	for i, line := range strings.Split(rest, "\n") {
		if line == "" {
			continue
		}
		if err := n.line(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+2, err)
		}
	}
	return n, nil
}

// IsNumbers reports whether a file begins like a file of numbers.
func IsNumbers(text string) bool {
	rest, ok := strings.CutPrefix(text, "% "+Format)
	return ok && (rest == "" || strings.ContainsRune(":\r\n ", rune(rest[0])))
}

func (n *Numbers) line(line string) error {
	command, rest, _ := strings.Cut(line, "{")
	args, rest, ok := arguments("{" + rest)
	if !ok {
		return errors.New("a brace is not closed")
	}
	switch {
	case command == `\redsiscale` && len(args) == 1:
		n.Scale = plainName(args[0])
	case command == `\redsitable` && len(args) == 2:
		n.Tables = append(n.Tables, Table{Address: plainName(args[0]), Label: plainName(args[1])})
	case command == `\redsicell` && len(args) == 7 && len(n.Tables) > 0:
		c := Cell{Name: plainName(args[0]), Words: strings.TrimPrefix(rest, "% "),
			Inline: render.Inline{TeX: args[1], Value: args[2], Std: args[3], Style: args[4], ShowsStd: args[6] != ""}}
		var err error
		if c.Decimals, err = strconv.Atoi(args[5]); err != nil || c.Decimals < 0 || c.Decimals > 30 {
			return fmt.Errorf("%q is not a number of decimals", args[5])
		}
		t := &n.Tables[len(n.Tables)-1]
		t.Cells = append(t.Cells, c)
	default:
		return fmt.Errorf("%.60q is not a line of a file of numbers", line)
	}
	return nil
}

func arguments(s string) (args []string, rest string, ok bool) {
	for strings.HasPrefix(s, "{") {
		inner, after, ok := Group(s)
		if !ok {
			return args, s, false
		}
		args, s = append(args, inner), after
	}
	return args, s, true
}

// Group cuts the group in braces that a text begins with; false if it has no end.
func Group(s string) (inner, rest string, ok bool) {
	if k := (&scan{src: s}).until('}', 1, len(s)); k > 0 {
		return s[1:k], s[k+1:], true
	}
	return "", s, false
}
