package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/system/fault"
)

// onlyAnnotation names, on a flag, the one that it can be used only with.
const onlyAnnotation = "redsi_only_with"

// onlyWith says of flags of a verb that they mean something only with another one.
func onlyWith(cmd *cobra.Command, with string, flags ...string) {
	for _, name := range flags {
		if err := cmd.Flags().SetAnnotation(name, onlyAnnotation, []string{with}); err != nil {
			panic(err) // the verb has no such flag
		}
	}
}

// checkOnly refuses flags that were given without the ones that they need.
func checkOnly(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if with := f.Annotations[onlyAnnotation]; err == nil && with != nil && !cmd.Flags().Changed(with[0]) {
			err = fault.Input(fmt.Errorf("--%s can be used only with --%s", f.Name, with[0]))
		}
	})
	return err
}
