package cli

import (
	"io"
	"sync"

	"github.com/redsi/redsi/internal/view"
)

// sayer prints what a person should know while something else is drawn: to the
// terminal directly, or through whoever draws there.
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

// through sends what is said to draw, until it is called with nil.
func (s *sayer) through(draw func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw = draw
}
