package session

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/modules"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/step"
)

// Session is one command's view of a pipeline and its stores: what was asked for, and what was read.
type Session struct {
	Talk     // Quiet tells nobody
	Registry *step.Registry
	Log      *slog.Logger
	// Hint is a command of this program to copy; nil: none are named.
	Hint func(verb string, args ...string) string

	File         string
	NamesFile    bool // the command has a flag for File
	Vars         []string
	VarFiles     []string
	Weaker       []pipeline.File // values of variables, weaker than all others'; of tests
	Targets      []string
	StoreURL     string
	StoreFrom    string // what gave StoreURL
	StateDir     string
	Profile      string // of the settings
	ProfileGiven bool   // on the command line
	Lock         string // the lock file; "": the one beside the pipeline
	Local        Local
	Others       OtherStores
	Lint         bool
	Update       func(repository string) bool // which modules to read from their repositories; nil: none
	On           *rates.Rates                 // a device that models are priced on; nil: this machine's
	Explains     bool                         // Unkeyed will be asked of a plan's steps
	Partial      bool                         // a plan may leave out steps whose source or program is missing
	Lacks        error                        // which, and that they were left out

	// Of the pipeline that was read.
	Results   pipeline.Results
	Secrets   map[string]string // sensitive variables
	Modules   *modules.Reader
	Variables map[string]string // to show
	Published []pipeline.Publish

	Belief     *belief.Belief // of the newest preview
	asItStands bool           // see AsItStands
	libraries  planLibraries  // of all plans
	read       sync.Map       // FilesRead
}

// FilesRead lists the files that plans have read: of pipelines, local sources and programs.
func (se *Session) FilesRead() (files []string) {
	for name := range se.read.Range {
		files = append(files, name.(string))
	}
	return files
}

// Talk tells a person what goes on.
type Talk interface {
	// Say says a sentence that matters now.
	Say(text string)
	// Waiting says what is waited for, once that has taken a while, until over is called.
	Waiting(what string) (over func())
	// Reading makes a context in which reading files reports its progress.
	Reading(ctx context.Context, what string) (_ context.Context, over func())
	// Copying shows how many bytes have been copied, until over is called; a total of 0 is unknown.
	Copying(what string, total int64) (add func(n int64), over func())
	// Ask asks a question at the terminal; "": there is none, or no answer.
	Ask(ctx context.Context, question string) (answer string)
	// Diagnostics shows diagnostics of a pipeline or its settings; it fails if these cannot be used.
	Diagnostics(ds pipeline.Diagnostics) error
}

type Quiet struct{}

func (Quiet) Say(string)                                                      {}
func (Quiet) Waiting(string) func()                                           { return func() {} }
func (Quiet) Reading(ctx context.Context, _ string) (context.Context, func()) { return ctx, func() {} }
func (Quiet) Copying(string, int64) (func(int64), func())                     { return func(int64) {}, func() {} }
func (Quiet) Ask(context.Context, string) string                              { return "" }
func (Quiet) Diagnostics(ds pipeline.Diagnostics) error                       { return ds.Err() }

// ToRun is the command that runs these targets; with none, everything.
func (se *Session) ToRun(targets ...string) string {
	if se.Hint == nil {
		return "redsi run"
	}
	return se.Hint("run", TargetFlags(targets)...)
}

func TargetFlags(targets []string) (args []string) {
	for _, t := range targets {
		args = append(args, "--target", t)
	}
	return args
}

// CacheDir keeps local copies of remote blobs and partial downloads.
func (se *Session) CacheDir() string { return filepath.Join(se.StateDir, "cache") }
