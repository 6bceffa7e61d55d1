package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
)

// sourceState is what is known about one source of a download.
type sourceState struct {
	Step    string `json:"step"`
	Source  string `json:"source"`
	SHA256  string `json:"sha256,omitempty"` // "" if its bytes are unknown
	State   string `json:"state"`            // "ok", "unpinned", "changed", "unreachable", or "missing" (offline)
	InStore bool   `json:"in_store"`
	Size    int64  `json:"size,omitempty"` // as its origin says now; -1: unknown
	Note    string `json:"note,omitempty"`
}

func newSourcesCmd(a *app) *cobra.Command {
	cmd := group("sources", "Check and update what pipelines download")
	var offline bool
	check := &cobra.Command{
		Use:   "check",
		Short: "Check whether the store has the bytes of each source, and whether its origin still does",
		Long: `Check whether the store has the bytes of each source, and whether its origin still does.

For a module's repository it checks whether its ref still names the pinned
commit. Nothing is fetched: a web server is asked for the size, which is compared
with that in redsi.lock. The states are: ok; unpinned (available, but its bytes
are not pinned yet); changed (the size at the origin is not the pinned one);
unreachable (the origin does not answer or no longer has it). The exit code is 1
if a source is changed or unreachable and the store does not have its bytes.`,
		Example: `  redsi sources check
  redsi sources check --target step.download.t5_tokenizer --json
  redsi sources check --offline   # only the store`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			states, err := a.sources(cmd.Context(), offline)
			if err != nil {
				return err
			}
			bad := 0
			for _, s := range states {
				if !s.InStore && s.State != "ok" && s.State != "unpinned" {
					bad++
				}
			}
			if a.JSON {
				err = view.WriteJSON(a.Out, states)
			} else {
				a.printSources(states)
			}
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

// looksAtOnce bounds how many servers are asked at a time.
const looksAtOnce = 8

func (a *app) sources(ctx context.Context, offline bool) ([]sourceState, error) {
	pl, _, err := a.loadPlan(ctx)
	if err != nil {
		return nil, err
	}
	store, err := a.openOwn(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := lockfile.Read(a.lockFile())
	if err != nil {
		return nil, fault.Input(err)
	}
	states, err := pinnedSources(pl)
	if err != nil {
		return nil, err
	}
	if err := markStored(ctx, store, states); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, looksAtOnce)
	for i := range states {
		wg.Add(1)
		go func(s *sourceState) {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			pin, known := lock.Pinned(s.Source)
			s.look(ctx, offline, pin.Size, known)
		}(&states[i])
	}
	wg.Wait()
	for i := range states { // last: pins are looked up by the source as it is written
		states[i].Source = fetch.Redact(states[i].Source)
	}
	return append(states, a.repositories(ctx, offline)...), ctx.Err()
}

// repositories are those of the pipeline's modules; their pinned commits are here, or the
// pipeline could not have been read.
func (a *app) repositories(ctx context.Context, offline bool) (states []sourceState) {
	for _, u := range a.modules.Used {
		s := sourceState{Source: u.Source(), State: "ok", InStore: true, Note: "commit " + u.Commit}
		if !offline {
			switch now, err := u.Moved(ctx); {
			case err != nil:
				s.State, s.Note = "unreachable", err.Error()
			case now != "":
				s.State, s.Note = "changed", fmt.Sprintf("is now commit %s, but %s is pinned: `%s` pins the new one", now, u.Commit, a.hint("sources update", u.Source()))
			}
		}
		states = append(states, s)
	}
	return states
}

// updated is a repository whose ref was looked up again.
type updated struct {
	Source string `json:"source"`
	Before string `json:"before,omitempty"`
	Commit string `json:"commit"`
}

func newSourcesUpdateCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update [TEXT]",
		Short: "Pin the present commits of modules' repositories",
		Long: `Pin the commits that the refs of modules' repositories name now, in redsi.lock,
in place of those pinned before. With TEXT, only for repositories whose
git::URL?ref=REF contains it.`,
		Example: `  redsi sources update
  redsi sources update first-paper   # this repository only`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.update = func(source string) bool { return len(args) == 0 || strings.Contains(source, args[0]) }
			if _, err := a.Load(cmd.Context()); err != nil {
				return err
			}
			list := []updated{}
			for _, u := range a.modules.Used {
				if a.update(u.Source()) {
					list = append(list, updated{u.Source(), u.Before, u.Commit})
				}
			}
			if len(list) == 0 && len(args) > 0 {
				return fault.Input(fmt.Errorf("the pipeline has no module from a repository with %q in its source", args[0]))
			}
			if a.JSON {
				return view.WriteJSON(a.Out, list)
			}
			for _, u := range list {
				what := "still " + u.Commit
				if u.Before != u.Commit {
					what = "now " + u.Commit
				}
				if u.Before != u.Commit && u.Before != "" {
					what += ", was " + u.Before
				}
				view.Printf(a.Out, "%s  %s\n", u.Source, what)
			}
			return nil
		},
	}
	a.pipelineFlags(cmd)
	return cmd
}

