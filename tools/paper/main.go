// Command paper compares what a pipeline expects with the paper's source: every
// number and text of its tables, of its drawn figures and of the sentences that a table
// stands for, and the sentence of every claim.
//
//	go run ./tools/paper paper.tex
//
// A table whose label is its name (tab:dedup-counts is table.dedup_counts) is
// compared cell by cell, with its headers, titles and bold cells; so a number
// that is missing in the pipeline is found, too. It exits with 1 if something differs, and
// with 2 if something cannot be read.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("paper", flag.ContinueOnError)
	f.SetOutput(errs)
	file := f.String("f", "pipelines.hcl", "pipeline")
	if f.Parse(args) != nil || f.NArg() != 1 {
		fmt.Fprintln(errs, "usage: paper [-f pipelines.hcl] PAPER.tex")
		return 2
	}
	different, err := compare(f.Arg(0), *file, out)
	switch {
	case err != nil:
		fmt.Fprintln(errs, err)
		return 2
	case different > 0:
		return 1
	}
	return 0
}

// compare prints how a paper differs from what the pipeline expects, and returns in how many places.
func compare(paper, file string, out io.Writer) (different int, err error) {
	src, err := readPaper(paper)
	if err != nil {
		return 0, err
	}
	blocks, claims, addresses, err := load(file)
	if err != nil {
		return 0, err
	}
	list, err := readSentences(filepath.Join(filepath.Dir(file), sentencesFile))
	if err != nil {
		return 0, err
	}
	var all result
	for _, r := range append(src.compare(blocks), src.compareSentences(list, claims, addresses)) {
		state := "OK  "
		if len(r.problems) > 0 {
			state = "DIFF"
			different++
		}
		all.numbers, all.texts, all.claims = all.numbers+r.numbers, all.texts+r.texts, all.claims+r.claims
		fmt.Fprintf(out, "%s  %-42s %d numbers, %d texts, %d claims%s\n", state, r.name, r.numbers, r.texts, r.claims, r.note)
		for _, p := range r.problems {
			fmt.Fprintf(out, "        %s\n", p)
		}
	}
	fmt.Fprintf(out, "%d numbers and %d texts of the paper are expected as it prints them, and %d of its claims as it says them; %d blocks differ\n", all.numbers, all.texts, all.claims, different)
	return different, nil
}
