package dedup

import (
	"io"
	"os"
	"slices"
)

// spooled is how many bytes a spool holds before it writes them to its file.
const spooled = 1 << 15

// spool is a list of bytes that is written from its beginning to its end and then read anywhere. A short one is held, a
// longer one is in a file. Its first error stays, and what is read after it is zero.
type spool struct {
	folder func() (string, error)
	file   *os.File // nil: all is held; the runtime closes it when the spool is garbage
	held   []byte   // what is not in the file yet; of a spool that is read, what was read last
	at     int64    // where held begins
	size   int64
	err    error
}

func (s *spool) write(b []byte) {
	if len(s.held) > 0 && len(s.held)+len(b) > spooled {
		s.flush()
	}
	s.held, s.size = append(s.held, b...), s.size+int64(len(b))
}

func (s *spool) flush() {
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

// end is called between the last write and the first read.
func (s *spool) end() error {
	if s.file != nil {
		s.flush()
	}
	return s.err
}

// read gives n bytes, which the next read may overwrite; so many as ahead are read at once.
func (s *spool) read(from int64, n, ahead int) []byte {
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
