package render

import (
	"encoding/csv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// csvWriter writes lines of CSV, on request with quoted formulas.
type csvWriter struct {
	*csv.Writer
	quote bool
}

// text returns a cell's text, with an apostrophe before what a spreadsheet would take for a formula. Numbers are not
// texts.
func (c csvWriter) text(s string) string {
	if c.quote && s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

// texts writes a line that has no numbers.
func (c csvWriter) texts(line []string) error { return c.Write(lists.Map(line, c.text)) }
