package latex

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/paper/prose"
)

// Table is the layout of a LaTeX table.
type Table struct {
	Label   string
	Columns int
	Groups  []Group // headers over several columns, in reading order
	Header  []string
	Rows    []Row // data rows, below the header; rows that are headings over all columns are left out
}

// Group is a header over neighbouring columns.
type Group struct {
	Title       string
	First, Last int // columns from 1
}

// Row is a data row.
type Row []Cell

// Cell is a cell of a data row.
type Cell struct {
	Text        string // LaTeX, without what makes it span columns or rows
	First, Last int    // columns from 1
}

var (
	floats  = regexp.MustCompile(`(?s)\\begin\{table\*?\}(.*?)\\end\{table\*?\}`)
	tabular = regexp.MustCompile(`(?s)\\begin\{(tabular[*x]?)\}(.*?)\\end\{tabular[*x]?\}`)
	label   = regexp.MustCompile(`\\label\{([^}]*)\}`)
)

// Tables reads the tables of a source without comments.
func Tables(src string) ([]Table, error) {
	var out []Table
	for _, f := range floats.FindAllStringSubmatch(src, -1) {
		var t Table
		if m := label.FindStringSubmatch(f[1]); m != nil {
			t.Label = m[1]
		}
		body := tabular.FindStringSubmatch(f[1])
		if body == nil {
			return nil, fmt.Errorf("table %s has no tabular", t.Label)
		}
		rest := body[2]
		if body[1] != "tabular" {
			_, rest = Argument(rest) // its width
		}
		if strings.HasPrefix(rest, "[") {
			rest = rest[strings.IndexByte(rest, ']')+1:]
		}
		spec, rest := Argument(rest)
		t.Columns = columns(spec)
		if err := t.read(rest); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Label, err)
		}
		out = append(out, t)
	}
	return out, nil
}

// Argument cuts off the group in braces with which a text begins; a group without end is all of the text.
func Argument(s string) (inner, rest string) {
	s = strings.TrimLeft(s, " \n\t")
	if !strings.HasPrefix(s, "{") {
		return "", s
	}
	inner, rest, ok := prose.Group(s)
	if !ok {
		return s[1:], ""
	}
	return inner, rest
}

func columns(spec string) (n int) {
	for len(spec) > 0 {
		c := spec[0]
		spec = spec[1:]
		switch {
		case c == '@' || c == '>' || c == '<' || c == '!':
			_, spec = Argument(spec)
		case c == '*':
			var times, what string
			times, spec = Argument(spec)
			what, spec = Argument(spec)
			k, err := strconv.Atoi(times)
			if err == nil {
				n += k * columns(what)
			}
		case c == 'p' || c == 'm' || c == 'b' || c == 'w':
			_, spec = Argument(spec)
			n++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n++
		}
	}
	return n
}

var (
	lineMarks = regexp.MustCompile(`\\(toprule|bottomrule|addlinespace(\[[^]]*\])?|cmidrule(\([^)]*\))?\{[^}]*\})`)
	bold      = regexp.MustCompile(`\\(textbf|mathbf|bfseries|boldsymbol)\b`)
	spans     = regexp.MustCompile(`^\s*\\multicolumn\s*\{(\d+)\}`)
	rowEnd    = regexp.MustCompile(`\\\\\*?(\[[^]]*\])?`) // with a space behind it
	multirow  = regexp.MustCompile(`\\multirow\s*(\[[^]]*\])?\{[^}]*\}\s*(\[[^]]*\])?\{[^}]*\}`)
)

// read reads the rows of a tabular; rows above the first \midrule are its header.
func (t *Table) read(body string) error {
	header := strings.Contains(body, `\midrule`)
	for _, line := range rowEnd.Split(lineMarks.ReplaceAllString(body, ""), -1) {
		data := strings.ReplaceAll(line, `\midrule`, "")
		header = header && data == line
		if strings.TrimSpace(data) == "" {
			continue
		}
		if err := t.add(data, header); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) add(line string, header bool) error {
	var row Row
	at, heading := 1, false
	for _, cell := range cells(line) {
		n, text := 1, cell
		if m := spans.FindStringSubmatch(cell); m != nil {
			n, _ = strconv.Atoi(m[1])
			_, rest := Argument(cell[len(m[0]):])
			text, _ = Argument(rest)
		}
		title := Plain(text)
		if title == "" && strings.Contains(text, "$") {
			title = strings.TrimSpace(text) // commands only: $\card{\docs}$
		}
		if !header {
			row = append(row, Cell{multirow.ReplaceAllString(text, ""), at, at + n - 1})
		}
		if title != "" {
			switch {
			case header && n > 1:
				t.Groups = append(t.Groups, Group{title, at, at + n - 1})
			case header:
				t.Header = append(t.Header, title)
			case n == t.Columns:
				heading = true
			}
		}
		at += n
	}
	if at-1 > t.Columns {
		return fmt.Errorf("a row has %d columns of %d: %.60q", at-1, t.Columns, line)
	}
	if !header && !heading {
		t.Rows = append(t.Rows, row)
	}
	return nil
}

// cells splits a row at its & outside of braces.
func cells(s string) (out []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		case '&':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

var command = regexp.MustCompile(`\\[a-zA-Z]+\*?|[{}$~\\]`)

// Bold reports whether some of a cell is bold.
func Bold(s string) bool { return bold.MatchString(s) }

// Plain returns a cell's text without commands.
func Plain(s string) string {
	s = multirow.ReplaceAllString(s, "")
	for _, dash := range []string{`\textendash`, `\textemdash`} {
		s = strings.ReplaceAll(s, dash, "–")
	}
	return strings.Join(strings.Fields(command.ReplaceAllString(s, " ")), " ")
}
