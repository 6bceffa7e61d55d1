package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
)

func newSourcesCmd(a *app) *cobra.Command {
	cmd := group("sources", "Check and update what pipelines download")
	var offline bool
	check := &cobra.Command{
		Use:   "check",
		Short: "Check whether the store has the bytes of each source, and whether its origin still does",
		Long: `For a module's repository it checks whether its ref still names the pinned commit. Nothing is
fetched: a web server is asked for the size, which is compared with that in redsi.lock. The states are: ok; unpinned
(available, but its bytes are not pinned yet); changed (the size at the origin is not the pinned one, or a pattern
stands for other files); unreachable (the origin does not answer or no longer has it). The exit code is 1 if a source
is changed or unreachable and the store does not have its bytes.`,
		Example: `  redsi sources check
  redsi sources check --target step.download.t5_tokenizer --json
  redsi sources check --offline   # only the store`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			states, err := a.sources(cmd.Context(), offline)
			if err != nil {
				return err
			}
			bad := lists.Count(states, origins.Source.Lost)
			err = a.print(states, nil, func(w io.Writer) { view.Sources(w, states) })
			if err == nil && bad > 0 {
				err = fault.Failed(fmt.Errorf("%s not available, neither here nor at the origin", view.Count(bad, "source")))
			}
			return err
		},
	}
	a.pipelineFlags(check)
	a.targetFlag(check)
	check.Flags().BoolVar(&offline, "offline", false, "look only in the store")
	cmd.AddCommand(check, newSourcesUpdateCmd(a))
	return cmd
}

func (a *app) sources(ctx context.Context, offline bool) ([]origins.Source, error) {
	pl, _, err := a.LoadPlan(ctx)
	if err != nil {
		return nil, err
	}
	store, err := a.OpenOwn(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := lockfile.Read(a.LockFile())
	if err != nil {
		return nil, fault.Input(err)
	}
	states, err := origins.Of(pl)
	if err != nil {
		return nil, err
	}
	if err := origins.Check(ctx, store, lock, states, offline); err != nil {
		return nil, err
	}
	update := func(source string) string { return a.hint("sources update", source) }
	states = append(states, origins.Patterns(ctx, lock, offline, update)...)
	folders, err := origins.OfFolders(ctx, a.Registry, store, pl)
	if err != nil {
		return nil, err
	}
	states = append(states, folders...)
	return append(states, origins.Repositories(ctx, a.Modules.Used, offline, update)...), ctx.Err()
}

// updated is a repository whose ref, or a pattern whose files, `sources update` looked up.
type updated struct {
	Source string   `json:"source"`
	Before string   `json:"before,omitempty"`
	Commit string   `json:"commit,omitempty"`
	New    []string `json:"new,omitempty"`
	Gone   []string `json:"gone,omitempty"`
}

func (u updated) String() string {
	switch {
	case u.Commit == "" && len(u.New)+len(u.Gone) == 0:
		return "the same files"
	case u.Commit == "":
		return fmt.Sprintf("%d new, %d gone", len(u.New), len(u.Gone))
	case u.Before == u.Commit:
		return "still " + u.Commit
	case u.Before != "":
		return "now " + u.Commit + ", was " + u.Before
	}
	return "now " + u.Commit
}

func newSourcesUpdateCmd(a *app) *cobra.Command {
	return with(&cobra.Command{
		Use:   "update [TEXT]",
		Short: "Pin the present commits of modules' repositories and the files of patterns",
		Long: `Pins the commits that the refs of modules' repositories name now, and the files that patterns of
downloads stand for now, in redsi.lock, in place of those pinned before. With TEXT, only for
repositories whose git::URL?ref=REF, and patterns, contain it.`,
		Example: `  redsi sources update
  redsi sources update first-paper   # this repository only`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Update = func(source string) bool { return len(args) == 0 || strings.Contains(source, args[0]) }
			if _, err := a.Load(cmd.Context()); err != nil {
				return err
			}
			list := []updated{}
			for _, u := range a.Modules.Used {
				if a.Update(u.Source()) {
					list = append(list, updated{Source: u.Source(), Before: u.Before, Commit: u.Commit})
				}
			}
			lock, err := lockfile.Read(a.LockFile())
			if err != nil {
				return fault.Input(err)
			}
			for _, l := range lock.Lists {
				if !a.Update(l.Pattern) {
					continue
				}
				now, added, gone, err := l.Relist(cmd.Context())
				if err != nil {
					return fault.Failed(err)
				}
				if err := lockfile.PinList(a.LockFile(), now); err != nil {
					return fault.Failed(err)
				}
				list = append(list, updated{Source: l.Pattern, New: added, Gone: gone})
			}
			if len(list) == 0 && len(args) > 0 {
				return fault.Input(fmt.Errorf("the pipeline has no module from a repository with %q in its source, and %s no such pattern", args[0], lockfile.Name))
			}
			return a.print(list, nil, func(w io.Writer) {
				for _, u := range list {
					view.Printf(w, "%s  %s\n", u.Source, u)
				}
			})
		},
	}, a.pipelineFlags)
}
