package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/tools/latex"
)

// layouts compares the paper's tables that have labels with those of a folder, and returns
// how many differ or are not there. Bold cells follow the numbers, so that they differ where
// a run has another scale: they are printed, and count with bold only.
func (s *source) layouts(folder string, bold bool, out io.Writer) (wrong int, err error) {
	paper := slices.Clone(s.tables)
	paper = slices.DeleteFunc(paper, func(t latex.Table) bool { return t.Label == "" })
	if len(paper) == 0 {
		return 0, errors.New("the paper has no table with a label")
	}
	ours, err := readFolder(folder)
	if err != nil {
		return 0, err
	}
	missing, different := 0, 0
	for _, p := range paper {
		i := slices.IndexFunc(ours, func(t latex.Table) bool { return t.Label == p.Label })
		if i < 0 {
			missing++
			fmt.Fprintf(out, "NONE  %-36s %s\n", p.Label, p.Summary())
			continue
		}
		layout, emphasis := compareLayout(p, ours[i])
		state := "OK   "
		if len(layout) > 0 || bold && len(emphasis) > 0 {
			state = "DIFF "
			different++
		}
		fmt.Fprintf(out, "%s %-36s %s\n", state, p.Label, p.Summary())
		for _, d := range append(layout, emphasis...) {
			fmt.Fprintf(out, "        %s\n", d)
		}
	}
	for _, t := range ours {
		if !slices.ContainsFunc(paper, func(p latex.Table) bool { return t.Label == p.Label }) {
			fmt.Fprintf(out, "OURS  %-36s not a table of the paper: %s\n", cmp.Or(t.Label, t.File), t.Summary())
		}
	}
	fmt.Fprintf(out, "%d tables of the paper: %d laid out alike, %d differ, %d not there\n", len(paper), len(paper)-different-missing, different, missing)
	return different + missing, nil
}

// readFolder reads tables/*.tex of a folder.
func readFolder(dir string) ([]latex.Table, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "tables", "*.tex"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s has no tables/*.tex; redsi report --latex %s writes them", dir, dir)
	}
	if err != nil {
		return nil, err
	}
	var out []latex.Table
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		ts, err := latex.Tables(string(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		for i := range ts {
			ts[i].File = strings.TrimSuffix(filepath.Base(p), ".tex")
		}
		out = append(out, ts...)
	}
	return out, nil
}

// compareLayout lists how the layout of a table differs from the paper's, and, apart
// from it, how the bold cells do.
func compareLayout(paper, ours latex.Table) (layout, emphasis []string) {
	differ := func(what string, p, o any) {
		if fmt.Sprint(p) != fmt.Sprint(o) {
			layout = append(layout, fmt.Sprintf("%s: paper %v, here %v", what, p, o))
		}
	}
	differ("columns", paper.Columns, ours.Columns)
	differ("over both columns of the page", paper.Wide, ours.Wide)
	differ("header groups", places(paper.Groups), places(ours.Groups))
	differ("header cells", len(paper.Header), len(ours.Header))
	differ("rows", len(paper.Rows), len(ours.Rows))
	differ("headings between rows", paper.Heads, ours.Heads)
	differ("rules between rows", paper.Rules, ours.Rules)
	p, o := boldCells(paper), boldCells(ours)
	if len(p) != len(o) {
		emphasis = append(emphasis, fmt.Sprintf("bold cells: paper %d, here %d", len(p), len(o)))
	}
	for _, where := range []struct {
		what     string
		has, not []string
	}{{"bold in the paper only", p, o}, {"bold here only", o, p}} {
		var only []string
		for _, c := range where.has {
			if !slices.Contains(where.not, c) {
				only = append(only, c)
			}
		}
		if len(only) > 0 {
			emphasis = append(emphasis, where.what+": "+strings.Join(only, " "))
		}
	}
	return layout, emphasis
}

func places(groups []latex.Group) string {
	var out []string
	for _, g := range groups {
		out = append(out, fmt.Sprintf("%d-%d", g.First, g.Last))
	}
	return fmt.Sprintf("%d %v", len(out), out)
}

// boldCells names bold cells ROW:COLUMN, counted from 1.
func boldCells(t latex.Table) (out []string) {
	for i, r := range t.Rows {
		for _, c := range r.Bold {
			out = append(out, fmt.Sprintf("%d:%d", i+1, c))
		}
	}
	return out
}
