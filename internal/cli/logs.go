package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/steplog"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/step"
)

func newLogsCmd(a *app) *cobra.Command {
	var run string
	var failed, follow bool
	cmd := &cobra.Command{
		Use:   "logs [STEP]",
		Short: "Print a step's log: standard error, log lines, and how it ended",
		Long: `A step's log is the standard error of a command or the log lines of other kinds, and how the step
ended. It is stored with the result or, for a step that failed or was cancelled, with its run. Of a
long log, the first 64 KiB and the last 1 MiB are kept.

Without --run, that is the step as it is in the pipeline now: its result's log, or the log of its
last failure. With --run, it is the step in that run, and no pipeline is read. --failed selects
steps that failed: without STEP, all of the run (default: the last).

-f STEP follows a step, on this machine or on a cluster's worker: it waits until the step begins,
prints what it says within some seconds, and ends with it. It ends with exit code 1 if no run is
open any more that would begin the step. (-f FILE names a pipeline, as ever.)

The log goes to standard output, notes about it to standard error.`,
		Example: `  redsi logs 'step.train.dsi["title/nci_norm/tiny/naive/42"]'
  redsi logs -f step.command.fit
  redsi logs --failed
  redsi logs step.command.fit --run last~1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target := first(args)
			if target == "" && !failed {
				return fault.Input(errors.New("name a STEP, or give --failed for all steps that failed"))
			}
			if follow {
				if target == "" || failed || run != "" {
					return fault.Input(errors.New("--follow needs one STEP, and neither --run nor --failed"))
				}
				return a.followLog(cmd.Context(), target)
			}
			find := func() (*artifacts.Resolver, []steplog.Log, error) {
				if run == "" && target != "" {
					return steplog.OfTarget(cmd.Context(), a.Session, target, failed)
				}
				return steplog.InRun(cmd.Context(), a.Session, cmp.Or(run, "last"), target, failed)
			}
			store, logs, err := find()
			if err != nil {
				return err
			}
			return a.printLogs(cmd.Context(), store, logs)
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "the step in this `RUN`: an id, a part of one, last or last~N")
	clusterFlags(cmd, new(drive.Cluster)) // openNames reads them
	cmd.Flags().BoolVar(&follow, "follow", false, "print what the step says until it ends; -f before or after STEP is short for it")
	cmd.Flags().BoolVar(&failed, "failed", false, "only steps that failed")
	return with(cmd, a.pipelineFlags, a.fromFlags)
}

// overwritten is what a line loses to its last carriage return: the states of a progress bar.
var overwritten = regexp.MustCompile(`(?m)^[^\n]*\r([^\r\n])`)

func (a *app) printLogs(ctx context.Context, store *artifacts.Resolver, logs []steplog.Log) error {
	for i := range logs {
		l := &logs[i]
		text, err := l.Read(ctx, store)
		if err != nil {
			return err
		}
		if a.JSON {
			l.Text = strings.ToValidUTF8(string(text), "\uFFFD")
			continue
		}
		if len(logs) > 1 {
			view.Printf(a.Out, "==> %s <==\n", l.Address)
		}
		view.StepLog(a.Err, a.style(a.Err), l)
		if terminal(a.Out) > 0 {
			text = overwritten.ReplaceAll(text, []byte("$1"))
		}
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

func (a *app) followLog(ctx context.Context, target string) error {
	f := steplog.Follower{Find: steplog.Target(a.Session, target), Say: a.Say,
		Open:  func(ctx context.Context) bool { return len(a.openNames(ctx, "")) > 0 },
		Print: func(text []byte) error { return view.Copy(a.Out, bytes.NewReader(text), terminal(a.Out) > 0) },
		Pause: func(ctx context.Context) error { return readers.Pause(ctx, time.Second) },
	}
	end, err := f.Follow(ctx)
	if err != nil {
		return err
	}
	if a.JSON {
		return view.WriteJSON(a.Err, end)
	}
	view.StepLog(a.Err, a.style(a.Err), end)
	return nil
}

// followShort reads the -f of `logs`, which is --file, as --follow if a step or nothing comes after it.
func followShort(args []string) []string {
	verb := slices.Index(args, "logs")
	for i := verb + 1; verb >= 0 && i < len(args); i++ {
		if args[i] == "-f" && (i+1 == len(args) || declare.Of(address.Of(args[i+1]).Type()).Outputs()) {
			args = slices.Clone(args)
			args[i] = "--follow"
		}
	}
	return args
}

func newShellCmd(a *app) *cobra.Command {
	var printed, keep bool
	cmd := &cobra.Command{
		Use:   "shell STEP",
		Short: "Open a shell in a folder with a step's inputs, as the step sees them",
		Long: `Makes the folder and starts $SHELL there. For a command it is the folder that the program sees:
files, in/, out/, tmp/, and its environment without the values of secrets; .step/run.sh runs the
program as the step does. Other kinds have their inputs under in/, by attribute. .step/config.json
is the configuration. Inputs are verified, read-only copies. What you do there changes no result.

The folder is removed when the shell ends, unless --keep is given. --print only prints the folder,
which stays, and starts no shell.`,
		Example: `  redsi shell step.command.fit
  cd "$(redsi shell step.command.fit --print)" && .step/run.sh`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, p, err := a.StepFolder(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.JSON || printed {
				said := map[string]any{"folder": dir, "config": activities.ConfigFile, "program": p}
				return a.print(said, nil, func(w io.Writer) { view.Println(w, dir) })
			}
			err = a.enter(dir, p)
			if keep {
				a.Say(dir + " stays")
				return err
			}
			return errors.Join(err, os.RemoveAll(dir))
		},
	}
	cmd.Flags().BoolVar(&printed, "print", false, "print the folder and keep it; start no shell")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the folder when the shell ends")
	return with(cmd, a.pipelineFlags, a.fromFlags)
}

func (a *app) enter(dir string, p *step.Program) error {
	shell := env("SHELL", "/bin/sh")
	cmd := exec.Command(shell)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, os.Stdin, os.Stdout, os.Stderr // the terminal itself: with a pipe, a shell does not prompt
	cmd.Env = os.Environ()
	what := "inputs under in/"
	if p != nil {
		cmd.Env = []string{"TERM=" + os.Getenv("TERM"), "SHELL=" + shell}
		for name, value := range p.Env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		what = drive.RunScript + " runs the program"
	}
	a.Say(fmt.Sprintf("%s: %s, %s is the configuration; leave with exit", dir, what, activities.ConfigFile))
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); ok { // the exit code of the shell does not matter
		return nil
	}
	if err != nil {
		return fmt.Errorf("start %s in %s: %w", shell, filepath.Base(dir), err)
	}
	return nil
}
