package cli

import (
	"io"
	"io/fs"
	"sync"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
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

// Paper is the whole pipeline of a paper, which redsi init --paper writes. Without a name it is none.
type Paper struct {
	Name  string
	Files fs.FS
	More  map[string][]byte // files by their paths that the program has elsewhere
	Try   string            // the command to begin with
}

// sayer prints messages for a person: directly to the terminal, or through what is drawing
// there.
type sayer struct {
	mu   sync.Mutex
	w    io.Writer
	draw func(string)
}

func (s *sayer) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draw != nil {
		s.draw(text)
		return
	}
	view.Println(s.w, text)
}

// through sends messages to draw, until it is called with nil.
func (s *sayer) through(draw func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw = draw
}
