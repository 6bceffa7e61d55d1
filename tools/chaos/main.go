//go:build linux

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

type options struct {
	redsi, work, out, only string
	seed                   uint64
	rounds, parallel, one  int
	keep, list, tables     bool
	minutes                float64
}

func main() {
	var o options
	flag.StringVar(&o.redsi, "redsi", "bin/redsi", "the program")
	flag.StringVar(&o.work, "work", "", "folder for the rounds' folders; default: a temporary one")
	flag.StringVar(&o.out, "out", "", "result file, a line of JSON for each round; rounds that are in it are not done again")
	flag.StringVar(&o.only, "only", "", "only faults whose name this regular expression matches")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of everything that is drawn")
	flag.IntVar(&o.rounds, "rounds", 100, "how many rounds")
	flag.IntVar(&o.one, "round", -1, "only the round of this number, to repeat it")
	flag.IntVar(&o.parallel, "parallel", 2, "rounds at a time")
	flag.Float64Var(&o.minutes, "minutes", 0, "start no round after this many minutes; 0: no bound")
	flag.BoolVar(&o.keep, "keep", false, "keep the folders of rounds that went well, too")
	flag.BoolVar(&o.list, "list", false, "list the faults and end")
	flag.BoolVar(&o.tables, "table", false, "print the table of the result file and end")
	flag.Parse()
	if o.list {
		for _, f := range faults {
			fmt.Println(f.name)
		}
		return
	}
	mounts, wait := ownMounts()
	if wait != nil {
		wait()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.do(ctx, mounts); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// forward gives signals to the program that does the work.
func forward(p *os.Process) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range c {
			_ = p.Signal(s)
		}
	}()
}

func (o *options) do(ctx context.Context, mounts bool) error {
	log, err := readLog(o.out)
	if err != nil {
		return err
	}
	if o.tables {
		table(os.Stdout, log.all)
		return nil
	}
	if o.work == "" {
		if o.work, err = os.MkdirTemp("", "redsi-chaos-"); err != nil {
			return err
		}
		defer os.Remove(o.work) // only if nothing is kept
	}
	h, err := newHarness(o.redsi, o.work, mounts)
	if err != nil {
		return err
	}
	h.keep = o.keep
	h.version()
	if !mounts {
		fmt.Println("no disk can be mounted here: disk faults are left out")
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	todo := o.todo(h, log, only)
	fmt.Printf("%s; seed %d, %d rounds to do, %d at a time, in %s\n", h.revision, o.seed, len(todo), o.parallel, h.work)
	before := len(log.all)
	if err := o.rush(ctx, h, log, todo); err != nil {
		return err
	}
	all := log.all
	if o.out == "" {
		all = log.all[before:]
	}
	fmt.Println()
	table(os.Stdout, all)
	bad := 0
	for _, r := range log.all[before:] {
		if len(r.Violations) > 0 {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d rounds broke a promise", bad, len(log.all)-before)
	}
	return nil
}

// todo lists the numbers of the rounds that are to be done.
func (o *options) todo(h *harness, log *logFile, only *regexp.Regexp) []int {
	if o.one >= 0 {
		return []int{o.one}
	}
	var out []int
	for n := 0; len(out) < o.rounds && n < 100*o.rounds+1000; n++ {
		if o.only == "" && n >= o.rounds {
			break
		}
		if !only.MatchString(h.faultOf(o.seed, n).name) || log.has(o.seed, n, h.revision) {
			continue
		}
		out = append(out, n)
	}
	return out
}

// rush does rounds, so many at a time.
func (o *options) rush(ctx context.Context, h *harness, log *logFile, todo []int) error {
	began := time.Now()
	g, going := errgroup.WithContext(ctx) // a failure begins no further rounds, and disturbs none
	g.SetLimit(o.parallel)
	for _, n := range todo {
		g.Go(func() error {
			if going.Err() != nil || o.minutes > 0 && time.Since(began).Minutes() > o.minutes {
				return nil
			}
			res, err := h.round(ctx, o.seed, n, nil)
			if err != nil {
				return err
			}
			return log.add(res)
		})
	}
	return g.Wait()
}

// say prints a round in one line, and its violations.
func say(r result) {
	then := ""
	if r.Then != "" {
		then = ", then " + r.Then
	}
	fmt.Printf("%4d  %5.1f s  %s%s (%s): recovered after %.1f s by %s\n", r.Round, r.WallS, r.Fault, then, r.Shape, r.RecoveredS, cmp.Or(r.By, "nobody"))
	for _, v := range r.Violations {
		fmt.Println("      VIOLATION ", strings.ReplaceAll(v, "\n", "\n        "))
	}
	for _, n := range r.Notes {
		fmt.Println("      ", n)
	}
}
