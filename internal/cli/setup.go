package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	charm "github.com/charmbracelet/log"
	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/shellwords"
)

func newApp(s *session.Session, out, errw io.Writer) *app {
	a := &app{Driver: &drive.Driver{Session: s}, Out: out, Err: view.NewScreen(errw)}
	a.Talk, a.Hint, a.Show = a, a.hint, a.show
	return a
}

func (a *app) setup(cmd *cobra.Command) error {
	a.cmd = cmd
	a.NamesFile, a.ProfileGiven = understands(cmd, "file"), cmd.Flags().Changed("profile")
	level, err := charm.ParseLevel(a.LogLevel)
	if err != nil {
		return fault.Input(fmt.Errorf("--log-level: %w", err))
	}
	l := charm.NewWithOptions(a.Err, charm.Options{Level: level, ReportTimestamp: true, TimeFormat: time.TimeOnly})
	a.Log = slog.New(view.Log(l))
	for _, form := range []string{"markdown", "junit", "values"} {
		if f := cmd.Flags().Lookup(form); a.JSON && f != nil && f.Value.String() == "-" {
			return fault.Input(fmt.Errorf("--json and --%s - both write to standard output: give --%s a file", form, form))
		}
	}
	if err := a.setProgress(cmd); err != nil {
		return err
	}
	if readsLocal(cmd) {
		if err := a.useLocal(session.ProjectDir(cmp.Or(a.File, env("REDSI_FILE", "")))); err != nil {
			return err
		}
	}
	if a.StoreURL == "" {
		a.StoreURL = filepath.Join(a.StateDir, "store")
		there := filepath.Join(session.ProjectDir(a.File), ".redsi")
		_, here := os.Stat(a.StoreURL)
		if _, err := os.Stat(filepath.Join(there, "store")); a.StateDir == ".redsi" && here != nil && err == nil {
			a.Say("results start anew in .redsi of this folder; those beside the pipeline are found with --state " + shellwords.Quote(there))
		}
	}
	switch a.StoreFrom = "--store"; {
	case a.cmd.Flags().Changed("store"):
	case a.Local.Flags["store"]:
		a.StoreFrom = "store of " + a.Local.File
	case os.Getenv("REDSI_STORE") != "":
		a.StoreFrom = "REDSI_STORE"
	}
	return nil
}

// readsLocal reports whether a verb uses the settings of the pipeline's folder, or else of the current one. Some verbs read neither
// pipeline nor store, test must do the same on every machine, and apply and lsp learn the folder later.
func readsLocal(cmd *cobra.Command) bool {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return !cmd.Hidden && !slices.Contains([]string{"init", "fmt", "kinds", "test", "completion", "help", "apply", "lsp"}, cmd.Name())
}

// useLocal reads the settings of a folder, and sets the flags of the running verb that have no value of higher precedence.
func (a *app) useLocal(folder string) error {
	l, ds, err := a.LocalOf(folder)
	if err == nil {
		err = a.Diagnostics(ds)
	}
	if err != nil || l.File == "" {
		return err
	}
	a.Local = l
	set := func(flag, variable, value string) {
		if value != "" && a.unset(flag, variable) {
			err = errors.Join(err, a.cmd.Flags().Lookup(flag).Value.Set(value))
			l.Flags[flag] = true
		}
	}
	set("store", "REDSI_STORE", l.Beside(l.Store))
	set("state", "REDSI_STATE", l.Beside(l.State))
	if a.unset("temporal-address", "TEMPORAL_ADDRESS") && a.unset("temporal-profile", "TEMPORAL_PROFILE") { // else another cluster is meant
		set("temporal-address", "TEMPORAL_ADDRESS", l.Temporal.Address)
		set("temporal-profile", "TEMPORAL_PROFILE", l.Temporal.Profile)
		set("temporal-namespace", "TEMPORAL_NAMESPACE", l.Temporal.Namespace)
	}
	return err
}

// unset reports whether the running verb has a flag that neither the command line nor the environment sets.
func (a *app) unset(flag, variable string) bool {
	f := a.cmd.Flags().Lookup(flag)
	return f != nil && !f.Changed && os.Getenv(variable) == ""
}

// settings says in words what the settings set for the running verb; "": nothing.
func (a *app) settings() string {
	l, flags := &a.Local, a.cmd.Flags()
	words := slices.Clone(l.Vars)
	for _, name := range slices.Sorted(maps.Keys(l.Flags)) {
		words = append(words, "--"+name+" "+shellwords.Quote(flags.Lookup(name).Value.String()))
	}
	if flags.Lookup("from") != nil { // else the verb reads no other stores
		for _, address := range l.From {
			words = append(words, "--from "+shellwords.Quote(l.Beside(address)))
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
	from := l.File
	if a.Profile != "" {
		from += ", profile " + a.Profile + ","
	}
	return from + " sets " + strings.Join(words, ", ")
}

func (a *app) sayLocal() {
	if text := a.settings(); text != "" {
		a.Say(text)
	}
}
