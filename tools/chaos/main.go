//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/internal/system/lists"
)

type options struct {
	redsi, out            string
	seed                  uint64
	rounds, parallel, one int
}

func main() {
	var o options
	flag.StringVar(&o.redsi, "redsi", "bin/redsi", "the program")
	flag.StringVar(&o.out, "out", "", "result file, a line of JSON for each round; rounds that are in it are not done again")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of everything that is drawn")
	flag.IntVar(&o.rounds, "rounds", 100, "how many rounds")
	flag.IntVar(&o.one, "round", -1, "only the round of this number, to repeat it")
	flag.IntVar(&o.parallel, "parallel", 2, "rounds at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func (o *options) do(ctx context.Context) error {
	log, err := readLog(o.out)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "redsi-chaos-")
	if err != nil {
		return err
	}
	defer os.Remove(work) // only if nothing is kept
	h, err := newHarness(o.redsi, work)
	if err != nil {
		return err
	}
	if !h.mounts {
		fmt.Println("no disk can be mounted here: disk faults are left out")
	}
	todo := []int{o.one}
	if o.one < 0 {
		todo = slices.DeleteFunc(lists.Places(o.rounds), func(n int) bool { return log.has(o.seed, n, h.revision) })
	}
	fmt.Printf("%s; seed %d, %d rounds to do, %d at a time, in %s\n", h.revision, o.seed, len(todo), o.parallel, work)
	before := len(log.all)
	g, going := errgroup.WithContext(ctx) // a failure begins no further rounds, and disturbs none
	g.SetLimit(o.parallel)
	for _, n := range todo {
		g.Go(func() error {
			if going.Err() != nil {
				return nil
			}
			res, err := h.round(ctx, o.seed, n, nil)
			if err != nil {
				return err
			}
			return log.add(res)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	log.table()
	bad := 0
	for _, r := range log.all[before:] {
		bad += min(len(r.Violations), 1)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d rounds broke a promise", bad, len(log.all)-before)
	}
	return nil
}
