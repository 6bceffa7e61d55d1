package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

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

// printed prints a result, or returns the error that there is in its place.
func (a *app) printed(v any, err error, text func(w io.Writer)) error {
	if err != nil {
		return err
	}
	return a.print(v, text)
}

// print prints a result: as JSON if that was asked for, else as text.
func (a *app) print(v any, text func(w io.Writer)) error {
	if a.JSON {
		return view.WriteJSON(a.Out, v)
	}
	text(a.Out)
	return nil
}
