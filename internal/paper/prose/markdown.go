package prose

import (
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/markdown"
	"github.com/redsi/redsi/internal/system/lists"
)

// TypedTable is a table or figure of the pipeline that is typed by hand in a paper.
type TypedTable struct {
	Place   Place  `json:"place"` // of the first number
	Address string `json:"address"`
	File    string `json:"file"`    // that redsi report --latex writes
	Cells   int    `json:"cells"`   // typed numbers that are its cells
	Numbers int    `json:"numbers"` // typed numbers
}

// Sentences returns the numbers that match a cell outside of a table of it.
func (r *Result) Sentences() []Finding {
	return lists.Filter(r.Typed, func(f Finding) bool { return f.Scope != InFloat })
}

// texFile returns the file of a table or figure in the folder of redsi report --latex.
func texFile(address string) string {
	folder := "tables/"
	if strings.HasPrefix(address, "figure.") {
		folder = "figures/"
	}
	return folder + FileName(address) + ".tex"
}

const mostLines = 100 // bounds a list in Markdown, for a comment on a pull request

// Markdown writes the result for a pull request.
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
	at := func(p Place, name string) string { return code(p.String()) + ": " + code(name) }
	list(&b, "Unknown cells", r.Unknown, func(u Use) string {
		if u.Near == "" {
			return at(u.Place, u.Name)
		}
		return fmt.Sprintf("%s; did you mean %s?", at(u.Place, u.Name), code(u.Near))
	})
	list(&b, "Pictures that are not there", r.NoPicture, func(p Included) string { return at(p.Place, p.Name) })
	list(&b, "Pictures that are older than their figures", r.OldPicture, func(p Included) string { return at(p.Place, p.Name) + ", " + code(p.Of) })
	list(&b, "Numbers that have changed", r.Stale, func(f Finding) string {
		return fmt.Sprintf("%s is now %s, %s", at(f.Place, f.Text), code(f.Now), code(f.Candidates[0].Cell))
	})
	list(&b, "Sentences to read again", r.Changed, func(u Use) string {
		return fmt.Sprintf("%s prints %s, and printed %s", at(u.Place, u.Name), code(u.Now), code(u.Was))
	})
	list(&b, "Typed by hand", r.Sentences(), func(f Finding) string { return at(f.Place, f.Text) + ", write " + code(f.Candidates[0].Write) })
	list(&b, "Tables typed by hand", r.Tables, func(t TypedTable) string {
		return fmt.Sprintf("%s, %d of %d numbers are its cells; write `\\input` of %s", at(t.Place, t.Address), t.Cells, t.Numbers, code(t.File))
	})
	list(&b, "Not run", r.NotRun, code)
	list(&b, "Not in the paper", r.Absent, func(a Absent) string { return code(a.Address) })
	list(&b, "Files that are not there", r.Missing, func(m Missed) string { return at(m.Place, m.Name) })
	_, err := io.WriteString(w, b.String())
	return err
}

func list[T any](b *strings.Builder, title string, all []T, line func(T) string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n#### %s\n\n", title)
	for _, x := range all[:min(len(all), mostLines)] {
		fmt.Fprintf(b, "- %s\n", line(x))
	}
	if n := len(all) - mostLines; n > 0 {
		fmt.Fprintf(b, "- and %d more\n", n)
	}
}

func code(s string) string { return markdown.Code(oneLine(s)) }
