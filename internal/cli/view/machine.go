package view

import (
	"bufio"
	"io"
	"time"

	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/session/doctor"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/system/words"
)

func Environments(w io.Writer, list []realize.Found) {
	printIf(w, len(list) == 0, "no environments on this machine\n")
	for _, f := range list {
		if !f.Complete {
			Printf(w, "%s  incomplete, or being built  %s\n", f.ID[:idShown], f.Dir)
			continue
		}
		python := ""
		if f.Python != "" {
			python = ", Python " + f.Python
		}
		Printf(w, "%s  %s  %s of %s%s  %s  used %s ago  %s\n", f.ID[:idShown], f.Name, Count(len(f.List), "package"), f.Lock, python, Size(f.Bytes), Seconds(time.Since(f.Used)), f.Dir)
	}
}

func RemovedEnvironments(w io.Writer, list []realize.Found) {
	var bytes int64
	for _, f := range list {
		bytes += f.Bytes
	}
	Printf(w, "removed %s, %s\n", Count(len(list), "environment"), Size(bytes))
}

func Findings(w io.Writer, st Style, found []doctor.Finding) {
	for _, f := range found {
		word := f.Level
		if word == doctor.Fail {
			word = "FAIL"
		}
		Printf(w, "%s %-16s %s\n", st.Outcome(levelColour[f.Level], word), f.What, f.Note)
		printIf(w, f.Do != "", "%-5s %-16s -> %s\n", "", "", f.Do)
	}
}

// levelColour maps a level to the outcome whose colour it has.
var levelColour = map[string]string{doctor.OK: "hit", doctor.Warn: "maybe", doctor.Fail: "failed"}

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
	printIf(w, len(rows) == 0 && none != "", "  %s\n", none)
	for _, r := range rows {
		Printf(w, "  %s: %s\n", r.What, r.Value)
	}
}
