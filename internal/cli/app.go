package cli

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	charm "github.com/charmbracelet/log"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/shellwords"
)

// app is what all verbs share: the session, the outputs, and the terminal.
type app struct {
	*drive.Driver
	cmd      *cobra.Command // the verb that is running
	Out, Err io.Writer
	sayer    sayer
	progress string       // how runs are shown
	events   *view.Events // nil: for people
	paper    Paper

	JSON     bool
	LogLevel string
}

// Say, Waiting, Reading, Copying and Diagnostics are what a session says, on this terminal.
func (a *app) Say(text string) { a.sayer.say(text) }

// globalFlags are understood by every verb.
func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.BoolVar(&a.JSON, "json", false, "print the result as JSON")
	f.StringVar(&a.LogLevel, "log-level", env("REDSI_LOG_LEVEL", "info"), "debug, info, warn or error; logs go to stderr")
	f.StringVar(&a.StateDir, "state", env("REDSI_STATE", ".redsi"), "folder for the default store, the embedded server and caches, relative to the current folder")
	f.StringVar(&a.Profile, "profile", env("REDSI_PROFILE", ""), "profile of "+pipeline.LocalFile+", the settings beside the pipeline")
	f.StringVar(&a.StoreURL, "store", env("REDSI_STORE", ""), "where results live: a folder, or s3://bucket/prefix?endpoint=HOST:PORT (default STATE/store)")
}

// pipelineFlags are the flags of verbs that read a pipeline.
func (a *app) pipelineFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&a.File, "file", "f", env("REDSI_FILE", "pipelines.hcl"), "pipeline: a folder of .hcl files, for which its pipelines.hcl stands, or one other .hcl file")
	a.variableFlags(cmd)
}

func (a *app) variableFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.Vars, "var", nil, "variable as NAME=VALUE; may be repeated")
	f.StringArrayVar(&a.VarFiles, "var-file", nil, "file of variables in HCL, JSON, YAML or TOML; may be repeated")
}

func (a *app) targetFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&a.Targets, "target", "t", nil, `build only this and what it needs: table.NAME, step.KIND.NAME["key"]; may be repeated`)
}

func env(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
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
	a.sayer.w = a.Err
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
	a.StoreFrom = a.storeFrom()
	return nil
}

// terminal is the width of w's terminal; 0 if it is not one.
func terminal(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		return 80
	}
	return width
}

func (a *app) style(w io.Writer) view.Style {
	return view.Style{Color: terminal(w) > 0 && os.Getenv("NO_COLOR") == ""}
}

// storeFrom says what gave the store's address.
func (a *app) storeFrom() string {
	switch {
	case a.cmd.Flags().Changed("store"):
	case a.Local.Flags["store"]:
		return "store of " + a.Local.File
	case os.Getenv("REDSI_STORE") != "":
		return "REDSI_STORE"
	}
	return "--store"
}
