package cli

import (
	"io"
	"sync"

	"github.com/redsi/redsi/internal/cli/view"
)

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
