package cli

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/view"
)

func newArtifactsCmd(a *app) *cobra.Command {
	cmd := group("artifacts", "List, print and locate what steps have left")
	ls := &cobra.Command{
		Use:     "ls [STEP]",
		Short:   "List the outputs of steps that have results",
		Example: `  redsi artifacts ls step.dedup.nq`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Targets = args
			ctx := cmd.Context()
			pl, _, err := a.loadPlan(ctx)
			if err != nil {
				return err
			}
			store, err := a.openStore(ctx)
			if err != nil {
				return err
			}
			type line struct {
				Address string `json:"address"`
				Output  string `json:"output"`
				artifacts.Artifact
				files int
			}
			of := make([][]line, len(pl.Steps))
			_, err = a.previewOf(ctx, store, pl, func(i int, it *plan.Item) bool {
				address := pl.Steps[i].Address
				if len(args) > 0 && !plan.Matches(args[0], address) {
					return false
				}
				for _, o := range sortedOutputs(it.Result) {
					l := line{address, o, it.Result.Outputs[o], len(it.Result.Outputs[o].Files)}
					if !a.JSON {
						l.Files = nil // a tree may have many
					}
					of[i] = append(of[i], l)
				}
				return false
			})
			if err != nil {
				return err
			}
			lines := slices.Concat(of...)
			if a.JSON {
				return view.WriteJSON(a.Out, lines)
			}
			out := bufio.NewWriter(a.Out)
			for _, l := range lines {
				files := ""
				if l.files > 0 {
					files = ", " + view.Count(l.files, "file")
				}
				view.Printf(out, "%s.%s  %s  %s%s  %s\n", l.Address, l.Output, l.Type, view.Size(l.Size), files, l.Digest)
			}
			return out.Flush()
		},
	}
	cat := &cobra.Command{
		Use:   "cat STEP.OUTPUT[/FILE]",
		Short: "Print an output's bytes, verified",
		Long: `Prints an output's bytes, verified to the last one: as they are where a file or a
program reads them; on a terminal, control characters are shown as escapes.`,
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
	path := &cobra.Command{
		Use:     "path STEP.OUTPUT[/FILE]",
		Short:   "Print the path of a verified local copy of an output",
		Example: `  redsi artifacts path step.extract.train.report`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, d, err := a.output(cmd, args[0])
			if err != nil {
				return err
			}
			p, err := artifacts.Fetch(cmd.Context(), store.Blobs, d, a.cacheDir())
			if err == nil && a.JSON {
				return view.WriteJSON(a.Out, map[string]string{"path": p, "digest": d.String()})
			}
			if err == nil {
				view.Println(a.Out, p)
			}
			return err
		},
	}
	for _, c := range []*cobra.Command{ls, cat, path} {
		a.pipelineFlags(c)
		cmd.AddCommand(c)
	}
	return cmd
}

// output finds the blob that an argument names.
func (a *app) output(cmd *cobra.Command, arg string) (artifacts.Store, artifacts.Digest, error) {
	var none artifacts.Digest
	_, local := pipeline.SplitAddress(arg)
	at := strings.LastIndex(local, ".")
	if slash := strings.LastIndex(local, "]."); slash >= 0 {
		at = slash + 1
	} else if i := strings.Index(local, "/"); i >= 0 {
		at = strings.LastIndex(local[:i], ".")
	}
	if at += len(arg) - len(local); at <= len(arg)-len(local) {
		return artifacts.Store{}, none, inputError(fmt.Errorf("%q is not STEP.OUTPUT", arg))
	}
	address, output := arg[:at], arg[at+1:]
	output, file, _ := strings.Cut(output, "/")
	a.Targets = []string{address}
	v, store, err := a.preview(cmd.Context())
	if err != nil {
		return store, none, err
	}
	for i, it := range v.Items {
		if v.Plan.Steps[i].Address != address {
			continue
		}
		if it.Result == nil {
			return store, none, fmt.Errorf("%s has no result yet: %s", address, a.hint("run", "--target", address))
		}
		art, ok := it.Result.Outputs[output]
		if !ok {
			return store, none, inputError(fmt.Errorf("%s has no output %q; it has %s", address, output, strings.Join(sortedOutputs(it.Result), ", ")))
		}
		return fileOf(store, art, file)
	}
	return store, none, inputError(fmt.Errorf("%s is not one step; name one instance of it", address))
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
	return store, artifacts.Digest{}, inputError(errors.New("this is a tree; add a slash and one of its files: " + strings.Join(names, ", ")))
}
