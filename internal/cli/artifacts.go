package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
)

func newArtifactsCmd(a *app) *cobra.Command {
	cmd := group("artifacts", "List, print and copy the outputs of steps, and show what steps used")
	used := false
	ls := &cobra.Command{
		Use:   "ls [STEP]",
		Short: "List the outputs of steps that have results, or what these steps used: CPU time, memory, bytes, cards, energy",
		Long: `Lists the outputs of steps that have results.

With --used, lists instead the resources that these steps used on their machines,
including parts, and the sum. What a machine did not report is left out: the sum says how
many steps each figure covers. Memory of a step inside redsi is how much the process grew,
known only if no other step ran at the same time; energy is the whole machine's while the
step ran.`,
		Example: `  redsi artifacts ls step.dedup.nq
  redsi artifacts ls --used
  redsi artifacts ls step.dedup.nq --used --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Targets = args
			if used {
				return a.listUsed(cmd.Context())
			}
			return a.listOutputs(cmd.Context())
		},
	}
	ls.Flags().BoolVar(&used, "used", false, "list what steps used of their machines")
	cat := &cobra.Command{
		Use:   "cat STEP.OUTPUT[/FILE]",
		Short: "Print an output's bytes, verified",
		Long: `Prints an output's bytes, verified: unchanged to a file or a program; on a terminal,
control characters are shown as escapes.`,
		Example: `  redsi artifacts cat 'step.dedup.nq["url"].counts'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, d, err := a.output(cmd, args[0])
			if err != nil {
				return err
			}
			r, err := store.Blobs.Open(cmd.Context(), d)
			if err != nil {
				return err
			}
			defer r.Close()
			return view.Copy(a.Out, r, terminal(a.Out) > 0)
		},
	}
	for _, c := range []*cobra.Command{ls, cat, newGetCmd(a)} {
		a.pipelineFlags(c)
		a.fromFlags(c)
		cmd.AddCommand(c)
	}
	return cmd
}

// listOutputs lists the outputs of the targets.
func (a *app) listOutputs(ctx context.Context) error {
	type line struct {
		Address string `json:"address"`
		Output  string `json:"output"`
		artifacts.Artifact
		Accepted string       `json:"accepted,omitempty"` // by whom and why, if it was made under another key
		Rebuilt  *attest.Told `json:"rebuilt,omitempty"`  // who rebuilt the step
		files    int
		last     bool // of its step
	}
	var untold error
	var of [][]line
	note := func(pl *plan.Plan, book *attest.Book, i int, it *plan.Item) bool {
		address := pl.Steps[i].Address
		if !a.IsTarget(address) {
			return false
		}
		told, err := book.Of(ctx, it.Key, it.Result.OutputsDigest())
		if err != nil {
			untold = err
		}
		names := sortedOutputs(it.Result)
		for k, o := range names {
			l := line{Address: address, Output: o, Artifact: it.Result.Outputs[o], Rebuilt: told, files: len(it.Result.Outputs[o].Files), last: k == len(names)-1}
			if it.Accepted != nil {
				l.Accepted = it.Accepted.Sentence()
			}
			if !a.JSON {
				l.Files = nil // a tree may have many
			}
			of[i] = append(of[i], l)
		}
		return false
	}
	_, err := a.Preview(ctx, session.Ask{KeepOf: func(pl *plan.Plan, store artifacts.Store) (plan.Keep, error) {
		of = make([][]line, len(pl.Steps))
		book, err := a.Book(ctx, store)
		return func(i int, it *plan.Item) bool { return note(pl, book, i, it) }, err
	}})
	if err = errors.Join(err, untold); err != nil {
		return err
	}
	lines := append([]line{}, slices.Concat(of...)...)
	if a.JSON {
		return view.WriteJSON(a.Out, lines)
	}
	out := bufio.NewWriter(a.Out)
	for _, l := range lines {
		files := ""
		if l.files > 0 {
			files = ", " + view.Count(l.files, "file")
		}
		accepted := ""
		if l.Accepted != "" {
			accepted = "  " + l.Accepted
		}
		view.Printf(out, "%s.%s  %s  %s%s  %s%s\n", l.Address, l.Output, l.Type, view.Size(l.Size), files, l.Digest, accepted)
		if l.last && l.Rebuilt != nil {
			view.Rebuilt(out, "       ", l.Rebuilt)
		}
	}
	return out.Flush()
}

// output finds the blob that an argument names.
func (a *app) output(cmd *cobra.Command, arg string) (artifacts.Store, artifacts.Digest, error) {
	address, output, file := splitOutput(arg)
	if output == "" {
		return artifacts.Store{}, artifacts.Digest{}, fault.Input(fmt.Errorf("%q is not STEP.OUTPUT", arg))
	}
	store, r, err := a.resultOf(cmd.Context(), address)
	if err != nil {
		return store, artifacts.Digest{}, err
	}
	art, err := outputOf(address, r, output)
	if err != nil {
		return store, artifacts.Digest{}, err
	}
	return fileOf(store, art, file)
}

// splitOutput cuts ADDRESS.OUTPUT/FILE; without an output, all of it is an address.
func splitOutput(arg string) (address, output, file string) {
	_, local := pipeline.SplitAddress(arg)
	names := 2 // after the type of the block: a step's kind and its name
	if pipeline.IsRendered(arg) {
		names = 1
	}
	at := len(arg) - len(local)
	for ; names > 0; names-- {
		dot := strings.IndexAny(arg[at:], ".[")
		if dot < 0 {
			return arg, "", ""
		}
		at += dot + 1
	}
	end := strings.IndexAny(arg[at:], ".[")
	if end < 0 {
		return arg, "", ""
	}
	at += end
	if arg[at] == '[' {
		key, err := strconv.QuotedPrefix(arg[at+1:])
		at += 1 + len(key) + 1
		if err != nil || at >= len(arg) {
			return arg, "", ""
		}
	}
	output, file, _ = strings.Cut(strings.TrimPrefix(arg[at:], "."), "/")
	return arg[:at], output, file
}

// resultOf finds the result of one step.
func (a *app) resultOf(ctx context.Context, address string) (artifacts.Store, *artifacts.Result, error) {
	a.Targets = []string{address}
	v, store, err := a.PreviewFor(ctx, session.KeepAll)
	if err != nil {
		return store, nil, err
	}
	for i, it := range v.Items {
		if v.Plan.Steps[i].Address != address {
			continue
		}
		if it.Result == nil {
			return store, nil, fmt.Errorf("%s has no result yet: %s", address, a.hint("run", "--target", address))
		}
		return store, it.Result, nil
	}
	return store, nil, fault.Input(fmt.Errorf("%s is more than one step; name one instance", address))
}

func outputOf(address string, r *artifacts.Result, output string) (artifacts.Artifact, error) {
	art, ok := r.Outputs[output]
	if !ok {
		return art, fault.Input(fmt.Errorf("%s has no output %q; it has %s", address, output, strings.Join(sortedOutputs(r), ", ")))
	}
	return art, nil
}

func fileOf(store artifacts.Store, art artifacts.Artifact, file string) (artifacts.Store, artifacts.Digest, error) {
	if art.Files == nil {
		return store, art.Digest, nil
	}
	var names []string
	for _, f := range art.Files {
		if f.Name == file || file == "" && len(art.Files) == 1 {
			return store, f.Digest, nil
		}
		names = append(names, f.Name)
	}
	return store, artifacts.Digest{}, fault.Input(errors.New("this is a tree: append a slash and the name of one of its files: " + strings.Join(names, ", ")))
}
