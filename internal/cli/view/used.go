package view

import (
	"bufio"
	"io"

	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/system/words"
)

// Outputs lists outputs, a line each, and who rebuilt their steps.
func Outputs(w io.Writer, list []files.Output) {
	out := bufio.NewWriter(w)
	for _, o := range list {
		tree, accepted := "", ""
		if o.Count > 0 {
			tree = ", " + Count(o.Count, "file")
		}
		if o.Accepted != "" {
			accepted = "  " + o.Accepted
		}
		Printf(out, "%s.%s  %s  %s%s  %s%s\n", o.Address, o.Output, o.Type, Size(o.Size), tree, o.Digest, accepted)
		if o.Last && o.Rebuilt != nil {
			Rebuilt(out, "       ", o.Rebuilt)
		}
	}
	out.Flush()
}

// Used prints what steps used of their machines, and the sum.
func Used(w io.Writer, list []files.Used, sum usage.Sum) {
	out := bufio.NewWriter(w)
	for _, l := range list {
		Printf(out, "%s  took %s\n", l.Address, words.Took(l.TookS))
		rows(out, usage.Rows(l.Used), "not measured")
	}
	Printf(out, "%s with results together\n", Count(sum.Steps, "step"))
	rows(out, sum.Rows(), "")
	out.Flush()
}

// rows prints what was used, a figure per line; without figures it prints none, unless "".
func rows(w io.Writer, rows []usage.Row, none string) {
	if len(rows) == 0 && none != "" {
		Printf(w, "  %s\n", none)
	}
	for _, r := range rows {
		Printf(w, "  %s: %s\n", r.What, r.Value)
	}
}
