package synth

import (
	"cmp"
	"slices"
)

// substitutions counts what the builder wrote with another stored form.
type substitutions struct {
	compared int64
	records  int64 // begun
	pairs    map[pair]*pairCount
}

type pair struct{ html, stored string }

type pairCount struct{ count, records, last int64 }

func newSubstitutions() *substitutions { return &substitutions{pairs: map[pair]*pairCount{}} }

func (s *substitutions) add(surface, stored string) {
	s.compared++
	if surface == stored {
		return
	}
	p := s.pairs[pair{surface, stored}]
	if p == nil {
		p = &pairCount{}
		s.pairs[pair{surface, stored}] = p
	}
	p.count++
	if p.last != s.records {
		p.last = s.records
		p.records++
	}
}

func (s *substitutions) merge(o *substitutions) {
	s.compared += o.compared
	for k, v := range o.pairs {
		p := s.pairs[k]
		if p == nil {
			p = &pairCount{}
			s.pairs[k] = p
		}
		p.count += v.count
		p.records += v.records
	}
}

func (s *substitutions) truth() Substitutions {
	t := Substitutions{Compared: s.compared, Pairs: []Substitution{}}
	for k, v := range s.pairs {
		t.Mismatches += v.count
		t.Pairs = append(t.Pairs, Substitution{k.html, k.stored, v.count, v.records})
	}
	slices.SortFunc(t.Pairs, func(a, b Substitution) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.HTML, b.HTML), cmp.Compare(a.Stored, b.Stored))
	})
	return t
}
