package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/tools/latex"
)

// Compare lists how the layout of a table differs from the paper's, and, apart
// from it, how the bold cells do.
func Compare(paper, ours latex.Table) (layout, emphasis []string) {
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
