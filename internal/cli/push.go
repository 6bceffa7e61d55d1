package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/transfer"
	"github.com/redsi/redsi/internal/system/fault"
)

// transferOptions say what push and pull copy, and whether they really do.
type transferOptions struct {
	only, dry bool
	run       string
}

func newPushCmd(a *app) *cobra.Command {
	return a.transferCmd("push DEST", "Send results to another store: those of tables, of a run, or all",
		`  redsi push s3://bucket/paper --target table.dedup_counts
  redsi push /mnt/usb/store --run last --dry-run`, true)
}

func newPullCmd(a *app) *cobra.Command {
	return a.transferCmd("pull SOURCE", "Fetch results from another store: those of tables, of a run, or all",
		`  redsi pull s3://bucket/paper --target table.dedup_counts
  redsi pull /mnt/usb/store --run 20261121T103628Z-7710bece`, false)
}

func (a *app) transferCmd(use, short, example string, push bool) *cobra.Command {
	var o transferOptions
	verb, other, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Long: short + `.

` + other + ` is a folder, or s3://bucket/prefix?endpoint=HOST:PORT; the other store is given by --store.
Without --target or --run, all results, runs and pins are copied.

--target copies the results of a table, figure or step and of all that it needs; with
--only, just its own results. --run copies the results of a run, its record, and the logs
of its failed steps, so that report, why, diff and logs work there.

For a file that is elsewhere, at an address that the store knows, only the address is
copied.

Nothing is copied twice, so running the command again continues an interrupted transfer.
Bytes are verified on arrival, and a result is copied only after all of its bytes. If the
destination has a different result for the same key, that one stays and is listed. Garbage
collection spares what has arrived until the transfer is done.`,
		Example: example,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.run != "" && len(a.Targets) > 0 {
				return fault.Input(errors.New("give either --target or --run, not both"))
			}
			t, err := a.transferBetween(cmd.Context(), args[0], push, o.dry)
			if err != nil {
				return err
			}
			return a.transfer(cmd.Context(), t, o, verb)
		},
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	cmd.Flags().StringVar(&o.run, "run", "", "the results and the record of this `RUN`: an id, a part of one, last or last~N")
	cmd.Flags().BoolVar(&o.only, "only", false, "with --target: without what it needs")
	cmd.Flags().BoolVarP(&o.dry, "dry-run", "n", false, "say what would be copied, copy nothing")
	onlyWith(cmd, "target", "only")
	return cmd
}

// transferBetween opens the two stores.
func (a *app) transferBetween(ctx context.Context, other string, push, dry bool) (*artifacts.Transfer, error) {
	t := &artifacts.Transfer{DryRun: dry}
	own, err := a.OpenOwn(ctx)
	if err != nil {
		return nil, err
	}
	there, err := transfer.Open(ctx, other, push, dry)
	if err != nil {
		return nil, fault.Input(err)
	}
	if own.URL == there.URL {
		return nil, fault.Input(fmt.Errorf("both stores are %s: name a different one", own.URL))
	}
	if t.From, t.To = own, a.Following(there); !push {
		t.From, t.To = t.To, own
	}
	return t, nil
}

// transfer copies, and reports what was copied.
func (a *app) transfer(ctx context.Context, t *artifacts.Transfer, o transferOptions, verb string) error {
	selected, err := a.selection(ctx, t.From, o)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s %s %q %q %v", verb, t.From.URL, a.Targets, o.run, o.only)
	m := a.newMeter("copied", 0)
	t.Sent = m.add
	err = transfer.Copy(ctx, t, verb+"-"+artifacts.Sum([]byte(name)).Short(), selected)
	m.close()
	if err != nil {
		return err
	}
	done := t.Done()
	if a.JSON {
		return view.WriteJSON(a.Out, map[string]any{"from": t.From.URL, "to": t.To.URL, "dry_run": o.dry, "transferred": done})
	}
	view.Transferred(a.Out, t, done)
	return nil
}

// selection is what the flags select.
func (a *app) selection(ctx context.Context, from artifacts.Store, o transferOptions) (s transfer.Selection, err error) {
	switch {
	case len(a.Targets) > 0:
		s.Keys, err = a.keysOfTargets(ctx, from, o.only)
		return s, err
	case o.run != "":
		rec, err := a.FindRun(ctx, from, o.run)
		if err != nil {
			return s, err
		}
		return transfer.Run(ctx, from, rec)
	}
	return transfer.All(ctx, from)
}

// keysOfTargets are the keys of the targets' results in a store and, unless only is set, of
// the results that they need.
func (a *app) keysOfTargets(ctx context.Context, from artifacts.Store, only bool) ([]artifacts.Digest, error) {
	pl, _, err := a.LoadPlan(ctx)
	if err != nil {
		return nil, err
	}
	v, err := a.PreviewOf(ctx, from, pl, session.KeepNone)
	if err != nil {
		return nil, err
	}
	keys, missing := transfer.Targets(v, a.Targets, only)
	if len(missing) > 0 {
		others := ""
		if n := len(missing) - 1; n > 0 {
			others = fmt.Sprintf(" (nor %s of the targets)", view.Count(n, "other"))
		}
		return nil, fmt.Errorf("%s has no result in %s%s: %s", missing[0], from.URL, others, a.hint("run", targetArgs(a.Targets)...))
	}
	return keys, nil
}

func targetArgs(targets []string) (args []string) {
	for _, t := range targets {
		args = append(args, "--target", t)
	}
	return args
}
