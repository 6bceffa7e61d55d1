package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/files"
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
				list, sum, err := files.ListUsed(cmd.Context(), a.Session)
				if err != nil {
					return err
				}
				return a.print(map[string]any{"steps": list, "sum": sum}, func(w io.Writer) { view.Used(w, list, sum) })
			}
			list, err := files.List(cmd.Context(), a.Session, a.JSON)
			if err != nil {
				return err
			}
			return a.print(list, func(w io.Writer) { view.Outputs(w, list) })
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
			store, d, err := files.Blob(cmd.Context(), a.Session, args[0])
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
