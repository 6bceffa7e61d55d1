//go:build linux

package main

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// output is what a process has said, and how long it was ever silent.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	last    time.Time
	longest silence
	stopped time.Time // when it was stopped and cannot speak; zero while it can
}

// silence is a time without a word.
type silence struct {
	Length time.Duration
	After  string // the last line before it
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pause(time.Now())
	o.text.Write(b)
	return len(b), nil
}

// pause counts the silence up to now.
func (o *output) pause(now time.Time) {
	if d := now.Sub(o.last); d > o.longest.Length {
		o.longest = silence{d, o.tail(1)}
	}
	o.last = now
}

// freeze and thaw leave out the time in which the process was stopped.
func (o *output) freeze() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pause(time.Now())
	o.stopped = time.Now()
}

func (o *output) thaw() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.stopped = time.Now(), time.Time{}
}

// end counts the silence before the process ended, or up to now.
func (o *output) end(at time.Time) silence {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped.IsZero() {
		o.pause(at)
	}
	return o.longest
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// done is how many steps were said to have ended well.
func (o *output) done() int {
	s := o.String()
	return strings.Count(s, "DONE  ") + strings.Count(s, "HIT  step.")
}

// tail is the last n lines.
func (o *output) tail(n int) string {
	lines := strings.Split(strings.TrimRight(o.text.String(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
