package view

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/escape"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Live shows a run while it goes on. On a terminal it keeps a block of the
// running steps below the lines of finished ones; elsewhere it prints a line
// whenever a step starts or ends, and a running step's progress now and then.
type Live struct {
	w        io.Writer
	st       Style
	terminal bool
	width    int

	seen   map[string]workflows.Status
	drawn  int // lines of the block on the screen
	said   map[string]time.Time
	began  map[string]time.Time
	resume bool // the first state: hits are counted, not listed
}

// NewLive makes a view that writes to w; width is that of the terminal, 0 where
// there is none.
func NewLive(w io.Writer, st Style, width int) *Live {
	return &Live{w: w, st: st, terminal: width > 0, width: width,
		seen: map[string]workflows.Status{}, said: map[string]time.Time{}, began: map[string]time.Time{}, resume: true}
}

// progressEvery is how often a running step says how far it is where there is
// no terminal.
const progressEvery = 15 * time.Second

// Update shows a new state. Progress is by address, for running steps.
func (l *Live) Update(s workflows.State, progress map[string]step.Progress, now time.Time) {
	l.clear()
	l.news(s, now)
	if l.terminal {
		l.block(s, progress, now)
	} else {
		l.murmur(s, progress, now)
	}
}

// Say prints a line of its own above the running steps, which the next Update
// draws again.
func (l *Live) Say(text string) {
	l.clear()
	Println(l.w, text)
}

func (l *Live) news(s workflows.State, now time.Time) {
	hits := 0
	for _, x := range s.Steps {
		if l.seen[x.Address] == x.Status {
			continue
		}
		l.seen[x.Address] = x.Status
		switch x.Status {
		case workflows.Running:
			l.began[x.Address] = now
			if !l.terminal {
				l.line("run", "RUN", x.Address, shared(x))
			}
		case workflows.Ran:
			l.line("ran", "DONE", x.Address, Seconds(duration(x.TookS)))
		case workflows.Failed:
			l.line("failed", "FAIL", x.Address, x.Error)
		case workflows.Skipped:
			l.line("skipped", "SKIP", x.Address, x.Error)
		case workflows.Hit:
			if hits++; !l.resume {
				l.line("hit", "HIT", x.Address, Seconds(duration(x.TookS))+" when it ran")
			}
		}
	}
	if l.resume && hits > 0 {
		Printf(l.w, "%s  %d steps have results already\n", l.st.Outcome("hit", "HIT"), hits)
	}
	if len(s.Steps) > 0 {
		l.resume = false
	}
}

func (l *Live) line(outcome, word, address, note string) {
	Printf(l.w, "%s  %s  %s\n", l.st.Outcome(outcome, word), address, l.st.DimLines(note))
}

func shared(x workflows.StepState) string {
	if x.Shared {
		return "shared with another run"
	}
	return ""
}

func duration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// block draws the running steps and the count of what is left.
func (l *Live) block(s workflows.State, progress map[string]step.Progress, now time.Time) {
	const most = 8
	var lines []Shown
	waiting, running := 0, 0
	for _, x := range s.Steps {
		switch x.Status {
		case workflows.Waiting:
			waiting++
		case workflows.Running:
			if running++; running <= most {
				lines = append(lines, l.running(x, progress[x.Address], now))
			}
		}
	}
	if running > most {
		lines = append(lines, Document(fmt.Sprintf("       … and %d more", running-most)))
	}
	lines = append(lines, l.st.Dim(fmt.Sprintf("       %d running, %d to do of %d", running, waiting, len(s.Steps))))
	for _, t := range lines {
		Println(l.w, fit(t, l.width-1)) // a terminal may wrap behind its last column
	}
	l.drawn = len(lines)
}

func (l *Live) running(x workflows.StepState, p step.Progress, now time.Time) Shown {
	note := Seconds(now.Sub(l.began[x.Address]))
	if t := Progress(p, now.Sub(l.began[x.Address])); t != "" {
		note += "  " + t
	}
	return Shown{l.st.Outcome("running", "…").text + "  " + escape.Line(x.Address+"  "+note)}
}

// Progress prints how far a step is, with the time that is left if it is known
// how much there is.
func Progress(p step.Progress, elapsed time.Duration) string {
	var b strings.Builder
	amount := func(n int64) string {
		if p.Unit == "bytes" {
			return Size(n)
		}
		return fmt.Sprintf("%d", n)
	}
	switch {
	case p.Total > 0:
		fmt.Fprintf(&b, "%3.0f %%  %s of %s", 100*float64(p.Done)/float64(p.Total), amount(p.Done), amount(p.Total))
	case p.Done > 0:
		b.WriteString(amount(p.Done))
	}
	if b.Len() > 0 && p.Unit != "bytes" && p.Unit != "" {
		b.WriteString(" " + p.Unit)
	}
	switch {
	case p.LeftS > 0:
		fmt.Fprintf(&b, ", %s left", Seconds(duration(p.LeftS)))
	case p.Total > p.Done && p.Done > 0 && elapsed > 3*time.Second:
		left := time.Duration(float64(elapsed) * float64(p.Total-p.Done) / float64(p.Done))
		fmt.Fprintf(&b, ", %s left", Seconds(left))
	}
	if p.Note != "" {
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		b.WriteString(p.Note)
	}
	return b.String()
}

func (l *Live) murmur(s workflows.State, progress map[string]step.Progress, now time.Time) {
	var addresses []string
	for _, x := range s.Steps {
		if x.Status == workflows.Running {
			addresses = append(addresses, x.Address)
		}
	}
	sort.Strings(addresses)
	for _, a := range addresses {
		last, ok := l.said[a]
		if !ok {
			l.said[a] = now
			continue
		}
		if t := Progress(progress[a], now.Sub(l.began[a])); t != "" && now.Sub(last) >= progressEvery {
			l.said[a] = now
			l.line("running", "…", a, t)
		}
	}
}

func (l *Live) clear() {
	if l.drawn > 0 {
		fmt.Fprintf(l.w, "\x1b[%dA\x1b[J", l.drawn)
		l.drawn = 0
	}
}

// Close removes the block.
func (l *Live) Close() { l.clear() }
