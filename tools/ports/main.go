package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("ports", flag.ContinueOnError)
	f.SetOutput(errs)
	redsi := f.String("redsi", "bin/redsi", "the program")
	ports := f.String("ports", "examples/ports", "the folder of the ports")
	originals := f.String("originals", "", "folder of checkouts: OWNER/NAME")
	work := f.String("work", "", "folder to work in, which is kept; default: one that is removed")
	if f.Parse(args) != nil {
		return 2
	}
	if err := all(*redsi, *ports, *originals, *work, f.Args(), out, errs); err != nil {
		fmt.Fprintln(errs, "ports:", err)
		return 1
	}
	return 0
}

func all(redsi, ports, originals, work string, names []string, out, progress io.Writer) error {
	redsi, err := filepath.Abs(redsi)
	if err != nil {
		return err
	}
	if work == "" {
		if work, err = os.MkdirTemp("", "ports"); err != nil {
			return err
		}
		defer os.RemoveAll(work)
	}
	if work, err = filepath.Abs(work); err != nil {
		return err
	}
	if len(names) == 0 {
		found, err := filepath.Glob(filepath.Join(ports, "*", "port.json"))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("%s has no ports", ports)
		}
		for _, path := range found {
			names = append(names, filepath.Base(filepath.Dir(path)))
		}
	}
	rows := []string{"| workflow | steps | " + strings.Join(kinds, " | ") + " |", "|---|---:|" + strings.Repeat("---|", len(kinds))}
	for _, name := range names {
		p, o, err := try(redsi, filepath.Join(ports, name), originals, work, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, row(name, p, o))
	}
	fmt.Fprintln(out, strings.Join(rows, "\n"))
	return nil
}

// row is a line of the table: what ran again here / by the original.
func row(name string, p *port, o outcome) string {
	cells := []string{fmt.Sprintf("[%s](../examples/ports/%s/pipelines.hcl)", p.Title, name), fmt.Sprint(o.steps)}
	for _, kind := range kinds {
		cell := "–"
		if c, ok := p.Changes[kind]; ok {
			cell = fmt.Sprintf("%d / %d", o.reruns[kind], c.Ran)
		}
		cells = append(cells, cell)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
