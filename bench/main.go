package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/lists"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == pieceArg {
		exit(runPiece(os.Args[2], os.Args[3:]))
	}
	only := flag.String("only", "", "`names` of lines, separated by commas; all by default")
	quick := flag.Bool("quick", false, "a small corpus, one pair, no warm-up, no row kept: to try the program, not to quote")
	cores := flag.Int("threads", 2, "of each side")
	costs := flag.Bool("costs", false, "measure each stage on its own, and project the full data from it")
	card := flag.String("card", "cuda:0", "`device` that lines cuda/… are measured on; cpu to try them with -quick")
	peerTime := flag.Duration("peer-time", time.Minute, "how long a peer is measured whose complete work would take too long: cuda/beam and the like")
	list := flag.Bool("list", false, "list the lines")
	docs := flag.Bool("docs", false, "measure nothing: write the table of bench/rows.jsonl into docs/performance.md")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *docs {
		exit(writeTable(ctx))
	}
	lines, err := choose(allLines(), *only)
	if err != nil {
		exit(err)
	}
	if *list && *only == "" {
		lines = allLines()
	}
	if *list {
		for _, l := range lines {
			target := ""
			if l.target > 0 {
				target = fmt.Sprintf(" (target %g)", l.target)
			}
			fmt.Printf("%-40s %s%s\n", l.name, l.doc, target)
		}
		return
	}
	e, err := newEnv(ctx, *quick, *cores)
	if err != nil {
		exit(err)
	}
	e.card, e.peerTime = *card, *peerTime
	for _, l := range lines {
		if l.needs == nil {
			continue
		}
		if err := l.needs(e); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", l.name, err)
			os.Exit(2)
		}
	}
	if *costs {
		exit(reportCosts(e))
	}
	exit(measureAll(e, lines))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// choose returns the named lines in the order of the list; without names, the lines that need not be asked for.
func choose(lines []line, only string) ([]line, error) {
	if only == "" {
		return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.asked }), nil
	}
	names := strings.Split(only, ",")
	for _, name := range names {
		if !slices.ContainsFunc(lines, func(l line) bool { return means(name, l.name) }) {
			return nil, fmt.Errorf("there is no line %q; -list names them", name)
		}
	}
	return lists.Filter(lines, func(l line) bool {
		return slices.ContainsFunc(names, func(name string) bool { return means(name, l.name) })
	}), nil
}

// means reports whether a name that was given is a line's, or the beginning of it: cuda/... are all of cuda.
func means(given, name string) bool {
	group, all := strings.CutSuffix(given, "...")
	return given == name || all && strings.HasPrefix(name, group)
}

func allLines() []line {
	return slices.Concat(dagLines, bytesLines, nqLines, stubLines, htmlLines, memoryLines, kmeansLines, bm25Lines, scoreLines, modelLines, ctranslateLines, serveLines, cardLines)
}
