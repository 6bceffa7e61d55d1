package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/sharing/transfer"
	"github.com/redsi/redsi/internal/system/fault"
)

func newKeepCmd(a *app) *cobra.Command {
	var as string
	var drop []string
	var only bool
	cmd := &cobra.Command{
		Use:   "keep [RUN | ADDRESS...]",
		Short: "Keep a run, or results and all that they need, from garbage collection, by name",
		Long: `They stay until --drop. RUN is an id, a part of one, last or last~N; its results, record and logs
stay whatever --keep-runs and --keep-within say. ADDRESS is a table, a figure, a step or a block of
steps of the pipeline, whose results of now stay, with all that they need, whatever becomes of the
runs that made them. Without arguments, list what is kept.`,
		Example: `  redsi keep last --as submitted
  redsi keep table.dedup_counts step.train.dsi --as camera-ready
  redsi keep
  redsi keep --drop submitted`,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.OpenOwn(cmd.Context())
			if err != nil {
				return err
			}
			pins, err := artifacts.Pins(cmd.Context(), store.Own)
			if err != nil {
				return err
			}
			switch {
			case len(drop) > 0 && len(args) > 0:
				return fault.Input(errors.New("give either what to keep or --drop, not both"))
			case len(drop) > 0:
				return a.dropPins(cmd.Context(), store.Own, pins, drop)
			case len(args) == 0 && (as != "" || only):
				return fault.Input(misused(cmd, errors.New("name a run, or a table, figure or step")))
			case len(args) == 0:
				return a.printPins(pins)
			}
			p, keys, err := a.toKeep(cmd.Context(), store, args, only)
			if err != nil {
				return err
			}
			if p.Name = as; as == "" && len(args) > 1 {
				return fault.Input(errors.New("several addresses are kept under one name: give it by --as NAME"))
			} else if as == "" {
				p.Name = p.Of
			}
			if i := slices.IndexFunc(pins, func(x artifacts.Pin) bool { return x.Name == p.Name }); i >= 0 {
				return fault.Input(fmt.Errorf("%s is the name of %s, which is kept since %s: give another one by --as, or let that go with `%s`",
					p.Name, pins[i].Of, pins[i].Since.Local().Format(time.DateTime), a.hint("keep", "--drop", p.Name)))
			}
			if err := artifacts.PutPin(cmd.Context(), store.Own, p, keys); err != nil {
				return err
			}
			p.Results = len(keys)
			return a.printPins([]artifacts.Pin{p})
		},
	}
	f := cmd.Flags()
	f.StringVar(&as, "as", "", "the name to keep it by (default: the run's id, or the address)")
	f.BoolVar(&only, "only", false, "of addresses: without what they need")
	f.StringArrayVar(&drop, "drop", nil, "keep what has this `NAME` no longer; may be repeated")
	return with(cmd, a.pipelineFlags)
}

func (a *app) printPins(pins []artifacts.Pin) error {
	return a.print(map[string]any{"kept": pins}, func(w io.Writer) { view.Pins(w, pins, a.hint) })
}

// toKeep finds what is to be kept: a run, or results.
func (a *app) toKeep(ctx context.Context, store *artifacts.Resolver, args []string, only bool) (p artifacts.Pin, keys []artifacts.Digest, err error) {
	p.Since = time.Now().UTC().Truncate(time.Second)
	isRun := func(arg string) bool { return !strings.Contains(strings.TrimPrefix(arg, "last"), ".") }
	if !slices.ContainsFunc(args, isRun) {
		p.Of, a.Targets = strings.Join(args, ", "), args
		keys, err = transfer.Keys(ctx, a.Session, store, only)
		return p, keys, err
	}
	switch {
	case len(args) > 1:
		return p, nil, fault.Input(errors.New("give either one run, or addresses such as table.NAME and step.KIND.NAME"))
	case only:
		return p, nil, fault.Input(errors.New("--only is of addresses: a run is kept with all its results"))
	}
	rec, err := a.FindRun(ctx, store.Own, args[0])
	if err != nil {
		return p, nil, err
	}
	p.Of, p.Run = rec.RunID, rec.RunID
	return p, nil, nil
}

// dropPins removes pins by their names: all, or none if there is none of a name.
func (a *app) dropPins(ctx context.Context, s artifacts.Store, pins []artifacts.Pin, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(pins, func(p artifacts.Pin) bool { return p.Name == name }) {
			return fault.Input(fmt.Errorf("nothing is kept as %q; `%s` lists what is", name, a.hint("keep")))
		}
	}
	for _, name := range names {
		if err := s.Records.Delete(ctx, artifacts.PinsPrefix+name); err != nil {
			return err
		}
	}
	return a.print(map[string]any{"dropped": names}, func(w io.Writer) {
		for _, name := range names {
			view.Printf(w, "%s is kept no longer; `%s` deletes what no run and no other name keeps\n", name, a.hint("gc"))
		}
	})
}

func newDuCmd(a *app) *cobra.Command {
	by, all := "block", false
	cmd := &cobra.Command{
		Use:   "du",
		Short: "Say which steps, kinds or runs the bytes of the store are of",
		Long: `Results share bytes: "bytes" are all that a group's results have, "only here" the bytes that no
other group's have. The largest groups come first.`,
		Example: `  redsi du
  redsi du --by run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			group, ok := usageBy[by]
			if !ok {
				return fault.Input(fmt.Errorf("--by %s: want block, step, kind or run", by))
			}
			store, err := a.OpenOwn(cmd.Context())
			if err != nil {
				return err
			}
			tell, over := a.telling("looking through the store")
			groups, total, err := artifacts.Usages(cmd.Context(), store.Own, group, tell)
			over()
			return a.printed(map[string]any{"by": by, "groups": groups, "bytes": total.Bytes, "of_no_result": total.Only}, err, func(w io.Writer) {
				view.Usages(w, groups, total, all)
			})
		},
	}
	cmd.Flags().StringVar(&by, "by", by, "block, step, kind or run")
	cmd.Flags().BoolVar(&all, "all", false, "list all, not the largest alone")
	return cmd
}

// usageBy are the groups that du knows.
var usageBy = map[string]artifacts.UsageBy{
	"step": func(step string, _ []string) []string { return []string{runs.StepOf(step)} },
	"block": func(step string, _ []string) []string {
		return []string{address.Of(runs.StepOf(step)).Block()}
	},
	"kind": func(step string, _ []string) []string {
		kind, _, _ := strings.Cut(strings.TrimPrefix(address.Of(runs.StepOf(step)).Name, "step."), ".")
		return []string{kind}
	},
	"run": func(_ string, ids []string) []string {
		if len(ids) == 0 {
			return []string{"no run"}
		}
		return ids
	},
}
