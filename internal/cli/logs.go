package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// stepLog is the output of a step from when it ran.
type stepLog struct {
	Address string           `json:"address"`
	Key     artifacts.Digest `json:"key,omitzero"`
	Outcome string           `json:"outcome"`       // ran, failed, cancelled or running
	Run     string           `json:"run,omitempty"` // in which it ran
	Host    string           `json:"host,omitempty"`
	Ended   time.Time        `json:"ended,omitzero"`
	TookS   float64          `json:"took_s,omitempty"`
	Exit    string           `json:"exit_code,omitempty"` // nonzero, of a program that succeeded
	Error   string           `json:"error,omitempty"`
	Kept    bool             `json:"kept"` // there is a log, perhaps an empty one
	Note    string           `json:"note,omitempty"`
	Log     string           `json:"log"`
	Cut     int64            `json:"cut_bytes,omitempty"`

	of *artifacts.Log
}

func newLogsCmd(a *app) *cobra.Command {
	var run string
	var failed bool
	cmd := &cobra.Command{
		Use:   "logs [STEP]",
		Short: "Print a step's log: standard error, log lines, and how it ended",
		Long: `Prints a step's log: the standard error of a command or the log lines of other kinds, and
how it ended. The log is stored with the result or, for a step that failed or was cancelled,
with its run. Of a long log, the first 64 KiB and the last 1 MiB are kept.

Without --run, that is the step as it is in the pipeline now: its result's log, or that of
its last failure. With --run, it is the step in that run, and no pipeline is read. --failed
selects steps that failed: without STEP, all of the run (default: the last).

The log goes to standard output, notes about it to standard error.`,
		Example: `  redsi logs 'step.train.dsi["title/nci_norm/tiny/naive/42"]'
  redsi logs --failed
  redsi logs step.command.fit --run last~1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			target := ""
			if len(args) > 0 {
				target = args[0]
			} else if !failed {
				return fault.Input(errors.New("name a STEP, or give --failed for all steps that failed"))
			}
			var logs []stepLog
			var store artifacts.Store
			var err error
			if run == "" && target != "" {
				store, logs, err = a.logsNow(ctx, target, failed)
			} else {
				a.ReadResults(ctx)
				if store, err = a.OpenStore(ctx); err == nil {
					logs, err = a.logsOfRun(ctx, store, run, target, failed)
				}
			}
			if err != nil {
				return err
			}
			return a.printLogs(ctx, store, logs)
		},
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	cmd.Flags().StringVar(&run, "run", "", "the step in this `RUN`: an id, a part of one, last or last~N")
	cmd.Flags().BoolVar(&failed, "failed", false, "only steps that failed")
	return cmd
}

// logsNow finds the logs of steps as they are in the pipeline.
func (a *app) logsNow(ctx context.Context, target string, failed bool) (artifacts.Store, []stepLog, error) {
	a.Targets = []string{target}
	pl, _, err := a.LoadPlan(ctx)
	if err != nil {
		return artifacts.Store{}, nil, err
	}
	store, err := a.OpenStore(ctx)
	if err != nil {
		return store, nil, err
	}
	v, err := a.PreviewOf(ctx, store, pl, func(i int, _ *plan.Item) bool { return plan.Matches(target, pl.Steps[i].Address) })
	if err != nil {
		return store, nil, err
	}
	var logs []stepLog
	failures := sync.OnceValues(func() (map[string]activities.Failure, error) { return newestFailures(ctx, store, pl, target, failed) })
	for i, s := range pl.Steps {
		if !plan.Matches(target, s.Address) {
			continue
		}
		l, err := a.logNow(ctx, store, s.Address, v.Items[i], failed, failures)
		if err != nil {
			return store, nil, err
		}
		if l != nil {
			logs = append(logs, *l)
		}
	}
	if len(logs) == 0 && failed {
		return store, nil, fmt.Errorf("no failure of %s is recorded", target)
	}
	if len(logs) == 0 {
		return store, nil, fmt.Errorf("%s has not run: %s", target, a.hint("run", "--target", target))
	}
	return store, logs, nil
}

// logNow finds the log of one step; nil if it has not run.
func (a *app) logNow(ctx context.Context, store artifacts.Store, address string, it plan.Item, failed bool, failures func() (map[string]activities.Failure, error)) (*stepLog, error) {
	if it.Result != nil && !failed {
		return logOfResult(address, it.Result), nil
	}
	if it.Result == nil && !it.Key.IsZero() {
		l, err := lease.Of(ctx, store.Leases, it.Key)
		if err != nil {
			return nil, err
		}
		if l != nil {
			return &stepLog{Address: address, Key: it.Key, Outcome: string(workflows.Running), Run: l.Run,
				Note: "running: " + l.String() + "; its log is stored when it ends; until then: " + a.hint("status")}, nil
		}
	}
	of, err := failures()
	f, ok := of[address]
	if err != nil || !ok {
		return nil, err
	}
	l := logOfFailure(f)
	return &l, nil
}

// newestFailures are the last failures of a target's steps or their parts, by step.
func newestFailures(ctx context.Context, store artifacts.Store, pl *plan.Plan, target string, failed bool) (map[string]activities.Failure, error) {
	wanted := map[string]bool{}
	for _, s := range pl.Steps {
		wanted[s.Address] = plan.Matches(target, s.Address)
	}
	newest := map[string]activities.Failure{}
	err := activities.FailuresOf(ctx, store, "", func(f activities.Failure) bool {
		address := failedStep(f)
		if wanted[address] && (!failed || f.Outcome == activities.FailedStep) {
			newest[address], wanted[address] = f, false
		}
		return true
	})
	return newest, err
}

// failedStep is the step that failed, or whose part did.
func failedStep(f activities.Failure) string {
	address, _, _ := strings.Cut(f.Step, " · ")
	return address
}

// logsOfRun finds the logs of steps in a run.
func (a *app) logsOfRun(ctx context.Context, store artifacts.Store, run, target string, failed bool) ([]stepLog, error) {
	if run == "" {
		run = "last"
	}
	rec, err := a.FindRun(ctx, store, run)
	if err != nil {
		return nil, err
	}
	failures := map[string][]activities.Failure{}
	err = activities.FailuresOf(ctx, store, rec.RunID, func(f activities.Failure) bool {
		address := failedStep(f)
		failures[address] = append(failures[address], f)
		return true
	})
	if err != nil {
		return nil, err
	}
	var keys []artifacts.Digest
	steps := slices.DeleteFunc(rec.Steps, func(s workflows.RunStep) bool {
		return target != "" && !plan.Matches(target, s.Address) || failed && s.Outcome != workflows.Failed
	})
	for _, s := range steps {
		if journal.Finished(s) {
			keys = append(keys, s.Key)
		}
	}
	entries := map[artifacts.Digest]artifacts.Entry{}
	for some := range slices.Chunk(keys, journal.InspectMost) {
		found, err := artifacts.Inspect(ctx, store, some)
		if err != nil {
			return nil, err
		}
		maps.Copy(entries, found)
	}
	var logs []stepLog
	for _, s := range steps {
		switch {
		case journal.Finished(s):
			if e := entries[s.Key]; e.Result == nil {
				logs = append(logs, stepLog{Address: s.Address, Key: s.Key, Outcome: string(s.Outcome), Run: rec.RunID, Note: "its log was lost with its result: " + e.Miss()})
			} else {
				logs = append(logs, *logOfResult(s.Address, e.Result))
			}
		case len(failures[s.Address]) > 0:
			for _, f := range failures[s.Address] {
				logs = append(logs, logOfFailure(f))
			}
		default:
			l := stepLog{Address: s.Address, Key: s.Key, Outcome: string(s.Outcome), Run: rec.RunID, Error: s.Error,
				Note: "no log from that run: it did not start there, or that version of redsi kept no logs"}
			logs = append(logs, l)
		}
	}
	switch {
	case len(logs) > 0:
		return logs, nil
	case failed:
		return nil, fmt.Errorf("no such step failed in run %s", rec.RunID)
	}
	return nil, fault.Input(fmt.Errorf("run %s has no step %s", rec.RunID, target))
}

func logOfResult(address string, r *artifacts.Result) *stepLog {
	l := &stepLog{Address: address, Key: r.Key, Outcome: string(workflows.Ran), Run: r.Origin.RunID, Host: r.Env["host"],
		Ended: r.Finished, TookS: r.Took.Seconds(), Exit: r.Env[exitCode], of: r.Log}
	if l.of == nil {
		l.Note = "it has no log: the version of redsi that ran it kept none"
	}
	return l
}

func logOfFailure(f activities.Failure) stepLog {
	l := stepLog{Address: f.Step, Key: f.Key, Outcome: f.Outcome, Run: f.RunID, Host: f.Host, Ended: f.Ended, TookS: f.TookS, Error: f.Error, of: f.Log}
	if f.Attempt > 1 {
		l.Note = fmt.Sprintf("attempt %d", f.Attempt)
	}
	return l
}

// exitCode is where a result has the nonzero exit code of a program that succeeded.
const exitCode = "step: exit code"

// printLogs reads logs and prints their text to standard output, one after the other.
func (a *app) printLogs(ctx context.Context, store artifacts.Store, logs []stepLog) error {
	for i := range logs {
		l := &logs[i]
		var text []byte
		if l.of != nil {
			l.Kept, l.Cut = true, l.of.Cut
		}
		if l.of != nil && l.of.Size > 0 {
			r, err := store.Blobs.Open(ctx, l.of.Digest)
			if errors.Is(err, artifacts.ErrNotExist) {
				l.Kept, l.Note = false, "its log is no longer in the store"
			} else if err != nil {
				return err
			} else {
				text, err = io.ReadAll(r)
				if err = errors.Join(err, r.Close()); err != nil {
					return fmt.Errorf("%s: its log: %w", l.Address, err)
				}
			}
		}
		if a.JSON {
			l.Log = strings.ToValidUTF8(string(text), "\uFFFD")
			continue
		}
		if len(logs) > 1 {
			view.Printf(a.Out, "==> %s <==\n", l.Address)
		}
		a.sayLog(l)
		if err := view.Copy(a.Out, strings.NewReader(string(text)), terminal(a.Out) > 0); err != nil {
			return err
		}
		if n := len(text); n > 0 && text[n-1] != '\n' {
			view.Println(a.Out)
		}
	}
	if a.JSON {
		return view.WriteJSON(a.Out, logs)
	}
	return nil
}

// sayLog says whose log follows.
func (a *app) sayLog(l *stepLog) {
	st := a.style(a.Err)
	view.Printf(a.Err, "%s  %s", st.Bold(l.Address), l.Outcome)
	if l.TookS > 0 {
		view.Printf(a.Err, " %s", view.Seconds(seconds(l.TookS)))
	}
	if l.Host != "" {
		view.Printf(a.Err, " on %s", l.Host)
	}
	if l.Run != "" {
		view.Printf(a.Err, ", run %s", l.Run)
	}
	if !l.Ended.IsZero() {
		view.Printf(a.Err, ", ended %s", l.Ended.Local().Format(time.DateTime))
	}
	if l.Exit != "" {
		view.Printf(a.Err, ", exit code %s", l.Exit)
	}
	view.Println(a.Err)
	if l.Error != "" {
		view.Printf(a.Err, "       %s\n", view.Lines(l.Error))
	}
	if l.Kept && l.of.Size == 0 {
		view.Printf(a.Err, "       its log is empty\n")
	}
	if l.Note != "" {
		view.Printf(a.Err, "       %s\n", l.Note)
	}
	if l.Cut > 0 {
		view.Printf(a.Err, "       its first %s and last %s; %s between them were not kept\n",
			view.Size(activities.LogHead), view.Size(activities.LogTail), view.Size(l.Cut))
	}
}
