package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
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
			v, _, err := a.preview(cmd.Context())
			if err != nil {
				return err
			}
			type line struct {
				Address string `json:"address"`
				Output  string `json:"output"`
				artifacts.Artifact
			}
			var lines []line
			for i, it := range v.Items {
				address := v.Plan.Steps[i].Address
				if it.Result == nil || len(args) > 0 && !plan.Matches(args[0], address) {
					continue
				}
				for _, o := range sortedOutputs(it.Result) {
					lines = append(lines, line{address, o, it.Result.Outputs[o]})
				}
			}
			if a.JSON {
				return view.WriteJSON(a.Out, lines)
			}
			for _, l := range lines {
				files := ""
				if n := len(l.Files); n > 0 {
					files = ", " + view.Count(n, "file")
				}
				view.Printf(a.Out, "%s.%s  %s  %s%s  %s\n", l.Address, l.Output, l.Type, view.Size(l.Size), files, l.Digest)
			}
			return nil
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
	at := strings.LastIndex(arg, ".")
	if slash := strings.LastIndex(arg, "]."); slash >= 0 {
		at = slash + 1
	} else if i := strings.Index(arg, "/"); i >= 0 {
		at = strings.LastIndex(arg[:i], ".")
	}
	if at <= 0 {
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
			return store, none, fmt.Errorf("%s has no result yet: redsi run --target '%s'", address, address)
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
	return store, artifacts.Digest{}, inputError(errors.New("it is a tree; name one of its files after a slash: " + strings.Join(names, ", ")))
}
