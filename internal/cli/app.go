package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

// app is what all verbs share: the session, the outputs, and the terminal.
type app struct {
	*drive.Driver
	cmd      *cobra.Command // the verb that is running
	Out      io.Writer
	Err      *view.Screen                // without a terminal, only in the order in which lines are written
	progress string                      // how runs are shown
	events   *view.Events                // nil: for people
	followed atomic.Pointer[view.Events] // events, while they show a run; nil: none are shown
	paper    Paper

	JSON     bool
	LogLevel string
}

// Say, Waiting, Reading, Copying and Diagnostics are what a session says, on this terminal.
func (a *app) Say(text string) {
	if e := a.followed.Load(); e != nil {
		e.Say(text)
		return
	}
	view.Println(a.Err, text)
}

// Paper is the pipeline of a paper, which redsi init --paper writes. Without a name there is no paper.
type Paper struct {
	Name  string
	Files fs.FS
	More  map[string][]byte // files by their paths that the program has elsewhere
	Try   string            // the command to begin with
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

// writeForm writes one form of a result to a file, or to standard output.
func (a *app) writeForm(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	if path == "-" {
		var b strings.Builder
		if err := write(&b); err != nil {
			return err
		}
		view.Printf(a.Out, "%s", view.Document(b.String()))
		return nil
	}
	if err := atomicfile.Write(path, 0o644, write); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// print prints a result, as JSON if that was asked for, else as text; or returns the error that there is in place of the result.
func (a *app) print(v any, err error, text func(w io.Writer)) error {
	switch {
	case err != nil:
		return err
	case a.JSON:
		return view.WriteJSON(a.Out, v)
	}
	text(a.Out)
	return nil
}

// Waiting says what a command waits for, once that has taken a while, until over is called.
func (a *app) Waiting(what string) (over func()) {
	return a.waitingFor(func() string { return what })
}

// waitingFor is Waiting with a changing text, which a terminal shows every second.
func (a *app) waitingFor(what func() string) (over func()) {
	patience := a.Delays.Silent
	if patience == 0 { // in tests
		return func() {}
	}
	done := make(chan struct{})
	began := time.Now()
	var telling sync.WaitGroup
	telling.Go(func() {
		next := time.NewTimer(patience)
		defer next.Stop()
		for {
			select {
			case <-done:
				a.Err.Show(nil)
				return
			case <-next.C:
			}
			width := terminal(a.Err)
			if width == 0 {
				a.Say(what() + " …")
				next.Reset(patience)
				continue
			}
			a.Err.Show(view.Waiting(what(), time.Since(began), width))
			next.Reset(time.Second)
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		telling.Wait()
	})
}

// Reading makes a context in which reading files reports its progress.
func (a *app) Reading(ctx context.Context, what string) (_ context.Context, over func()) {
	var mu sync.Mutex
	var files int
	var last step.Progress
	ctx = step.WithReporter(ctx, func(p step.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Note != last.Note {
			files++
		}
		last = p
	})
	return ctx, a.waitingFor(func() string {
		mu.Lock()
		defer mu.Unlock()
		if files == 0 {
			return what
		}
		return fmt.Sprintf("%s: %s read, %s", what, view.Count(files-1, "file"), view.Progress(last, 0))
	})
}

// telling shows how far upkeep is, once that has taken a while, until over is called.
func (a *app) telling(what string) (tell artifacts.Tell, over func()) {
	var mu sync.Mutex
	last, began := step.Progress{Note: what}, time.Now()
	tell = func(what string, done, total int64, unit string) {
		mu.Lock()
		defer mu.Unlock()
		if what != last.Note {
			began = time.Now()
		} else if done < last.Done {
			return // another goroutine was faster
		}
		last = step.Progress{Note: what, Done: done, Total: total, Unit: unit}
	}
	return tell, a.waitingFor(func() string {
		mu.Lock()
		defer mu.Unlock()
		return view.Progress(last, time.Since(began))
	})
}

// Copying shows on a terminal, once copying has taken a while, how many bytes have been copied, until over is called.
func (a *app) Copying(what string, total int64) (add func(n int64), over func()) {
	if terminal(a.Err) == 0 || a.JSON {
		return func(int64) {}, func() {}
	}
	var done atomic.Int64
	return func(n int64) { done.Add(n) }, a.waitingFor(func() string {
		return what + " " + view.Progress(step.Progress{Done: done.Load(), Total: total, Unit: "bytes"}, 0)
	})
}

// Diagnostics prints diagnostics of a pipeline; an error if the pipeline cannot be used.
func (a *app) Diagnostics(ds pipeline.Diagnostics) error {
	var err error
	if ds.HasErrors() && a.JSON {
		var text strings.Builder
		_ = ds.Write(&text, pipeline.Style{}) // a Builder never fails
		err = view.WriteJSON(a.Out, map[string]any{"diagnostics": ds, "text": text.String()})
	} else {
		err = a.printDiagnostics(ds)
	}
	if err == nil && ds.HasErrors() {
		err = fault.Printed(fault.CodeInput)
	}
	return err
}

func (a *app) printDiagnostics(ds pipeline.Diagnostics) error {
	if len(ds.List) == 0 {
		return nil
	}
	err := ds.Write(a.Err, pipeline.Style{Width: min(terminal(a.Err), 100), Color: a.style(a.Err).Color})
	if n, _ := ds.Count(); n > 0 {
		view.Printf(a.Err, "%s: %s\n", a.File, ds.Summary())
		undeclared := slices.ContainsFunc(ds.List, func(d *hcl.Diagnostic) bool { return strings.HasPrefix(d.Summary, "Undeclared ") })
		if around := syntax.Around(a.File); undeclared && around != "" {
			view.Printf(a.Err, "%s was read on its own. To read it as part of the pipeline in its folder: -f %s\n", a.File, around)
		}
	}
	return err
}
