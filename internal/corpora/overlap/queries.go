package overlap

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
)

// Class says how alike two texts are; a pair has the first class that applies.
type Class uint8

const (
	Exact      Class = iota + 1 // byte by byte
	Normalised                  // by their normal forms
	NearBy                      // by their shingles
)

func (c Class) String() string { return [...]string{"", "exact", "normalised", "near"}[c] }

type Query struct {
	Split     nq.Split
	ID        int64
	Name      string // outside of redsi; "" if it has only its number
	Text      string
	Documents []int32
}

// Pair is a query and the nearest query in an earlier split, or earlier in its own.
type Pair struct {
	Query, Other int // places in Queries.List
	Class        Class
	Similarity   float64
	SameTarget   bool // a document is relevant to both
}

// Queries compares queries with each other.
type Queries struct {
	List []Query
	Left int64 // pairs of normal forms that Pairs left out: too many questions of one pattern

	splits []uint8 // of List, by their place in nq.Splits
	texts  map[string]int32
	text   []int32 // of List: number of the text
	forms  map[string]int32
	form   []int32 // of List: number of the normal form
	first  map[firstOf]int32
}

// firstOf is the key of the first query of a split with a text or normal form, and with a relevant document (-1: any).
type firstOf struct {
	id       int32
	exact    bool
	split    uint8
	document int32
}

func NewQueries() *Queries {
	return &Queries{texts: map[string]int32{}, forms: map[string]int32{}, first: map[firstOf]int32{}}
}

// Add takes a line of a collection's queries; the lines of one query must be successive.
func (qs *Queries) Add(q *dedup.Query) error {
	at := slices.Index(nq.Splits, q.Split)
	if at < 0 {
		return fmt.Errorf("example %d is of split %q; splits are %v", q.ExampleID, q.Split, nq.Splits)
	}
	if n := len(qs.List) - 1; n >= 0 && qs.List[n].ID == q.ExampleID && qs.List[n].Split == q.Split && qs.List[n].Text == q.Question {
		qs.List[n].Documents = append(qs.List[n].Documents, q.Doc)
		return nil
	}
	qs.List = append(qs.List, Query{Split: nq.Splits[at], ID: q.ExampleID, Name: q.Name, Text: q.Question, Documents: []int32{q.Doc}})
	qs.splits = append(qs.splits, uint8(at))
	qs.text = append(qs.text, intern(qs.texts, q.Question))
	normal := Normal(q.Question)
	if normal == "" {
		normal = "\x00" + q.Question // like itself only
	}
	qs.form = append(qs.form, intern(qs.forms, normal))
	return nil
}

func intern(ids map[string]int32, s string) int32 {
	id, ok := ids[s]
	if !ok {
		id = int32(len(ids))
		ids[s] = id
	}
	return id
}

// normals returns the normal forms, by number; "" for texts without a normal form.
func (qs *Queries) normals() []string {
	list := make([]string, len(qs.forms))
	for f, id := range qs.forms {
		if f[0] != 0 {
			list[id] = f
		}
	}
	return list
}

// members returns a function for the queries of a normal form, in order.
func (qs *Queries) members() func(form int32) []int32 {
	starts := make([]int32, len(qs.forms)+1)
	for _, f := range qs.form {
		starts[f+1]++
	}
	for f := range len(qs.forms) {
		starts[f+1] += starts[f]
	}
	list, next := make([]int32, len(qs.form)), slices.Clone(starts)
	for q, f := range qs.form {
		list[next[f]] = int32(q)
		next[f]++
	}
	return func(f int32) []int32 { return list[starts[f]:starts[f+1]] }
}

