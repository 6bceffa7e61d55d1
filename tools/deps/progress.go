package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// board shows what parts are doing: on a terminal a line for each, below the lines that stay; elsewhere plain lines,
// with pauses.
type board struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	every    time.Duration // between a part's plain lines
	rows     []*progress   // parts with a state, in the order of their beginning
	drawn    int           // lines of the terminal that hold states
	held     bool          // another program has the terminal
	kept     []string      // lines to be printed when it ends
}

// progress is one part's share of the board.
type progress struct {
	board *board
	name  string
	text  string // the present state, "" for none
	last  time.Time
}

func newBoard(out io.Writer) *board {
	b := &board{out: out, every: 15 * time.Second}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	return b
}

func (b *board) part(name string) *progress {
	return &progress{board: b, name: name, last: time.Now()}
}

// line prints a line that stays.
func (b *board) line(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.print("redsi: " + fmt.Sprintf(format, args...))
}

// hold leaves the terminal to another program until release, which prints the lines that were held back.
func (b *board) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
}

func (b *board) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = false
	b.print(strings.Join(b.kept, "\n"))
	b.kept = nil
}

func (b *board) holds() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// line prints a line that stays; the part's state ends.
func (p *progress) line(format string, args ...any) {
	p.board.mu.Lock()
	defer p.board.mu.Unlock()
	p.last = time.Now()
	p.drop()
	p.board.print(p.name + ": " + fmt.Sprintf(format, args...))
}

// state shows a state, in place of the last one; away from a terminal most states are left out.
func (p *progress) state(format string, args ...any) {
	b := p.board
	b.mu.Lock()
	defer b.mu.Unlock()
	text := p.name + ": " + fmt.Sprintf(format, args...)
	if !b.terminal {
		if !b.held && time.Since(p.last) >= b.every {
			fmt.Fprintln(b.out, text)
			p.last = time.Now()
		}
		return
	}
	if p.text == "" {
		b.rows = append(b.rows, p)
	}
	p.text = text
	b.print("")
}

// end removes the part's state.
func (p *progress) end() {
	p.board.mu.Lock()
	defer p.board.mu.Unlock()
	p.drop()
	p.board.print("")
}

// during shows what f does, and for how long, while it does it.
func (p *progress) during(what string, f func() error) error {
	defer p.end()
	start, ended := time.Now(), make(chan error, 1)
	go func() { ended <- f() }()
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		p.state("%s, %s", what, time.Since(start).Round(time.Second))
		select {
		case err := <-ended:
			return err
		case <-ticks.C:
		}
	}
}

// drop removes the part from the rows. The caller holds board.mu.
func (p *progress) drop() {
	p.board.rows = slices.DeleteFunc(p.board.rows, func(row *progress) bool { return row == p })
	p.text = ""
}

// print writes a line, "" for none, and the states below it. The caller holds mu.
func (b *board) print(line string) {
	if b.held {
		if line != "" {
			b.kept = append(b.kept, line)
		}
		return
	}
	var text strings.Builder
	if b.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\x1b[J", b.drawn)
	}
	if line != "" {
		text.WriteString(line + "\n")
	}
	for _, row := range b.rows {
		text.WriteString(row.text[:min(len(row.text), 79)] + "\n")
	}
	b.drawn = len(b.rows)
	io.WriteString(b.out, text.String())
}

// megabytes writes a size as a person reads it.
func megabytes(n int64) string {
	switch {
	case n >= 995e6:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 10e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
