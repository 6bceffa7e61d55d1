package corpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

// sortMemory is how many bytes of text a Sorter holds before it writes a run.
const sortMemory = 64 << 20

// Sorter brings documents into the order of their numbers with bounded memory:
// runs that are sorted go to disk and are merged at the end. A file's share of a
// collection seldom fills one.
type Sorter struct {
	scratch func() (string, error)
	limit   int
	held    []Document
	bytes   int
	dir     string
	runs    []string
}

// NewSorter holds 64 MiB of text; scratch makes a folder for what is more.
func NewSorter(scratch func() (string, error)) *Sorter {
	return &Sorter{scratch: scratch, limit: sortMemory}
}

// Add takes a document, of any number.
func (s *Sorter) Add(d Document) error {
	s.held = append(s.held, d)
	if s.bytes += len(d.Text) + len(d.Abstract) + len(d.Title); s.bytes < s.limit {
		return nil
	}
	if s.dir == "" {
		var err error
		if s.dir, err = s.scratch(); err != nil {
			return err
		}
	}
	path := filepath.Join(s.dir, fmt.Sprintf("run-%d", len(s.runs)))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := NewWriter(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.runs = append(s.runs, path)
	return errors.Join(s.flush(w), w.Close(), f.Close())
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
		s.limit = 0 // the rest becomes a run
		last := s.held[len(s.held)-1]
		s.held = s.held[:len(s.held)-1]
		if err := s.Add(last); err != nil {
			return err
		}
	}
	var streams []*Reader
	for _, path := range s.runs {
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
	return Merge(w, streams)
}
