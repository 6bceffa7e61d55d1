package view

import (
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/system/lists"
)

// Paper prints the findings of a check of a paper, errors first. The numbers of a hand-typed
// table share a line, unless each is asked for.
func Paper(w io.Writer, r *prose.Result, each bool) {
	for _, m := range r.Missing {
		Printf(w, "%s  reads %s, which does not exist\n", m.Place, m.Name)
	}
	for _, u := range r.Waiting {
		Printf(w, "%s  \\redsi{%s} has no result yet\n", u.Place, u.Name)
	}
	for _, u := range r.Unknown {
		Printf(w, "%s  no cell %s", u.Place, u.Name)
		if u.Near != "" {
			Printf(w, "; did you mean \\redsi{%s}?", u.Near)
		}
		Printf(w, "\n")
	}
	for _, p := range r.NoPicture {
		Printf(w, "%s  there is no picture %s, and no figure has it\n", p.Place, p.Name)
	}
	for _, p := range r.OldPicture {
		Printf(w, "%s  %s is not the picture that %s has now; redsi report --latex writes it\n", p.Place, p.Name, p.Of)
	}
	for _, f := range r.Stale {
		Printf(w, "%s  %s is now %s  %s  %s\n", f.Place, f.Text, f.Now, f.Candidates[0].Cell, f.Candidates[0].Words)
	}
	for _, u := range r.Changed {
		Printf(w, "%s  \\redsi{%s} prints %s now, and printed %s: does the sentence hold?\n", u.Place, u.Name, u.Now, u.Was)
	}
	typed := r.Sentences()
	if each {
		typed = r.Typed
	}
	for _, f := range typed {
		Printf(w, "%s  %s  %s  %s\n", f.Place, f.Text, f.Candidates[0].Write, f.Candidates[0].Words)
	}
	for _, t := range r.Tables {
		Printf(w, "%s  %s is typed by hand: %d of %s are its cells; redsi report --latex writes %s\n", t.Place, t.Address, t.Cells, Count(t.Numbers, "number"), t.File)
	}
	if len(r.Absent) > 0 {
		names := lists.Map(r.Absent, func(t prose.Absent) string { return t.Address })
		Printf(w, "not in the paper: %s\n", strings.Join(names, ", "))
	}
	Printf(w, "%s, %s; %s of \\redsi, %d of them unknown, %d changed; of %s typed by hand %d are a cell's, %d no longer, %d say too little\n",
		Count(len(r.Files), "file"), Count(r.Cells, "cell"), Count(r.Uses, "use"), len(r.Unknown), len(r.Changed), Count(r.Numbers, "number"), len(r.Typed), len(r.Stale), r.Vague)
	if r.Pictures > 0 {
		Printf(w, "%s, %d of them missing, %d older than their figures\n", Count(r.Pictures, "picture"), len(r.NoPicture), len(r.OldPicture))
	}
}
