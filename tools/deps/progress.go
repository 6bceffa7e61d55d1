package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// progress shows what one part is doing: one line that changes on a terminal, plain lines with pauses elsewhere.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	name     string
	terminal bool
	every    time.Duration // between plain lines
	last     time.Time
}

func newProgress(out io.Writer, name string) *progress {
	p := &progress{out: out, name: name, every: 15 * time.Second, last: time.Now()}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	return p
}

// line prints a line that stays.
func (p *progress) line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.out, "%s: %s\n", p.name, fmt.Sprintf(format, args...))
	p.last = time.Now()
}

// state shows a state that the next one replaces; away from a terminal most states are left out.
func (p *progress) state(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.name + ": " + fmt.Sprintf(format, args...)
	if p.terminal {
		if len(text) > 79 {
			text = text[:79]
		}
		p.clear()
		fmt.Fprint(p.out, text)
		return
	}
	if time.Since(p.last) >= p.every {
		fmt.Fprintln(p.out, text)
		p.last = time.Now()
	}
}

// clear removes a state from the terminal's line, this process's or that of one which installs another part beside it.
// The caller holds p.mu.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", 79))
	}
}

// megabytes writes a size as a person reads it.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
