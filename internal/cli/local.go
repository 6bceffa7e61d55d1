package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/session/fault"
)

// local is what a folder's LocalFile sets, unless something of higher precedence does.
type local struct {
	pipeline.Local
	file  string          // "" if there is none
	flags map[string]bool // that it set
	vars  []string        // that it set, as NAME=VALUE; sensitive ones as NAME
}

// readsLocal reports whether a verb uses the settings of the pipeline's folder, or else of the
// current one. Some read neither pipeline nor store, test must do the same on all machines,
// and apply and lsp learn the folder later.
func readsLocal(cmd *cobra.Command) bool {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return !cmd.Hidden && !slices.Contains([]string{"init", "fmt", "kinds", "test", "completion", "help", "apply", "lsp"}, cmd.Name())
}

// localOf reads the settings of a folder. A profile given on the command line must exist; one
// from the environment applies only to folders with settings.
func (a *app) localOf(folder string) (local, pipeline.Diagnostics, error) {
	file := filepath.Join(folder, pipeline.LocalFile)
	b, err := pipeline.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.cmd.Flags().Changed("profile"):
		return local{}, pipeline.Diagnostics{}, fault.Input(fmt.Errorf("--profile %s: there is no %s", a.Profile, file))
	case errors.Is(err, fs.ErrNotExist):
		return local{}, pipeline.Diagnostics{}, nil
	case err != nil:
		return local{}, pipeline.Diagnostics{}, fault.Input(err)
	}
	l, ds := pipeline.ParseLocal(filepath.ToSlash(file), b, a.Profile)
	return local{Local: l, file: file, flags: map[string]bool{}}, ds, nil
}

// useLocal reads the settings of a folder, and sets the flags of the running verb that have
// no value of higher precedence.
func (a *app) useLocal(folder string) error {
	l, ds, err := a.localOf(folder)
	if err == nil {
		err = a.printLoaded(ds)
	}
	if err != nil || l.file == "" {
		return err
	}
	a.local = l
	set := func(flag, variable, value string) {
		if value != "" && a.unset(flag, variable) {
			err = errors.Join(err, a.cmd.Flags().Lookup(flag).Value.Set(value))
			l.flags[flag] = true
		}
	}
	set("store", "REDSI_STORE", l.beside(l.Store))
	set("state", "REDSI_STATE", l.beside(l.State))
	if a.unset("temporal-address", "TEMPORAL_ADDRESS") && a.unset("temporal-profile", "TEMPORAL_PROFILE") { // else another cluster is meant
		set("temporal-address", "TEMPORAL_ADDRESS", l.Temporal.Address)
		set("temporal-profile", "TEMPORAL_PROFILE", l.Temporal.Profile)
		set("temporal-namespace", "TEMPORAL_NAMESPACE", l.Temporal.Namespace)
	}
	return err
}

// unset reports whether the running verb has a flag that neither the command line nor the
// environment sets.
func (a *app) unset(flag, variable string) bool {
	f := a.cmd.Flags().Lookup(flag)
	return f != nil && !f.Changed && os.Getenv(variable) == ""
}

// beside is a folder that the settings name, relative to theirs.
func (l *local) beside(path string) string {
	if path == "" || filepath.IsAbs(path) || strings.Contains(path, "://") || path == "mem:" {
		return path
	}
	return filepath.Join(filepath.Dir(l.file), path)
}

// sets says in words what the settings set; "": nothing.
func (l *local) sets(flags *pflag.FlagSet, profile string) string {
	words := slices.Clone(l.vars)
	for _, name := range slices.Sorted(maps.Keys(l.flags)) {
		words = append(words, "--"+name+" "+quoted(flags.Lookup(name).Value.String()))
	}
	if flags.Lookup("from") != nil { // else the verb reads no other stores
		for _, address := range l.From {
			words = append(words, "--from "+quoted(l.beside(address)))
		}
		if l.RequireFrom {
			words = append(words, "--require-from")
		}
		if l.Untrusted != "" && !flags.Changed("untrusted") {
			words = append(words, "--untrusted "+l.Untrusted)
		}
	}
	if len(words) == 0 {
		return ""
	}
	from := l.file
	if profile != "" {
		from += ", profile " + profile + ","
	}
	return from + " sets " + strings.Join(words, ", ")
}

// sayLocal says what the settings set for a plan or run.
func (a *app) sayLocal() {
	if a.local.file == "" {
		return
	}
	if text := a.local.sets(a.cmd.Flags(), a.Profile); text != "" {
		a.say(text)
	}
}

// gave records which variables of a pipeline the settings set.
func (l *local) gave(p *pipeline.Pipeline) {
	l.vars = nil
	for _, name := range p.Local {
		if value, ok := p.Inputs()[name]; ok {
			name += "=" + value
		}
		l.vars = append(l.vars, quoted(name))
	}
}
