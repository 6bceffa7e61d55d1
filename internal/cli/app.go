package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	charm "github.com/charmbracelet/log"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/open"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/modules"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/step"
)

// app is what all verbs share: the kinds, the outputs, and the flags.
type app struct {
	Registry *step.Registry
	cmd      *cobra.Command // the verb that is running
	Out, Err io.Writer
	Log      *slog.Logger
	sayer    sayer

	JSON     bool
	File     string
	Vars     []string
	VarFiles []string
	varFiles []pipeline.File // besides, and weaker; of tests
	Targets  []string
	StoreURL string
	others   othersOptions
	whose    pipeline.Results  // of the pipeline that was read
	belief   *belief           // of the newest preview
	secrets  map[string]string // sensitive variables of the pipeline that was read
	modules  *modules.Reader   // of the pipeline that was read
	update   func(repository string) bool
	lint     bool
	StateDir string
	Profile  string // of the settings
	local    local
	LogLevel string

	variables map[string]string // of the pipeline that was read, to show
	libraries planLibraries     // of all plans

	lock string // the lock file; "": the one beside the pipeline

	partial bool  // a plan may leave out steps whose source or program is missing
	lacks   error // which, and that they were left out

	scratch *scratch.Area // once steps may run here
	second  *compute.Pool // likewise
	meter   *usage.Meter  // likewise

	metricsAddress string
	telemetry      *telemetry.Telemetry // once something is shown

	watched watched // runs that are followed
	waits   waits
}

// say tells the person at the terminal something they should know now.
func (a *app) say(text string) { a.sayer.say(text) }

// globalFlags are understood by every verb.
func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.BoolVar(&a.JSON, "json", false, "print the result as JSON")
	f.StringVar(&a.LogLevel, "log-level", env("REDSI_LOG_LEVEL", "info"), "debug, info, warn or error; logs go to stderr")
	f.StringVar(&a.StateDir, "state", env("REDSI_STATE", ".redsi"), "folder for the default store, the embedded server and caches")
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
	f.StringArrayVar(&a.VarFiles, "var-file", nil, "file of variables; may be repeated")
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
	level, err := charm.ParseLevel(a.LogLevel)
	if err != nil {
		return fault.Input(fmt.Errorf("--log-level: %w", err))
	}
	l := charm.NewWithOptions(a.Err, charm.Options{Level: level, ReportTimestamp: true, TimeFormat: time.TimeOnly})
	a.Log = slog.New(view.Log(l))
	a.sayer.w = a.Err
	if readsLocal(cmd) {
		if err := a.useLocal(projectDir(cmp.Or(a.File, env("REDSI_FILE", "")))); err != nil {
			return err
		}
	}
	if a.StoreURL == "" {
		a.StoreURL = filepath.Join(a.StateDir, "store")
	}
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

// cacheDir keeps local copies of remote blobs and partial downloads.
func (a *app) cacheDir() string { return filepath.Join(a.StateDir, "cache") }

// openStore opens the store, with the other stores behind it that the pipeline and the flags
// name.
func (a *app) openStore(ctx context.Context) (artifacts.Store, error) {
	own, err := a.openOwn(ctx)
	if err != nil {
		return own, err
	}
	return a.withOthers(ctx, own)
}

// openOwn opens the store alone, which may have addresses of blobs elsewhere.
func (a *app) openOwn(ctx context.Context) (artifacts.Store, error) {
	defer a.waiting("waiting for the store")()
	s, err := open.Store(ctx, a.StoreURL, open.Options{})
	var other *artifacts.AddressError
	switch {
	case errors.As(err, &other):
		return s, fault.Input(fmt.Errorf("%s: %w: give --store %s", a.storeFrom(), err, quoted(other.URL)))
	case err != nil:
		return s, fault.Input(fmt.Errorf("%s: %w", a.storeFrom(), err))
	}
	return a.following(s), nil
}

// storeFrom says where the store's address comes from.
func (a *app) storeFrom() string {
	switch {
	case a.cmd == nil || a.cmd.Flags().Changed("store"):
	case a.local.flags["store"]:
		return "store of " + a.local.file
	case os.Getenv("REDSI_STORE") != "":
		return "REDSI_STORE"
	}
	return "--store"
}

// projectDir is the folder of the pipeline: the lock file is there, and local
// sources are relative to it.
func projectDir(file string) string {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return file
	}
	return filepath.Dir(file)
}

