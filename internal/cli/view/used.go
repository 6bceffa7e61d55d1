package view

import (
	"io"

	"github.com/redsi/redsi/internal/host/usage"
)

// Rows prints what was used, a figure per line; without figures it prints none, unless "".
func Rows(w io.Writer, rows []usage.Row, none string) {
	if len(rows) == 0 && none != "" {
		Printf(w, "  %s\n", none)
	}
	for _, r := range rows {
		Printf(w, "  %s: %s\n", r.What, r.Value)
	}
}
