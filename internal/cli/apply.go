package cli

import (
	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/saved"
)

func newApplyCmd(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Run a plan saved by `redsi plan --out FILE`, if it would still do exactly the same",
		Long: `The pipeline is loaded anew with the saved variables and targets. If a step has a different key,
because the HCL, a source, a program or redsi itself has changed, nothing runs and the differences
are shown. Results that came into the store since are used.`,
		Example: `  redsi plan --target table.dedup_counts --out counts.plan
  redsi apply counts.plan`,
		Args: o.slurm.args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := saved.Read(args[0])
			if err != nil {
				return err
			}
			a.File, a.Vars, a.VarFiles, a.Targets = s.File, s.Vars, s.VarFiles, s.Targets
			if !cmd.Flags().Changed("profile") {
				a.Profile = s.Profile
			}
			if err := a.useLocal(session.ProjectDir(a.File)); err != nil {
				return err
			}
			if !cmd.Flags().Changed("store") {
				a.StoreURL = s.Store
				delete(a.Local.Flags, "store")
			}
			o.Saved = s
			return a.run(cmd.Context(), o)
		},
	}
	o.flags(cmd)
	return with(cmd, a.fromFlags, a.metricsFlag, a.progressFlag)
}
