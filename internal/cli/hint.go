package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/shellwords"
)

// carried are the flags that say what a command reads and where it writes: printed commands
// repeat those that were given.
var carried = []string{"file", "var", "var-file", "state", "store", "from", "require-from", "trust", "untrusted", "profile", "payload-key", "slurm", "pilot",
	"temporal-address", "temporal-namespace", "temporal-profile"}

// hint is a command of this program to copy and paste: a verb, its arguments, and the carried
// flags of the running command that the verb has. The environment applies there too. Sensitive
// variables, known once the pipeline is read, are left for the person to fill in.
func (a *app) hint(verb string, args ...string) string {
	words := append([]string{"redsi"}, strings.Fields(verb)...)
	words = append(words, lists.Map(args, shellwords.Quote)...)
	to, _, err := a.cmd.Root().Find(words[1 : 1+len(strings.Fields(verb))])
	if err != nil {
		to = a.cmd
	}
	for _, name := range carried {
		given := a.cmd.Flags().Lookup(name)
		if given == nil || slices.Contains(args, "--"+name) || !understands(to, name) {
			continue
		}
		// What settings say is passed on to a verb that reads others: without -f, a verb reads those of the current folder.
		settled := a.Local.Flags[name] && !understands(to, "file") && filepath.Dir(a.Local.File) != "."
		if !given.Changed && !settled {
			continue
		}
		flag := "--" + name
		if given.Shorthand != "" {
			flag = "-" + given.Shorthand
		}
		if given.Value.Type() == "bool" {
			words = append(words, flag)
			continue
		}
		for _, v := range values(given) {
			if variable, _, ok := strings.Cut(v, "="); ok && name == "var" {
				if _, secret := a.Secrets[variable]; secret {
					v = variable + "=..."
				}
			}
			words = append(words, flag, shellwords.Quote(v))
		}
	}
	return strings.Join(words, " ")
}

func understands(cmd *cobra.Command, flag string) bool {
	return cmd.Flags().Lookup(flag) != nil || cmd.InheritedFlags().Lookup(flag) != nil
}

func values(f *pflag.Flag) []string {
	if many, ok := f.Value.(pflag.SliceValue); ok {
		return many.GetSlice()
	}
	return []string{f.Value.String()}
}
