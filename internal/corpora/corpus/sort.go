package corpus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/redsi/redsi/internal/system/spool"
)

// Sorter sorts documents by number, on disk; memory holds 16 bytes of each.
type Sorter struct {
	lines  spool.List
	places []place
	line   bytes.Buffer
	enc    *json.Encoder // into line
}

type place struct {
	doc  int32
	size uint32
	at   int64
}

// NewSorter returns an empty Sorter; scratch creates a folder for more than a few documents.
func NewSorter(scratch func() (string, error)) *Sorter {
	s := &Sorter{lines: spool.New(scratch)}
	s.enc = encoder(&s.line)
	return s
}

// Add takes a document, of any number.
func (s *Sorter) Add(d Document) error {
	s.line.Reset()
	if err := s.enc.Encode(d); err != nil {
		return err
	}
	s.places = append(s.places, place{d.Doc, uint32(s.line.Len()), s.lines.Size()})
	s.lines.Write(s.line.Bytes())
	return s.lines.Err()
}

func (s *Sorter) WriteAll(w *Writer) error {
	err := s.lines.End()
	slices.SortStableFunc(s.places, func(a, b place) int { return cmp.Compare(a.doc, b.doc) })
	for _, p := range s.places {
		line := s.lines.Read(p.at, int(p.size), 0)
		if err = cmp.Or(err, s.lines.Err(), w.next(p.doc)); err != nil {
			return err
		}
		if _, err := w.z.Write(line); err != nil {
			return err
		}
	}
	return err
}
