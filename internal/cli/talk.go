package cli

import (
	"io"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
)

// newApp is an app that talks for its session.
func newApp(s *session.Session, out, errw io.Writer) *app {
	a := &app{Driver: &drive.Driver{Session: s}, Out: out, Err: errw}
	a.Talk, a.Hint, a.Patience, a.Show = a, a.hint, a.patience, a.show
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
