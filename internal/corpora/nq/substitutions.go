package nq

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/pytext"
)

// Substitution is a stored token that differs from the HTML it came from.
type Substitution struct {
	HTML   string `json:"html"`   // the span of document_html, entities resolved
	Stored string `json:"stored"` // the token
}

// SubstitutionCount is one row of tab:nq-token-substitutions.
type SubstitutionCount struct {
	Substitution
	Count   int64 `json:"count"`   // tokens
	Records int64 `json:"records"` // records with at least one of them
}

// Substitutions compares stored tokens, except HTML tags, with their byte-aligned spans (paper, appendix "Character
// Substitutions"). A token matches if, in lower case, it or its entity-resolved form equals the entity-resolved span; markup
// inside a span is a difference. Pairs keep their case. Memory grows only with distinct pairs.
type Substitutions struct {
	Compared   int64 // tokens
	Mismatches int64 // tokens
	Records    int64
	pairs      map[Substitution]*pairCount
}

type pairCount struct {
	count, records int64
	last           int64 // record that was counted last
}

// Add compares the tokens of one full record; it does nothing for others.
func (s *Substitutions) Add(r *Record) {
	if !r.Full() {
		return
	}
	s.Records++
	for i := range r.Tokens {
		t := &r.Tokens[i]
		if t.HTML {
			continue
		}
		s.Compared++
		span := r.HTML[t.Start:t.End]
		if string(span) == t.Text {
			continue
		}
		surface := string(span)
		if bytes.IndexByte(span, '&') >= 0 {
			surface = pytext.Unescape(surface)
		}
		if sameToken(surface, t.Text) {
			continue
		}
		s.Mismatches++
		if s.pairs == nil {
			s.pairs = map[Substitution]*pairCount{}
		}
		p := s.pairs[Substitution{surface, t.Text}]
		if p == nil {
			p = &pairCount{}
			s.pairs[Substitution{strings.Clone(surface), strings.Clone(t.Text)}] = p
		}
		p.count++
		if p.last != s.Records {
			p.records++
			p.last = s.Records
		}
	}
}

func sameToken(surface, stored string) bool {
	a := pytext.Lower(surface)
	return a == pytext.Lower(stored) || strings.Contains(stored, "&") && a == pytext.Lower(pytext.Unescape(stored))
}

// Pairs lists all pairs, the most frequent first, then by HTML and stored string.
func (s *Substitutions) Pairs() []SubstitutionCount {
	list := make([]SubstitutionCount, 0, len(s.pairs))
	for k, p := range s.pairs {
		list = append(list, SubstitutionCount{k, p.count, p.records})
	}
	slices.SortFunc(list, func(a, b SubstitutionCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.HTML, b.HTML), cmp.Compare(a.Stored, b.Stored))
	})
	return list
}

// SubstitutionReport is the artifact behind tab:nq-token-substitutions.
type SubstitutionReport struct {
	Records    int64             `json:"records"`
	Compared   int64             `json:"compared"`
	Mismatches int64             `json:"mismatches"`
	Pairs      int64             `json:"pairs"`
	Share      float64           `json:"share" unit:"fraction"`     // mismatches / compared
	TopShare   float64           `json:"top_share" unit:"fraction"` // mismatches in Top / mismatches
	Top        []SubstitutionRow `json:"top"`
}

// SubstitutionRow is a row with the columns "Contains <unk>".
type SubstitutionRow struct {
	SubstitutionCount
	HTMLUnknown   bool `json:"html_unk"`
	StoredUnknown bool `json:"stored_unk"`
}

// Report lists the n most frequent pairs; unknown says whether the model's tokenizer gives <unk> for a string.
func (s *Substitutions) Report(n int, unknown func(string) bool) SubstitutionReport {
	pairs := s.Pairs()
	rep := SubstitutionReport{
		Records: s.Records, Compared: s.Compared, Mismatches: s.Mismatches, Pairs: int64(len(pairs)),
		Top: []SubstitutionRow{},
	}
	var top int64
	for _, p := range pairs[:min(n, len(pairs))] {
		top += p.Count
		rep.Top = append(rep.Top, SubstitutionRow{p, unknown(p.HTML), unknown(p.Stored)})
	}
	if s.Compared > 0 {
		rep.Share = float64(s.Mismatches) / float64(s.Compared)
	}
	if s.Mismatches > 0 {
		rep.TopShare = float64(top) / float64(s.Mismatches)
	}
	return rep
}