// Pairs finds, for each query and each split up to its own, the nearest query: with the same text, else with the same normal
// form, else the most similar. Of several equally near, it is the first with a common relevant document, else the first.
func (qs *Queries) Pairs(near Near) []Pair {
	best := make([]Pair, len(qs.List)*len(nq.Splits))
	// Queries enter split by split, so that only earlier queries are found.
	for at := range nq.Splits {
		for q, s := range qs.splits {
			if int(s) != at {
				continue
			}
			for other := range at + 1 {
				best[q*len(nq.Splits)+other] = qs.same(q, uint8(other))
			}
			qs.enter(q)
		}
	}
	s := newSketch(near)
	sets, keys := qs.sketches(s)
	members := qs.members()
	qs.Left = s.similar(keys, func(f int32) bool { return len(sets(f)) == 0 }, sets, func(f, g int32, similarity float64) {
		for _, pair := range [][2]int32{{f, g}, {g, f}} {
			for _, q := range members(pair[0]) {
				qs.nearer(best[int(q)*len(nq.Splits):][:qs.splits[q]+1], int(q), pair[1], similarity)
			}
		}
	})
	return slices.DeleteFunc(best, func(p Pair) bool { return p.Class == 0 })
}

// same returns the pair of q with a query of a split that has its text or normal form.
func (qs *Queries) same(q int, split uint8) Pair {
	if other, same, ok := qs.find(q, qs.text[q], true, split); ok {
		return Pair{Query: q, Other: other, Class: Exact, Similarity: 1, SameTarget: same}
	}
	if other, same, ok := qs.find(q, qs.form[q], false, split); ok {
		return Pair{Query: q, Other: other, Class: Normalised, Similarity: 1, SameTarget: same}
	}
	return Pair{}
}

// find returns the first query of a split with a text or normal form: with a relevant document of q, else any.
func (qs *Queries) find(q int, id int32, exact bool, split uint8) (other int, same, ok bool) {
	first := int32(-1)
	for _, d := range qs.List[q].Documents {
		if o, ok := qs.first[firstOf{id, exact, split, d}]; ok && (first < 0 || o < first) {
			first = o
		}
	}
	if first >= 0 {
		return int(first), true, true
	}
	o, ok := qs.first[firstOf{id, exact, split, -1}]
	return int(o), false, ok
}

func (qs *Queries) enter(q int) {
	for _, d := range append([]int32{-1}, qs.List[q].Documents...) {
		for _, k := range []firstOf{{qs.text[q], true, qs.splits[q], d}, {qs.form[q], false, qs.splits[q], d}} {
			if _, there := qs.first[k]; !there {
				qs.first[k] = int32(q)
			}
		}
	}
}

// nearer improves the pairs of q, one for each split, with the queries of a normal form.
func (qs *Queries) nearer(pairs []Pair, q int, form int32, similarity float64) {
	for split := range pairs {
		p := &pairs[split]
		if p.Class != 0 && (p.Class != NearBy || p.Similarity > similarity) {
			continue
		}
		other, same, ok := qs.find(q, form, false, uint8(split))
		if !ok || uint8(split) == qs.splits[q] && other > q {
			// A later query with a document of q may hide an earlier one without.
			if o, any := qs.first[firstOf{form, false, uint8(split), -1}]; ok && any && int(o) < q {
				other, same = int(o), false
			} else {
				continue
			}
		}
		c := Pair{Query: q, Other: other, Class: NearBy, Similarity: similarity, SameTarget: same}
		if p.Class == 0 || similarity > p.Similarity || same && !p.SameTarget || same == p.SameTarget && other < p.Other {
			*p = c
		}
	}
}

// sketches returns the sets of shingles of the normal forms, and the keys of their bands.
func (qs *Queries) sketches(s *sketch) (set func(form int32) []uint64, keys []uint32) {
	normals := qs.normals()
	var all, words []uint64
	starts := make([]int, 1, len(normals)+1)
	keys = make([]uint32, 0, len(normals)*s.bands)
	for _, f := range normals {
		words = appendWords(words[:0], f)
		all = s.appendSet(all, words)
		keys = s.appendBands(keys, all[starts[len(starts)-1]:])
		starts = append(starts, len(all))
	}
	return func(f int32) []uint64 { return all[starts[f]:starts[f+1]] }, keys
}