// pinnedSources lists the sources of a plan's downloads, as they are pinned.
func pinnedSources(pl *plan.Plan) ([]sourceState, error) {
	states := []sourceState{}
	for _, s := range pl.Steps {
		if s.Task.Kind != "download" {
			continue
		}
		var c struct {
			URLs   []string `json:"urls"`
			SHA256 []string `json:"sha256"`
		}
		if err := json.Unmarshal(s.Task.Config, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		for i, u := range c.URLs {
			x := sourceState{Step: s.Address, Source: u}
			if _, err := artifacts.ParseHex(c.SHA256[i]); err == nil {
				x.SHA256 = c.SHA256[i]
			}
			states = append(states, x)
		}
	}
	return states, nil
}

func markStored(ctx context.Context, store artifacts.Store, states []sourceState) error {
	var want []artifacts.Digest
	for _, s := range states {
		if d, err := artifacts.ParseHex(s.SHA256); err == nil {
			want = append(want, d)
		}
	}
	missing, err := store.Blobs.Missing(ctx, want)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, d := range missing {
		gone[d.Hex()] = true
	}
	for i := range states {
		states[i].InStore = states[i].SHA256 != "" && !gone[states[i].SHA256]
	}
	return nil
}

// look finds the state of a source; size is the pinned one, if known.
func (s *sourceState) look(ctx context.Context, offline bool, size int64, known bool) {
	s.State = "ok"
	if offline {
		if !s.InStore {
			s.State = "missing"
		}
		return
	}
	src, err := fetch.ParseSource(s.Source)
	if err == nil {
		s.Size, err = fetch.Look(ctx, src)
	}
	switch {
	case err != nil:
		s.State, s.Note = "unreachable", err.Error()
	case known && s.Size >= 0 && s.Size != size:
		s.State, s.Note = "changed", fmt.Sprintf("has %d bytes, but %d were pinned", s.Size, size)
	case s.SHA256 == "":
		s.State = "unpinned"
	}
}

func (a *app) printSources(states []sourceState) {
	n := map[string]int{}
	stored := 0
	for _, s := range states {
		n[s.State]++
		where := "not in store"
		if s.InStore {
			where = "in store"
			stored++
		}
		note := s.Note
		if note == "" && s.Size > 0 {
			note = view.Size(s.Size)
		}
		view.Printf(a.Out, "%-11s %-13s %s  %s\n", s.State, where, s.Source, note)
	}
	view.Printf(a.Out, "%s: %d ok, %d unpinned, %d changed, %d unreachable; %d in the store.\n",
		view.Count(len(states), "source"), n["ok"], n["unpinned"], n["changed"], n["unreachable"], stored)
}
