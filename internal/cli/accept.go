package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/accept"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
)

func newAcceptCmd(a *app) *cobra.Command {
	var o accept.Options
	var yes, list bool
	var revoke string
	cmd := &cobra.Command{
		Use:   "accept STEP --reason TEXT | --list | --revoke STEP",
		Short: "Declare that a step's earlier result is still valid: the change does not affect it",
		Long: `What has changed since the result does not affect it: a comment in a program, or a new version of a
kind that does this step as before.

redsi shows the differences first and asks you to confirm; scripts give --yes. From then on the step is a HIT. The
acceptance records who accepted, when and why, signed if you have a key, and is shown with the result: by plan, why,
trace and in the lineages of the report. redsi does not check the claim: verify --rebuild does.

The newest result is taken; --of names another one, by its key or by a run. STEP may be a block with
for_each: all of its steps that must run are accepted for the same reason. A step that is split into
parts is accepted with its parts, which need no results.

--revoke takes an acceptance back: the result is forgotten under the new key, and the next run does the step. The
acceptance and its revocation stay on record, and so do results that other steps made from its bytes. Where the
project trusts keys, only acceptances that a trusted key signed count; those of a revoked key never do.`,
		Example: `  redsi accept step.command.fit --reason "only a comment in fit.py"
  redsi accept step.dedup.nq --reason "version 4 differs for titles only" --yes
  redsi accept step.command.fit --of last~3 --reason "as it was in March"
  redsi accept --list
  redsi accept --revoke step.command.fit`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			ways := lists.Count([]bool{len(args) == 1, list, revoke != ""}, func(given bool) bool { return given })
			switch {
			case ways != 1:
				return fault.Input(misused(cmd, errors.New("give one of STEP, --list and --revoke STEP")))
			case list:
				store, err := a.OpenStore(ctx)
				if err != nil {
					return err
				}
				all, err := artifacts.Acceptances(ctx, store.Own)
				return a.print(all, err, func(w io.Writer) { view.Acceptances(w, all) })
			case revoke != "":
				return a.revokeAccepted(ctx, revoke, o.By)
			case strings.TrimSpace(o.Reason) == "":
				return fault.Input(errors.New("--reason is required: say why the change does not affect the result; it is shown with the result"))
			}
			o.Confirm = func(todo []accept.Step) error { return a.mayAccept(ctx, todo, yes) }
			done, left, err := accept.Results(ctx, a.Session, args[0], o)
			return a.print(map[string]any{"accepted": done, "left": left}, err, func(w io.Writer) {
				view.PrintEach(w, "left: %s\n", left)
				view.Printf(w, "%s accepted; `%s` takes it back.\n", view.Count(len(done), "result"), a.hint("accept", "--revoke", args[0]))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Reason, "reason", "", "why the change does not affect the result")
	f.StringVar(&o.Of, "of", "", "the result to accept: its `KEY`, or a run that had it; default: the newest")
	f.StringVar(&o.By, "by", "", "who accepts or revokes it; default: the name of your key")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&list, "list", false, "list what was accepted in this store, revoked or not")
	f.StringVar(&revoke, "revoke", "", "revoke the acceptance of this `STEP`")
	return with(cmd, a.pipelineFlags, a.fromFlags)
}

func (a *app) mayAccept(ctx context.Context, todo []accept.Step, yes bool) error {
	var b strings.Builder
	for _, x := range todo {
		fmt.Fprintf(&b, "%s: result %s for key %s\n", x.Address, x.Of.Short(), x.Key.Short())
		for _, c := range x.Changes {
			fmt.Fprintf(&b, "       %s\n", c)
		}
	}
	if yes {
		if !a.JSON {
			view.Printf(a.Out, "%s", view.Document(b.String()))
		}
		return nil
	}
	sure, asked := ask(ctx, b.String()+"Is it right that none of this changes the result?")
	switch {
	case !asked:
		view.Printf(a.Err, "%s", view.Document(b.String()))
		return fault.Input(errors.New("cannot ask for confirmation without a terminal: give --yes"))
	case !sure:
		return fault.Failed(errors.New("nothing was accepted: a run does the step anew"))
	}
	return nil
}

func (a *app) revokeAccepted(ctx context.Context, target, by string) error {
	revoked, err := accept.Revoke(ctx, a.Session, target, by)
	if err == nil && len(revoked) == 0 {
		err = fault.Input(fmt.Errorf("no result of %s was accepted: `%s` lists what was", target, a.hint("accept", "--list")))
	}
	return a.print(map[string]any{"revoked": revoked}, err, func(w io.Writer) {
		view.PrintEach(w, "%s\n", revoked)
		view.Printf(w, "%s revoked; `%s` runs the step anew. Results made from its bytes stay.\n", view.Count(len(revoked), "acceptance"), a.hint("run", "--target", target))
	})
}

func newForceCmd(a *app) *cobra.Command {
	var downstream bool
	cmd := &cobra.Command{
		Use:   "force STEP",
		Short: "Forget a step's result, so that the next run rebuilds it",
		Long: `There are three use cases:

  run a step again              redsi force STEP: its result and those of its
                                parts are forgotten; steps that read it run
                                only if its bytes change
  run all that reads it, too    redsi force --downstream STEP
  see whether it gives the      redsi verify --rebuild STEP: runs it here and
  same                          compares; the existing result stays

Blobs stay in the store until ` + "`redsi gc`" + `.`,
		Example: `  redsi force 'step.dedup.nq["url"]' && redsi run
  redsi force --downstream step.extract.train`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			forgotten, err := a.Forget(cmd.Context(), args[0], downstream)
			command := a.ToRun(args[0])
			if downstream { // the target alone does not need them
				command = a.ToRun()
			}
			return a.print(map[string]any{"forgotten": forgotten}, err, func(w io.Writer) {
				view.PrintEach(w, "%s\n", forgotten)
				view.Printf(w, "%s forgotten; `%s` rebuilds them.\n", view.Count(len(forgotten), "result"), command)
			})
		},
	}
	cmd.Flags().BoolVar(&downstream, "downstream", false, "also forget the results of all steps that depend on it")
	return with(cmd, a.pipelineFlags, a.fromFlags)
}
