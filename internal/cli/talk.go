package cli

import (
	"context"
	"io"
	"time"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
)

// talk is what a session says, on the terminal of its command.
type talk struct{ a *app }

func (t talk) Say(text string) { t.a.say(text) }

func (t talk) Waiting(what string) (over func()) { return t.a.waiting(what) }

func (t talk) Reading(ctx context.Context, what string) (_ context.Context, over func()) {
	return t.a.hashing(ctx, what)
}

func (t talk) Copying(what string, total int64) (add func(n int64), over func()) {
	m := &meter{a: t.a, what: what, total: total, shown: time.Now()}
	return m.add, m.close
}

func (t talk) Diagnostics(ds pipeline.Diagnostics) error { return t.a.printLoaded(ds) }

// newApp is an app that talks for its session.
func newApp(s *session.Session, out, errw io.Writer) *app {
	a := &app{Driver: &drive.Driver{Session: s}, Out: out, Err: errw}
	a.Talk, a.Hint, a.Patience, a.Show = talk{a}, a.hint, a.patience, a.show
	return a
}

// print prints a result: as JSON if that was asked for, else as text.
func (a *app) print(v any, text func(w io.Writer)) error {
	if a.JSON {
		return view.WriteJSON(a.Out, v)
	}
	text(a.Out)
	return nil
}
