// Package spool keeps lists of bytes that need not be in memory.
package spool

import (
	"io"
	"os"
	"slices"
)

// most is how many bytes a List holds before it writes them to its file.
const most = 1 << 15

// List is a list of bytes that is written from its beginning to its end and then read anywhere. A short list is in
// memory, a longer list in a file. Its first error stays, and what it could not keep is read as zeros.
type List struct {
	folder func() (string, error)
	file   *os.File // nil: all is held; the runtime closes it when the List is garbage
	held   []byte   // while the list is written, what is not in the file yet; then what was read last
	at     int64    // where held begins
	size   int64
	err    error
}

// New returns an empty list. folder returns the folder for its file, which the caller removes.
func New(folder func() (string, error)) List { return List{folder: folder} }

// Size returns how many bytes were written.
func (s *List) Size() int64 { return s.size }

// Err returns the first error of the disk.
func (s *List) Err() error { return s.err }

// Write appends b, which it copies.
func (s *List) Write(b []byte) {
	if len(s.held) > 0 && len(s.held)+len(b) > most {
		s.flush()
	}
	s.held, s.size = append(s.held, b...), s.size+int64(len(b))
}

func (s *List) flush() {
	if s.file == nil && s.err == nil {
		var dir string
		if dir, s.err = s.folder(); s.err == nil {
			s.file, s.err = os.CreateTemp(dir, "spool-")
		}
	}
	if s.err == nil {
		_, s.err = s.file.Write(s.held)
	}
	s.held, s.at = s.held[:0], s.size
}

// End is called between the last write and the first read.
func (s *List) End() error {
	if s.file != nil {
		s.flush()
	}
	return s.err
}

// Read returns n bytes, which the next Read may overwrite. From a file it reads up to ahead bytes at once.
func (s *List) Read(from int64, n, ahead int) []byte {
	if from < s.at || from+int64(n) > s.at+int64(len(s.held)) {
		size := max(n, int(min(int64(ahead), s.size-from)))
		s.held, s.at = slices.Grow(s.held[:0], size)[:size], from
		if s.err == nil && s.file == nil {
			s.err = io.ErrUnexpectedEOF
		}
		if s.err == nil {
			_, s.err = s.file.ReadAt(s.held, from)
		}
		if s.err != nil {
			clear(s.held)
		}
	}
	return s.held[from-s.at:][:n]
}
