package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/step"
)

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
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]any{"folder": dir, "config": activities.ConfigFile, "program": p})
			}
			if printed {
				view.Println(a.Out, dir)
				return nil
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
