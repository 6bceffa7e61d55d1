// Command structure compares the layout of produced LaTeX tables with that of a
// paper's tables, label by label: columns, header groups, rows, rules, sections,
// and which cells are bold. Numbers are not compared; tables do that themselves.
//
//	go run ./tools/structure paper.tex results/latex
//
// The second argument is a folder of `redsi report --latex`. Bold cells follow the
// numbers, so that they differ where a run has another scale: they are reported,
// and count for the exit code with -bold only. It exits with 1 if a layout
// differs, and with 2 if something cannot be read.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/tools/latex"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("structure", flag.ContinueOnError)
	f.SetOutput(errs)
	bold := f.Bool("bold", false, "bold cells that differ are differences, too")
	if f.Parse(args) != nil || f.NArg() != 2 {
		fmt.Fprintln(errs, "usage: structure [-bold] PAPER.tex FOLDER")
		return 2
	}
	paper, err := readPaper(f.Arg(0))
	if err != nil {
		fmt.Fprintln(errs, err)
		return 2
	}
	ours, err := readFolder(f.Arg(1))
	if err != nil {
		fmt.Fprintln(errs, err)
		return 2
	}
	missing, different := 0, 0
	for _, p := range paper {
		i := slices.IndexFunc(ours, func(t latex.Table) bool { return t.Label == p.Label })
		if i < 0 {
			missing++
			fmt.Fprintf(out, "NONE  %-36s %s\n", p.Label, p.Summary())
			continue
		}
		layout, emphasis := Compare(p, ours[i])
		state := "OK   "
		if len(layout) > 0 || *bold && len(emphasis) > 0 {
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
			fmt.Fprintf(out, "OURS  %-36s not a table of the paper: %s\n", name(t), t.Summary())
		}
	}
	fmt.Fprintf(out, "%d tables of the paper: %d laid out alike, %d differ, %d not there\n", len(paper), len(paper)-different-missing, different, missing)
	if different+missing > 0 {
		return 1
	}
	return 0
}

// readPaper reads the tables of a paper that has labels, in its order.
func readPaper(path string) ([]latex.Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ts, err := latex.Tables(latex.Expand(string(b)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	ts = slices.DeleteFunc(ts, func(t latex.Table) bool { return t.Label == "" })
	if len(ts) == 0 {
		return nil, fmt.Errorf("%s has no table with a label", path)
	}
	return ts, nil
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

func name(t latex.Table) string {
	if t.Label != "" {
		return t.Label
	}
	return t.File
}
