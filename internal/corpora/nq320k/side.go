package nq320k

import (
	"fmt"
	"io"
	"slices"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
)

type asked struct {
	nq.Key
	doc      int32
	question string
}

// side is a collection without its texts.
type side struct {
	titles  []string
	queries []asked
	at      map[nq.Key]int32 // place among queries
	first   []int32          // of each document: its first query, dev first
	size    []int32          // queries of each document
	pair    []int32          // document of the other side; -1: none
}

func readSide(c Collection) (*side, error) {
	s := &side{at: map[nq.Key]int32{}}
	err := read(c.Documents, func(in io.Reader) error {
		return dedup.ReadDocuments(in, func(d *dedup.Document) error {
			s.titles = append(s.titles, TitleOf(d))
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("documents: %w", err)
	}
	s.first, s.size = slices.Repeat([]int32{-1}, len(s.titles)), make([]int32, len(s.titles))
	s.pair = slices.Clone(s.first)
	err = read(c.Queries, func(in io.Reader) error { return dedup.ReadQueries(in, len(s.titles), s.add) })
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	for d, f := range s.first {
		if f < 0 {
			return nil, fmt.Errorf("document %d has no query", d)
		}
	}
	return s, nil
}

func read(open func() (io.ReadCloser, error), visit func(io.Reader) error) error {
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	return visit(in)
}

func (s *side) add(q *dedup.Query) error {
	key := nq.Key{Split: q.Split, ID: q.ExampleID}
	if _, ok := s.at[key]; ok {
		return fmt.Errorf("%s example %d occurs twice", q.Split, q.ExampleID)
	}
	n := int32(len(s.queries))
	s.at[key] = n
	s.queries = append(s.queries, asked{key, q.Doc, q.Question})
	s.size[q.Doc]++
	if f := s.first[q.Doc]; f < 0 || key.Split == nq.Dev && s.queries[f].Split != nq.Dev {
		s.first[q.Doc] = n
	}
	return nil
}

// find returns the place of a record's query, in the other split if its own has none; -1: nowhere.
func (s *side) find(key nq.Key) int32 {
	for _, split := range []nq.Split{key.Split, nq.Dev, nq.Train} {
		if n, ok := s.at[nq.Key{Split: split, ID: key.ID}]; ok {
			return n
		}
	}
	return -1
}

// target returns the document of a record; -1 if the side lacks the record.
func (s *side) target(key nq.Key) int32 {
	if n := s.find(key); n >= 0 {
		return s.queries[n].doc
	}
	return -1
}

func (s *side) head(doc int32) nq.Key { return s.queries[s.first[doc]].Key }
