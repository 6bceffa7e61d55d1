package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// runScript runs a staged program as its step does.
const runScript = step.OwnFolder + "/run.sh"

func newShellCmd(a *app) *cobra.Command {
	var printed, keep bool
	cmd := &cobra.Command{
		Use:   "shell STEP",
		Short: "Open a shell in a folder with a step's inputs, as the step sees them",
		Long: `Makes a folder with a step's inputs and starts $SHELL there. For a command it is the
folder that the program sees: files, in/, out/, tmp/, and its environment without the
values of secrets; .step/run.sh runs the program as the step does. Other kinds have their
inputs under in/, by attribute. .step/config.json is the configuration. Inputs are
verified, read-only copies. What you do there changes no result.

The folder is removed when the shell ends, unless --keep is given. --print only prints
the folder, which stays, and starts no shell.`,
		Example: `  redsi shell step.command.fit
  cd "$(redsi shell step.command.fit --print)" && .step/run.sh`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, p, err := a.stepFolder(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]any{"folder": dir, "config": activities.ConfigFile, "program": p})
			}
			if printed {
				view.Println(a.Out, dir)
				return nil
			}
			err = a.enter(dir, p)
			if keep {
				a.say(dir + " stays")
				return err
			}
			return errors.Join(err, os.RemoveAll(dir))
		},
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	cmd.Flags().BoolVar(&printed, "print", false, "print the folder and keep it; start no shell")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the folder when the shell ends")
	return cmd
}

// stepFolder makes the folder of a step.
func (a *app) stepFolder(ctx context.Context, address string) (dir string, p *step.Program, err error) {
	a.Targets = []string{address}
	v, err := a.Preview(ctx, session.Everything)
	if err != nil {
		return "", nil, err
	}
	i, err := v.Step(address)
	if err != nil {
		return "", nil, err
	}
	it := v.Items[i]
	if it.Outcome == plan.Maybe {
		var waits []string
		for _, d := range it.Waits {
			waits = append(waits, v.Plan.Steps[d].Address)
		}
		return "", nil, fmt.Errorf("%s of the inputs of %s have no results yet: %s", view.Count(len(waits), "step"), address, a.ToRun(waits...))
	}
	if dir, err = os.MkdirTemp("", "redsi-shell-*"); err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	p, err = a.Activities(v.Store, nil, workflows.Features{}).Stage(ctx, address, it.Key, it.Task, dir)
	if errors.Is(err, artifacts.ErrNotExist) {
		err = fmt.Errorf("%w: %s", err, a.hint("run", "--target", address))
	}
	if err != nil || p == nil {
		return dir, nil, err
	}
	return dir, p, artifacts.Place(dir, runScript, 0o755, strings.NewReader(scriptOf(address, dir, *p)))
}

// scriptOf is a shell script that runs a program with only the step's environment.
func scriptOf(address, dir string, p step.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# What %s runs, in its environment.\n", strings.ToValidUTF8(oneLine(address), "\uFFFD"))
	if p.Note != "" {
		fmt.Fprintf(&b, "# %s\n", p.Note)
	}
	fmt.Fprintf(&b, "cd %s || exit\nexec env -i", quoted(dir))
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		fmt.Fprintf(&b, " \\\n  %s", quoted(name+"="+p.Env[name]))
	}
	for _, name := range p.Secrets {
		fmt.Fprintf(&b, " \\\n  %s=\"${%s:?is a secret of the step; set it}\"", name, name)
	}
	b.WriteString(" \\\n ")
	for _, arg := range p.Argv {
		b.WriteString(" " + quoted(arg))
	}
	stdin := "/dev/null"
	if p.Stdin != "" {
		stdin = p.Stdin
	}
	fmt.Fprintf(&b, " < %s\n", quoted(stdin))
	return b.String()
}

func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// enter starts a shell in a folder and waits for it to end.
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
		what = runScript + " runs the program"
	}
	a.say(fmt.Sprintf("%s: %s, %s is the configuration; leave with exit", dir, what, activities.ConfigFile))
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) { // the exit code of the shell does not matter
		return nil
	}
	if err != nil {
		return fmt.Errorf("start %s in %s: %w", shell, filepath.Base(dir), err)
	}
	return nil
}
