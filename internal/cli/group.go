package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/system/fault"
)

// misused adds a verb's usage to an error about the command line, unless that says enough.
func misused(cmd *cobra.Command, err error) error {
	if size, ok := errors.AsType[*sizeError](err); ok {
		return size
	}
	if !cmd.HasParent() {
		return err
	}
	if _, unknown := errors.AsType[*pflag.NotExistError](err); unknown && cmd.Name() == "console" {
		err = fmt.Errorf("%w: an expression that begins with - comes after --, as in redsi console -- -1", err)
	}
	return fmt.Errorf("%w\nusage: %s; see %s --help", err, cmd.UseLine(), cmd.CommandPath())
}

// group is a command that only has subcommands.
func group(use, short string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, DisableFlagsInUseLine: true, SuggestionsMinimumDistance: 1,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			msg := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				msg += fmt.Sprintf("; did you mean %q?", near[0])
			}
			return fault.Input(misused(cmd, errors.New(msg)))
		}}
}
