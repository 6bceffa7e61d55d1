package view

import (
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// Paper prints the findings of a check of a paper, errors first. The numbers of a hand-typed table share a line, unless each is set.
func Paper(w io.Writer, r *prose.Result, each bool) {
	for _, m := range r.Missing {
		Printf(w, "%s  reads %s, which does not exist\n", m.Place, m.Name)
	}
	for _, u := range r.Waiting {
		Printf(w, "%s  \\redsi{%s} has no result yet\n", u.Place, u.Name)
	}
	for _, u := range r.Unknown {
		Printf(w, "%s  no cell %s", u.Place, u.Name)
		printIf(w, u.Near != "", "; did you mean \\redsi{%s}?", u.Near)
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
	for _, f := range either(each, r.Typed, r.Sentences()) {
		Printf(w, "%s  %s  %s  %s\n", f.Place, f.Text, f.Candidates[0].Write, f.Candidates[0].Words)
	}
	for _, t := range r.Tables {
		Printf(w, "%s  %s is typed by hand: %d of %s are its cells; redsi report --latex writes %s\n", t.Place, t.Address, t.Cells, Count(t.Numbers, "number"), t.File)
	}
	absent := lists.Map(r.Absent, func(t prose.Absent) string { return t.Address })
	printIf(w, len(absent) > 0, "not in the paper: %s\n", strings.Join(absent, ", "))
	Printf(w, "%s, %s; %s of \\redsi, %d of them unknown, %d changed; of %s typed by hand %d are a cell's, %d no longer, %d say too little\n",
		Count(len(r.Files), "file"), Count(r.Cells, "cell"), Count(r.Uses, "use"), len(r.Unknown), len(r.Changed), Count(r.Numbers, "number"), len(r.Typed), len(r.Stale), r.Vague)
	printIf(w, r.Pictures > 0, "%s, %d of them missing, %d older than their figures\n",
		Count(r.Pictures, "picture"), len(r.NoPicture), len(r.OldPicture))
}

// Expectations prints unmet expectations (with all: every expectation), their count, and what keeps this from being a reproduction.
// Without expectations it prints only the last.
func Expectations(w io.Writer, j *expect.Judged, all bool) {
	s := j.Summary()
	defer printIf(w, s.Apart != "", "%s\n", s.Apart)
	if !s.Any() {
		return
	}
	var told []func()
	for _, it := range j.Items {
		for _, c := range it.Checks {
			if all || c.Verdict == render.Differs || c.Verdict == render.IsNear {
				told = append(told, func() {
					Printf(w, "%s  %s  %s: %s%s\n", c.Pos, it.Address, c.Verdict, c.Said(), c.Severity.Lesser("  "))
				})
			}
		}
	}
	for _, c := range j.Claims {
		if !all && c.Verdict != render.Broken && c.Verdict != render.IsNear {
			continue
		}
		told = append(told, func() {
			Printf(w, "%s  claim %s  %s: “%s”%s\n", c.Pos, c.Name, c.Verdict, c.Text, c.Severity.Lesser("  "))
			printIf(w, c.Why != "", "    %s\n", c.Why)
			for _, k := range either(all, c.Checks, c.Unmet()) {
				Printf(w, "    %s: %s\n", k.Verdict, k.Said())
			}
		})
	}
	for _, tell := range words.First(told, bound(unmetShown, all), func(n int) { Printf(w, "and %d more\n", n) }) {
		tell()
	}
	Printf(w, "%s\n", s.Sentence())
}

func Reported(w io.Writer, r *report.Report, file string, written []string) {
	Printf(w, "%s  %s, %d of %d steps have results\n", file, Items(len(r.Judged.Items)), r.Summary.Hit, len(r.Nodes))
	printIf(w, r.Rebuilt.Steps > 0, "%d of %s %s\n", r.Rebuilt.Steps, Count(len(r.Nodes), "step"), r.Rebuilt.String())
	PrintEach(w, "%s\n", written)
	if bare := r.WithoutLaTeX(); len(written) > 0 && len(bare) > 0 {
		Printf(w, "LaTeX needs PDF or PNG of up to 16 MiB, which %s: %s. Let the step write one too: image = [svg, pdf]\n", words.Of(len(bare), "this figure has not", "these figures have not"), strings.Join(bare, ", "))
	}
	Expectations(w, r.Judged, false)
}
