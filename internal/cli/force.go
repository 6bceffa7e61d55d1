package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
)

func newForceCmd(a *app) *cobra.Command {
	var downstream bool
	cmd := &cobra.Command{
		Use:   "force STEP",
		Short: "Forget a step's result, so that the next run makes it again",
		Long: `There are three use cases:

  run a step again              redsi force STEP: its result and those of its
                                parts are forgotten; steps that read it run
                                only if its bytes change
  run all that reads it, too    redsi force --downstream STEP
  see whether it gives the      redsi verify --rebuild STEP: runs it here and
  same                          compares; the existing result stays

Blobs stay in the store until ` + "`redsi gc`" + `.`,
		Example: `  redsi force 'step.dedup.nq["url"]' && redsi run
  redsi force --downstream step.extract.train`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			forgotten, err := a.Forget(cmd.Context(), args[0], downstream)
			if err != nil {
				return err
			}
			command := a.ToRun(args[0])
			if downstream { // the target alone does not need them
				command = a.ToRun()
			}
			return a.print(map[string]any{"forgotten": forgotten}, func(w io.Writer) {
				for _, s := range forgotten {
					view.Println(w, s)
				}
				view.Printf(w, "%s forgotten; `%s` makes them again.\n", view.Count(len(forgotten), "result"), command)
			})
		},
	}
	cmd.Flags().BoolVar(&downstream, "downstream", false, "also forget the results of all steps that depend on it")
	return with(cmd, a.pipelineFlags, a.fromFlags)
}
