package prose

import (
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/markdown"
)

// TypedTable is a table or figure of the pipeline that is typed by hand in a paper.
type TypedTable struct {
	Place   Place  `json:"place"` // of the first number
	Address string `json:"address"`
	File    string `json:"file"`    // that redsi report --latex writes
	Cells   int    `json:"cells"`   // numbers that are its cells
	Numbers int    `json:"numbers"` // of these
}

// Sentences lists the numbers that match a cell and are not in a table of it.
func (r *Result) Sentences() (out []Finding) {
	for _, f := range r.Typed {
		if f.Scope != InFloat {
			out = append(out, f)
		}
	}
	return out
}

// texFile is the file that has a table or figure, in the folder of redsi report --latex.
func texFile(address string) string {
	folder := "tables/"
	if strings.HasPrefix(address, "figure.") {
		folder = "figures/"
	}
	return folder + FileName(address) + ".tex"
}

// mostLines bounds a list in Markdown, for a comment on a pull request.
const mostLines = 100

// Markdown writes what was found for a pull request.
func (r *Result) Markdown(w io.Writer) error {
	var b strings.Builder
	verdict := "The paper agrees with the results"
	if r.Failed() {
		verdict = fmt.Sprintf("Numbers that are no longer what a cell prints: %d; unknown cells: %d", len(r.Stale), len(r.Unknown))
	}
	if n := len(r.NoPicture) + len(r.OldPicture); n > 0 {
		verdict += fmt.Sprintf("; pictures that are missing or old: %d", n)
	}
	fmt.Fprintf(&b, "### Numbers in the paper\n\n%s. Cells: %d; `\\redsi`: %d; typed numbers: %d, of which %d are a cell's and %d say too little.\n", verdict, r.Cells, r.Uses, r.Numbers, len(r.Typed), r.Vague)
	tables, rest := r.Tables, r.Sentences()
	list := func(title string, n int, line func(i int) string) {
		if n == 0 {
			return
		}
		fmt.Fprintf(&b, "\n#### %s\n\n", title)
		for i := range min(n, mostLines) {
			fmt.Fprintf(&b, "- %s\n", line(i))
		}
		if n > mostLines {
			fmt.Fprintf(&b, "- and %d more\n", n-mostLines)
		}
	}
	list("Unknown cells", len(r.Unknown), func(i int) string {
		u := r.Unknown[i]
		if u.Near == "" {
			return fmt.Sprintf("%s: %s", code(u.Place.String()), code(u.Name))
		}
		return fmt.Sprintf("%s: %s; did you mean %s?", code(u.Place.String()), code(u.Name), code(u.Near))
	})
	list("Pictures that are not there", len(r.NoPicture), func(i int) string {
		return fmt.Sprintf("%s: %s", code(r.NoPicture[i].Place.String()), code(r.NoPicture[i].Name))
	})
	list("Pictures that are older than their figures", len(r.OldPicture), func(i int) string {
		return fmt.Sprintf("%s: %s, %s", code(r.OldPicture[i].Place.String()), code(r.OldPicture[i].Name), code(r.OldPicture[i].Of))
	})
	list("Numbers that have changed", len(r.Stale), func(i int) string {
		f := r.Stale[i]
		return fmt.Sprintf("%s: %s is now %s, %s", code(f.Place.String()), code(f.Text), code(f.Now), code(f.Candidates[0].Cell))
	})
	list("Sentences to read again", len(r.Changed), func(i int) string {
		u := r.Changed[i]
		return fmt.Sprintf("%s: %s prints %s, and printed %s", code(u.Place.String()), code(u.Name), code(u.Now), code(u.Was))
	})
	list("Typed by hand", len(rest), func(i int) string {
		f := rest[i]
		return fmt.Sprintf("%s: %s, write %s", code(f.Place.String()), code(f.Text), code(f.Candidates[0].Write))
	})
	list("Tables typed by hand", len(tables), func(i int) string {
		t := tables[i]
		return fmt.Sprintf("%s: %s, %d of %d numbers are its cells; write `\\input` of %s", code(t.Place.String()), code(t.Address), t.Cells, t.Numbers, code(t.File))
	})
	list("Not run", len(r.NotRun), func(i int) string { return code(r.NotRun[i]) })
	list("Not in the paper", len(r.Absent), func(i int) string { return code(r.Absent[i].Address) })
	list("Files that are not there", len(r.Missing), func(i int) string {
		return fmt.Sprintf("%s: %s", code(r.Missing[i].Place.String()), code(r.Missing[i].Name))
	})
	_, err := io.WriteString(w, b.String())
	return err
}

// code is a text as code in one line.
func code(s string) string { return markdown.Code(oneLine(s)) }
