package secret

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// LeakError says that a stream contains the value of a secret.
type LeakError struct{ Name string }

func (e *LeakError) Error() string { return fmt.Sprintf("it has the value of the secret %s", e.Name) }

// Redact replaces values in a text with [secret NAME].
func (s Set) Redact(text string) string {
	if len(s) == 0 {
		return text
	}
	var b strings.Builder
	w := s.Redactor(&b)
	_, _ = io.WriteString(w, text) // a strings.Builder does not fail
	w.Close()
	return b.String()
}

// Redactor writes a stream to w with values as [secret NAME]. Until Close it holds back what may be a value's start.
func (s Set) Redactor(w io.Writer) io.WriteCloser {
	return newStream(s, w, func(name string) error {
		_, err := fmt.Fprintf(w, "[secret %s]", name)
		return err
	})
}

// Guard writes a stream to w and fails with a *LeakError at a value, before the value's last byte reaches w.
func (s Set) Guard(w io.Writer) io.WriteCloser {
	return newStream(s, w, func(name string) error { return &LeakError{name} })
}

type stream struct {
	w     io.Writer
	ps    []pattern
	first [256]bool // bytes that values start with
	held  []byte
	found func(name string) error
	err   error
}

func newStream(s Set, w io.Writer, found func(string) error) *stream {
	st := &stream{w: w, ps: s.patterns(), found: found}
	for _, p := range st.ps {
		st.first[p.text[0]] = true
	}
	return st
}

func (s *stream) Write(b []byte) (int, error) {
	if s.err == nil {
		s.held = append(s.held, b...)
		s.err = s.pass(false)
	}
	if s.err != nil {
		return 0, s.err
	}
	return len(b), nil
}

// Close writes what was held back. It does not close w.
func (s *stream) Close() error {
	if s.err == nil {
		s.err = s.pass(true)
	}
	return s.err
}

// pass writes what cannot be part of a value any more; at the end everything.
func (s *stream) pass(end bool) error {
	b, from, i := s.held, 0, 0
	for i < len(b) {
		if !s.first[b[i]] {
			i++
			continue
		}
		name, n, open := s.at(b[i:])
		if open && !end {
			break
		}
		if n == 0 {
			i++
			continue
		}
		if err := s.flush(b[from:i]); err != nil {
			return err
		}
		if err := s.found(name); err != nil {
			return err
		}
		i += n
		from = i
	}
	if err := s.flush(b[from:i]); err != nil {
		return err
	}
	s.held = append(s.held[:0], b[i:]...)
	return nil
}

// at finds the longest value that b starts with. open says that with more bytes it may start with a longer value.
func (s *stream) at(b []byte) (name string, n int, open bool) {
	for _, p := range s.ps {
		switch {
		case len(p.text) > len(b):
			open = open || strings.HasPrefix(p.text, string(b))
		case n == 0 && bytes.HasPrefix(b, []byte(p.text)):
			name, n = p.name, len(p.text)
		}
	}
	return name, n, open
}

func (s *stream) flush(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := s.w.Write(b)
	return err
}
