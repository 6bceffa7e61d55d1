package unpack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Lines reads lines of any length.
type Lines struct {
	br       *bufio.Reader
	line     []byte
	complete bool // every line has an end
	n        int
}

func NewLines(r io.Reader) *Lines { return &Lines{br: bufio.NewReaderSize(r, 64<<10)} }

// WholeLines reads from a text in which every line has an end: io.ErrUnexpectedEOF if the last line lacks it.
func WholeLines(r io.Reader) *Lines {
	l := NewLines(r)
	l.complete = true
	return l
}

// keepLine is the buffer that is kept from one line to the next.
const keepLine = 8 << 20

// Next returns the next line without its end, valid until the next call; io.EOF after the last.
func (l *Lines) Next() ([]byte, error) {
	if cap(l.line) > keepLine {
		l.line = nil
	}
	l.line = l.line[:0]
	for {
		part, err := l.br.ReadSlice('\n')
		l.line = append(l.line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			l.line = l.line[:len(l.line)-1]
		case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || len(l.line) == 0:
			return nil, err
		case l.complete:
			return nil, io.ErrUnexpectedEOF
		}
		l.n++
		return l.line, nil
	}
}

// Each visits the lines. Errors, also of visit, name the line.
func (l *Lines) Each(visit func(line []byte) error) error {
	for {
		line, err := l.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("line %d: %w", l.n+1, err)
		}
		if err := visit(line); err != nil {
			return fmt.Errorf("line %d: %w", l.n, err)
		}
	}
}

// Number is the number of the last line, from one; 0 before the first.
func (l *Lines) Number() int { return l.n }
