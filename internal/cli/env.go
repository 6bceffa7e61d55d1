package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/system/fault"
)

func newEnvCmd(a *app) *cobra.Command {
	cmd := group("env", "List, find and remove the environments that were made on this machine")
	cmd.Long = `Environments of environment blocks are made once on each machine, and shared by all pipelines of an
account: in the folder redsi/environments of the cache folder, or in the folder that
REDSI_ENVIRONMENTS names. A step makes a removed environment anew when it needs it.`
	ls := &cobra.Command{
		Use:     "ls",
		Short:   "List the environments, the last used first",
		Example: "  redsi env ls",
		RunE: func(*cobra.Command, []string) error {
			list, err := realize.List()
			return a.print(list, err, func(w io.Writer) { view.Environments(w, list) })
		},
	}
	cmd.AddCommand(ls, newEnvPathCmd(a), newEnvRmCmd(a))
	return cmd
}

func newEnvPathCmd(a *app) *cobra.Command {
	return with(&cobra.Command{
		Use:     "path NAME",
		Short:   "Print the folder of one of the pipeline's environments; make it if it is not there",
		Example: "  redsi env path py\n  \"$(redsi env path py)/bin/python\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.Load(cmd.Context())
			if err != nil {
				return err
			}
			var names []string
			for _, e := range p.Environments {
				names = append(names, strings.TrimPrefix(e.Name, "environment."))
			}
			i := slices.Index(names, strings.TrimPrefix(args[0], "environment."))
			if i < 0 {
				return fault.Input(fmt.Errorf("the pipeline has no environment %q; it has %s", args[0], cmp.Or(strings.Join(names, ", "), "none")))
			}
			e := p.Environments[i]
			w, err := realize.Want(e.Name, e.Text, e.Packages.Text)
			if err != nil {
				return err
			}
			h, err := new(realize.Environments).Use(cmd.Context(), w, a.Say)
			if err != nil {
				return err
			}
			err = a.print(map[string]any{"path": h.Dir, "environment": h.Record}, nil, func(w io.Writer) { view.Println(w, h.Dir) })
			return errors.Join(err, h.Close())
		},
	}, a.pipelineFlags)
}

func newEnvRmCmd(a *app) *cobra.Command {
	var unused string
	cmd := &cobra.Command{
		Use:     "rm [ID...]",
		Short:   "Remove environments, by the IDs that redsi env ls lists, or all that were not used for some time",
		Example: "  redsi env rm 3f2a90c1\n  redsi env rm --unused 30d",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			var age time.Duration
			var err error
			if unused != "" {
				if age, err = parseAge(unused); err != nil || age < 0 {
					return fault.Input(fmt.Errorf("--unused %s: want a time such as 30d or 12h", unused))
				}
			}
			if (len(args) == 0) == (unused == "") {
				return fault.Input(errors.New("give the IDs of environments, which `redsi env ls` lists, or --unused TIME"))
			}
			list, err := realize.List()
			if err != nil {
				return err
			}
			for _, id := range args {
				if len(id) < 4 || !slices.ContainsFunc(list, func(f realize.Found) bool { return strings.HasPrefix(f.ID, id) }) {
					return fault.Input(fmt.Errorf("there is no environment %q: give at least 4 digits of an ID that `redsi env ls` lists", id))
				}
			}
			gone := []realize.Found{}
			for _, f := range list {
				named := slices.ContainsFunc(args, func(id string) bool { return strings.HasPrefix(f.ID, id) })
				if !named && (unused == "" || time.Since(f.Used) < age) {
					continue
				}
				if err := f.Remove(); errors.Is(err, realize.ErrInUse) {
					a.Say(f.Dir + " stays: it is in use")
					continue
				} else if err != nil {
					return err
				}
				gone = append(gone, f)
			}
			return a.print(gone, nil, func(w io.Writer) { view.RemovedEnvironments(w, gone) })
		},
	}
	cmd.Flags().StringVar(&unused, "unused", "", "remove the environments that no step has used for this long, such as 30d or 12h")
	return cmd
}

// parseAge reads a time in days, or as Go writes it.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}
