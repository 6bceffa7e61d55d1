package view

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/redsi/redsi/internal/system/escape"
)

// Screen keeps a block of lines below everything written to a terminal. Without a block it only orders writes.
// It is for several goroutines.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	block []Shown
	drawn int // lines of the block on the terminal
}

func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Fd and Read let libraries find out whether the file below the screen is a terminal.
func (s *Screen) Fd() uintptr {
	if f, ok := s.w.(*os.File); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

func (s *Screen) Read([]byte) (int, error) { return 0, io.EOF }

// Write writes above the block.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	n, err := s.w.Write(p)
	if bytes.HasSuffix(p, []byte("\n")) { // else the line continues
		s.draw()
	}
	return n, err
}

// Show draws a new block; without lines, none. No line may be wider than the terminal.
func (s *Screen) Show(block []Shown) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.block = block
	s.draw()
}

func (s *Screen) clear() {
	if s.drawn > 0 {
		fmt.Fprintf(s.w, "\x1b[%dA\x1b[J", s.drawn)
		s.drawn = 0
	}
}

func (s *Screen) draw() {
	for _, line := range s.block {
		Println(s.w, line)
	}
	s.drawn = len(s.block)
}

// Waiting is a block that says what a command waits for and for how long, on a terminal of so many columns.
func Waiting(what string, since time.Duration, width int) []Shown {
	what, took := escape.Line(what), Seconds(since)
	room := width - 1 - len("…  ") - ansi.StringWidth(took)
	return []Shown{fit(Shown{"… " + ansi.Truncate(what, max(room, 0), "…") + "  " + took}, width-1)}
}