// loadPlan reads the pipeline, fills in what is pinned and selects the targets.
func (a *app) loadPlan(ctx context.Context) (*plan.Plan, *pipeline.Pipeline, error) {
	over := a.waiting("reading the pipeline and its modules")
	p, err := a.Load(ctx)
	over()
	if err != nil {
		return nil, nil, err
	}
	a.variables = shownVariables(p)
	pl, err := a.planOf(ctx, p, a.File, a.Targets)
	return pl, p, err
}

// targetError adds to an error about targets how to see what there is.
func (a *app) targetError(err error) error {
	var unknown *plan.UnknownTarget
	if errors.As(err, &unknown) && unknown.Near == "" && a.cmd != nil && understands(a.cmd, "file") {
		err = fmt.Errorf("%w; `%s` lists them", err, a.hint("plan", "--all"))
	}
	return fault.Input(err)
}

// lockFile is beside the pipeline.
func (a *app) lockFile() string { return a.lockOf(a.File) }

func (a *app) lockOf(file string) string {
	if a.lock != "" {
		return a.lock
	}
	return filepath.Join(projectDir(file), lockfile.Name)
}

// project is the id of the pipeline's project; "": none.
func (a *app) project() string {
	f, err := lockfile.Read(a.lockFile())
	if err != nil {
		return ""
	}
	return f.Project
}

// memoFile remembers the checksums of local files.
func (a *app) memoFile() string { return filepath.Join(a.StateDir, "digests.json") }

func (a *app) planOf(ctx context.Context, p *pipeline.Pipeline, file string, targets []string) (*plan.Plan, error) {
	return a.planAgain(ctx, p, file, targets, nil)
}

// planAgain is planOf that hashes the sources and programs of some steps again, whatever
// checksums are remembered.
func (a *app) planAgain(ctx context.Context, p *pipeline.Pipeline, file string, targets, changed []string) (*plan.Plan, error) {
	pl, err := plan.Build(filepath.Base(file), p, a.Registry, targets)
	if err != nil {
		return nil, a.targetError(err)
	}
	src, err := lockfile.Open(a.lockOf(file), projectDir(file), a.memoFile())
	if err != nil {
		return nil, fault.Input(err)
	}
	sources := planSources{src, fingerprints{filepath.Join(a.StateDir, "secrets.salt"), secret.Finder{Vars: p.Secrets}}, programs{}, a.newLibraries()}
	err = a.resolve(ctx, pl, src, sources, changed)
	var un *unresolved
	if a.partial && errors.As(err, &un) {
		if rest, _ := pl.Without(func(i int) bool { return un.steps[i] }); len(rest.Steps) > 0 {
			a.lacks = fmt.Errorf("%w\nthe plan has the other %s; left out, since they need this: %s", err, view.Count(len(rest.Steps), "step"), view.Count(len(pl.Steps)-len(rest.Steps), "step"))
			return rest, nil
		}
	}
	return pl, err
}

// unresolved names the steps whose source or program is missing, and says why.
type unresolved struct {
	error
	steps map[int]bool
}

func (e *unresolved) Unwrap() error { return e.error }

// resolve fills in what is known of the sources and programs of a plan's steps: sources
// answers, of the files of src.
func (a *app) resolve(ctx context.Context, pl *plan.Plan, src *lockfile.Sources, sources step.Sources, changed []string) error {
	ctx, over := a.hashing(ctx, "planning")
	defer over()
	var problems []error
	missing := map[int]bool{}
	for i, s := range pl.Steps {
		src.HashAgain(slices.Contains(changed, s.Address))
		if err := src.From(filepath.Dir(filepath.FromSlash(s.Pos.File))); err != nil {
			return fault.Input(err)
		}
		t, err := a.Registry.Resolved(ctx, sources, s.Task)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s:%d: %s: %w", s.Pos.File, s.Pos.Line, s.Address, err))
			missing[i] = true
			continue
		}
		pl.Steps[i].Task = t
	}
	if len(problems) > 0 {
		return fault.Input(&unresolved{errors.Join(problems...), missing})
	}
	if err := errors.Join(src.Save(), a.libraries.memory.Save()); err != nil {
		a.Log.Warn("checksums of local files could not be saved", "err", err)
	}
	return nil
}
