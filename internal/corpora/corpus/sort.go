package corpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

// sortMemory is how many bytes of text a Sorter holds before it writes a run.
const sortMemory = 32 << 20

// fanIn is how many runs are read at once.
const fanIn = 64

// Sorter brings documents into the order of their numbers with bounded memory:
// runs that are sorted go to disk and are merged at the end, in several passes if there are many.
type Sorter struct {
	scratch func() (string, error)
	limit   int
	held    []Document
	bytes   int
	dir     string
	made    int      // runs, merged ones too
	runs    []string // not merged
}

// NewSorter holds 32 MiB of text; scratch makes a folder for what is more.
func NewSorter(scratch func() (string, error)) *Sorter {
	return &Sorter{scratch: scratch, limit: sortMemory}
}

// Add takes a document, of any number.
func (s *Sorter) Add(d Document) error {
	s.held = append(s.held, d)
	if s.bytes += len(d.Text) + len(d.Abstract) + len(d.Title); s.bytes < s.limit {
		return nil
	}
	return s.run(s.flush)
}

// run writes a run.
func (s *Sorter) run(fill func(*Writer) error) (err error) {
	if s.dir == "" {
		if s.dir, err = s.scratch(); err != nil {
			return err
		}
	}
	path := filepath.Join(s.dir, fmt.Sprintf("run-%d", s.made))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	s.made, s.runs = s.made+1, append(s.runs, path)
	w, err := newWriter(f, runCompression...)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(fill(w), w.Close(), f.Close())
}

// flush writes what is held.
func (s *Sorter) flush(w *Writer) error {
	sort.Slice(s.held, func(i, j int) bool { return s.held[i].Doc < s.held[j].Doc })
	for _, d := range s.held {
		if err := w.Write(d); err != nil {
			return err
		}
	}
	clear(s.held)
	s.held, s.bytes = s.held[:0], 0
	return nil
}

// WriteAll writes all documents in order and removes the runs.
func (s *Sorter) WriteAll(w *Writer) error {
	if len(s.runs) == 0 {
		return s.flush(w)
	}
	if len(s.held) > 0 {
		if err := s.run(s.flush); err != nil {
			return err
		}
	}
	s.held = nil
	for len(s.runs) > fanIn {
		if err := s.run(s.merge); err != nil {
			return err
		}
	}
	return s.merge(w)
}

// merge writes the documents of the first runs, which it removes.
func (s *Sorter) merge(w *Writer) error {
	n := min(len(s.runs), fanIn)
	var streams []*Reader
	for _, path := range s.runs[:n] {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer os.Remove(path)
		defer f.Close()
		r, err := NewReader(f)
		if err != nil {
			return err
		}
		defer r.Close()
		streams = append(streams, r)
	}
	s.runs = s.runs[n:]
	return Merge(w, streams)
}
