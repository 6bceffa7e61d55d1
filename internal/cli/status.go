package cli

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// Bounds of what status prints without --run.
const (
	stepsShown  = 5  // running, and as many that failed
	othersShown = 10 // steps of no open run
)

type statusOptions struct {
	cluster drive.Cluster
	run     string
	last    int
}

func newStatusCmd(a *app) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show open runs, how far their steps are, and how the last run ended",
		Long: `Show open runs, how far their steps are, and how the last run ended.

Looks at the cluster that the flags, the environment or a profile name, else at
the server that a ` + "`redsi run` or `redsi dev`" + ` with this state folder has started, if
it is running. It starts nothing. A run that does not answer within a second is shown
as such. For each run the first running and failed steps are shown; --run shows all.`,
		Example: `  redsi status
  redsi status --last 20
  redsi status --run last
  redsi status --temporal-address 127.0.0.1:7233 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.last < 0 {
				return fault.Input(errors.New("--last cannot be negative"))
			}
			r, err := a.status(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, r)
			}
			a.printStatus(r, o)
			return nil
		},
	}
	clusterFlags(cmd, &o.cluster)
	f := cmd.Flags()
	f.StringVar(&o.run, "run", "", "show only this run, open or ended, in full: its id, or the beginning of it")
	f.IntVar(&o.last, "last", 1, "show this many of the newest ended runs")
	return cmd
}

func (a *app) status(ctx context.Context, o statusOptions) (r drive.Report, err error) {
	r.Running = []drive.Run{}
	store, err := a.OpenOwn(ctx)
	if err != nil {
		return r, err
	}
	conn, err := a.Running(ctx, o.cluster, &r)
	if err != nil {
		return r, err
	}
	if conn != nil {
		defer conn.Close()
	}
	if o.run != "" {
		return r, a.StatusOfOne(ctx, store, conn, o.run, &r)
	}
	if r.Ended, err = a.EndedRuns(ctx, store, o.last); err != nil {
		return r, err
	}
	if len(r.Ended) > 0 {
		r.Last = &r.Ended[0]
	}
	if o.last < 2 { // it is Last
		r.Ended = nil
	}
	if conn != nil {
		err = a.OpenRuns(ctx, conn, &r)
	}
	return r, err
}

func (a *app) printStatus(r drive.Report, o statusOptions) {
	most := stepsShown
	if o.run != "" {
		most = math.MaxInt
	} else if r.Server == "" {
		view.Println(a.Out, "no run in progress (no server is running)")
	} else if len(r.Running) == 0 {
		view.Printf(a.Out, "no run in progress at %s\n", r.Server)
	}
	for _, x := range r.Running {
		a.printOpen(x, most)
	}
	for i, s := range r.Steps {
		if i == othersShown {
			view.Printf(a.Out, "running for no open run: %d more\n", len(r.Steps)-i)
			break
		}
		view.Printf(a.Out, "running for no open run: %s\n", s.Address)
	}
	switch {
	case len(r.Ended) > 0:
		for _, x := range r.Ended {
			a.printEnded("run", x, most)
		}
	case r.Last != nil:
		a.printEnded("last run:", *r.Last, most)
	case o.run == "" && o.last > 0:
		view.Println(a.Out, "this store has no record of a run")
	}
}

func (a *app) printOpen(x drive.Run, most int) {
	st := a.style(a.Out)
	name, is := x.RunID, drive.Tally(x.Counts)
	if name == "" {
		name = x.Workflow
	}
	if x.Error != "" {
		is = x.Error
	}
	left := ""
	if x.LeftS > 0 {
		left = ", at least " + view.Seconds(seconds(x.LeftS)) + " left"
	}
	view.Printf(a.Out, "%s  %s, for %s%s\n       %s\n", st.Bold(name), view.Lines(is), view.Seconds(time.Since(x.Started)), left, x.URL)
	for _, status := range []workflows.Status{workflows.Running, workflows.Failed} {
		shown := 0
		for _, s := range x.Steps {
			if s.Status != status || shown == most {
				continue
			}
			shown++
			note := view.Lines(s.Error)
			if s.Progress != nil {
				note = view.Lines(view.Progress(*s.Progress, 0))
			}
			view.Printf(a.Out, "%s  %s  %s\n", st.Outcome(string(s.Status), strings.ToUpper(string(s.Status))), s.Address, note)
		}
		if more := x.Counts[status] - shown; more > 0 {
			view.Printf(a.Out, "%s  and %d more%s\n", st.Outcome(string(status), strings.ToUpper(string(status))), more, a.howToSee(x.RunID))
		}
	}
}

func (a *app) printEnded(what string, x drive.Ended, most int) {
	st := a.style(a.Out)
	view.Printf(a.Out, "%s %s of %s, %s\n", what, x.RunID, x.Pipeline, drive.Tally(x.Counts))
	for i, s := range x.Failed {
		if i == most {
			view.Printf(a.Out, "%s  and %d more%s\n", st.Outcome("failed", "FAILED"), len(x.Failed)-i, a.howToSee(x.RunID))
			break
		}
		view.Printf(a.Out, "%s  %s  %s\n", st.Outcome("failed", "FAILED"), s.Address, view.Lines(s.Error))
	}
}

func (a *app) howToSee(run string) string { return ": " + a.hint("status", "--run", run) }
