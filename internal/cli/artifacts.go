package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/fault"
)

func newArtifactsCmd(a *app) *cobra.Command {
	cmd := group("artifacts", "List, print and copy the outputs of steps, and show what steps used")
	used := false
	ls := &cobra.Command{
		Use:   "ls [STEP[.OUTPUT]]",
		Short: "List the outputs of steps that have results, or what these steps used: CPU time, memory, bytes, cards, energy",
		Long: `With --used, it lists instead the resources that these steps used on their machines, including
parts, and the sum. What a machine did not report is left out: the sum says how many steps each
figure covers. Memory of a step inside redsi is how much the process grew, known only if no other
step ran at the same time; energy is the whole machine's while the step ran.`,
		Example: `  redsi artifacts ls step.dedup.nq
  redsi artifacts ls --used
  redsi artifacts ls step.dedup.nq --used --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Targets = args
			if used {
				list, sum, err := files.ListUsed(cmd.Context(), a.Session)
				return a.print(map[string]any{"steps": list, "sum": sum}, err, func(w io.Writer) { view.Used(w, list, sum) })
			}
			list, err := files.List(cmd.Context(), a.Session, first(args), a.JSON)
			return a.print(list, err, func(w io.Writer) { view.Outputs(w, list) })
		},
	}
	ls.Flags().BoolVar(&used, "used", false, "list what steps used of their machines")
	cat := &cobra.Command{
		Use:     "cat STEP.OUTPUT[/FILE]",
		Short:   "Print an output's bytes, verified",
		Long:    `To a file or a program the bytes go unchanged; on a terminal, control characters are shown as escapes.`,
		Example: `  redsi artifacts cat 'step.dedup.nq["url"].counts'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, d, err := files.Blob(cmd.Context(), a.Session, args[0])
			if err != nil {
				return err
			}
			r, err := store.Open(cmd.Context(), d)
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

func newGetCmd(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		SuggestFor: []string{"path", "cp", "copy"},
		Use:        "get STEP[.OUTPUT[/FILE]]|TABLE|FIGURE|DIGEST DIR",
		Short:      "Write outputs into a folder: a tree, a file, or all outputs of a step",
		Long: `The folder DIR must be new or empty. It gets the files of a tree, a file under the output's name, or
all outputs of a step, each under its name. DIGEST is that of a result (its key), of a tree or of a
file, and needs no pipeline.

The files are verified copies: you may change them without changing the store. They appear together, once all are
complete. With --force the folder may have files: those of the same names are replaced, and the others stay.`,
		Example: `  redsi artifacts get step.download.text.files text
  redsi artifacts get table.dedup_counts tables --force
  redsi artifacts get sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 out`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, found, err := files.Of(cmd.Context(), a.Session, args[0])
			if err != nil {
				return err
			}
			var bytes int64
			for _, f := range found {
				bytes += f.Size
			}
			copied, over := a.Copying("copied", bytes)
			err = local.WriteFiles(cmd.Context(), store, found, args[1], force, copied)
			over()
			if _, ok := errors.AsType[*local.NotEmptyError](err); ok {
				err = fault.Input(fmt.Errorf("%w: name a new folder, or give --force to replace files of the same names", err))
			}
			return a.print(map[string]any{"folder": args[1], "files": found, "bytes": bytes}, err, func(w io.Writer) {
				view.Printf(w, "%s  %s, %s\n", args[1], view.Count(len(found), "file"), view.Size(bytes))
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "write into a folder that has files, replacing those of the same names")
	return cmd
}
