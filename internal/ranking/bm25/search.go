package bm25

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redsi/redsi/internal/ranking/topk"
)

// window is how many documents are scored together.
const window = 1 << 13

// Searcher is a search working on an index, one query after another.
type Searcher struct {
	ix     *Index
	sums   [window]float64
	extra  [window]float64 // what weights above light of marked documents may add
	seen   [window / 64]uint64
	found  [window + 1]int32 // documents of the window with a bit in seen, from its base
	n      int               // of found
	asked  []asked
	added  int       // terms whose postings are added to sums; without them
	marked int       // and without a heavy posting of the terms up to marked no document is among the best
	needs  []float64 // needs[i]: a sum of asked[:i] and extra below which a document is not among the best
	low    float64   // the threshold that needs are of
	best   topk.Best
	offset float64 // what documents without any of the terms score
}

// asked is a term of a query.
type asked struct {
	term      int32
	weight    float64 // idf x how often the query has it
	small     float32
	most      float64    // that it adds to a score
	light     float64    // that it adds to the score of a document without a heavy posting
	at, stop  int64      // postings not added
	adds      [2]float64 // adds[1]: the most that it adds to the score of a document that may have it, as a heavy one only if not marked
	heavy     []int32    // documents with a heavy posting that are not marked
	*frequent            // or nil
}

func (ix *Index) NewSearcher() *Searcher { return &Searcher{ix: ix} }

// Search returns the depth best documents that have a word of the query and a score other than 0, by score and then by
// number. Every score is summed in the same order, the terms that can add most first, so the result is the same as of
// scoring every document.
func (s *Searcher) Search(query string, depth int) []topk.Hit {
	s.ask(query)
	low := s.guess(depth)
	s.best.Reset(depth)
	s.low = low
	for from := int32(0); from >= 0; {
		s.choose()
		if from = s.first(from); from >= 0 {
			s.window(from)
			from += window // below 0 behind the greatest number
		}
	}
	return s.best.List()
}

// ask looks the query's terms up, the term that adds most first.
func (s *Searcher) ask(query string) {
	ix := s.ix
	s.offset = 0
	s.asked = s.asked[:0]
	times := map[int32]float64{}
	ix.analyzer.Split(query, func(segment string) {
		if name := ix.analyzer.Term(segment); name != "" {
			if t, ok := ix.terms[name]; ok {
				if times[t]++; times[t] == 1 {
					s.asked = append(s.asked, asked{term: t, at: ix.starts[t], stop: ix.starts[t+1], frequent: ix.frequent[t]})
				}
			}
		}
	})
	for i := range s.asked {
		a := &s.asked[i]
		a.weight = ix.idfs[a.term] * times[a.term]
		absent := a.weight * ix.weighting.absent
		s.offset += absent
		a.small = float32(times[a.term]) * float32(ix.idfs[a.term])
		a.most = ix.atMost(a, ix.best[a.term])
		a.light = a.most
		if a.frequent != nil {
			a.light, a.heavy = ix.atMost(a, a.frequent.light), a.frequent.heavy
		}
	}
	s.asked = slices.DeleteFunc(s.asked, func(a asked) bool { return a.weight == 0 })
	slices.SortStableFunc(s.asked, func(a, b asked) int { return cmp.Compare(b.most, a.most) })
	s.needs = slices.Grow(s.needs[:0], len(s.asked)+1)[:len(s.asked)+1]
}

// atMost is what a term adds to the score of a document that gives it at most that weight.
func (ix *Index) atMost(a *asked, weight float64) float64 {
	switch {
	case ix.small != nil:
		return float64(smallWeight(a.small, float32(weight)))
	case a.weight > 0:
		return a.weight*weight - a.weight*ix.weighting.absent
	}
	return 0
}

// slack covers that bounds and scores are rounded in different orders, Lucene's to float32.
const slack = 1e-6

// guessed is how many documents a threshold is guessed by, for each of those asked for.
const guessed = 2

// guess is a score that depth documents have, the first of those with a term that adds most, or -Inf where
// finding it would be no small part of the search.
func (s *Searcher) guess(depth int) float64 {
	left, all := int64(guessed*depth), int64(0)
	for _, a := range s.asked {
		all += a.stop - a.at
	}
	s.low = math.Inf(-1)
	if left > all/16 {
		return s.low
	}
	s.best.Reset(depth)
	s.added, s.marked = 0, 0
	s.raise()
	for i, a := range s.asked {
		isEarlier := func(doc int32) bool {
			return slices.ContainsFunc(s.asked[:i], func(a asked) bool { return s.ix.find(&a, doc) >= 0 })
		}
		for _, doc := range s.ix.docs[a.at:min(a.stop, a.at+left)] {
			if i == 0 || !isEarlier(doc) {
				s.score(doc, 0, 0)
			}
		}
		if left -= a.stop - a.at; left <= 0 {
			break
		}
	}
	if low, full := s.best.Threshold(); full {
		return low
	}
	return math.Inf(-1)
}

// choose lessens the terms that are added and marked as the threshold allows.
func (s *Searcher) choose() {
	s.added, s.marked = len(s.asked), len(s.asked)
	more := 0.0 // from the terms behind added
	for s.added > 0 && s.need(more+s.asked[s.added-1].light) > 0 {
		s.added--
		more += s.asked[s.added].light
	}
	for s.marked > s.added {
		a := &s.asked[s.marked-1]
		if more += a.most - a.light; s.need(more) <= 0 {
			break
		}
		s.marked--
	}
	s.raise()
}

// need is a sum below which a document is not among the best if other terms add no more than that; all numbers of a
// search may be negative.
func (s *Searcher) need(more float64) float64 {
	return s.low - s.offset - more - slack*(math.Abs(s.low)+math.Abs(s.offset)+more)
}

// raise computes what is needed by the threshold.
func (s *Searcher) raise() {
	more := 0.0
	for i := len(s.asked); i > 0; i-- {
		s.needs[i] = s.need(more)
		a := &s.asked[i-1]
		if a.adds[1] = a.most; i <= s.marked {
			a.adds[1] = a.light
		}
		more += a.adds[1]
	}
	s.needs[0] = s.need(more)
}

// first is where the window begins that has the next document, from one on, with an added or marked term; -1: there is
// no such document.
func (s *Searcher) first(from int32) int32 {
	first := int32(math.MaxInt32)
	for i := range s.asked[:s.marked] {
		switch a := &s.asked[i]; {
		case i >= s.added:
			n, _ := slices.BinarySearch(a.heavy, from) // the term may have been an added one
			if a.heavy = a.heavy[n:]; len(a.heavy) > 0 {
				first = min(first, a.heavy[0])
			}
		case a.at < a.stop:
			first = min(first, s.ix.docs[a.at])
		}
	}
	if first == math.MaxInt32 {
		return -1
	}
	return first &^ (window - 1)
}

// window scores the documents of a window that may be among the best.
func (s *Searcher) window(base int32) {
	s.n = 0
	for i := range s.asked[:s.added] {
		s.add(&s.asked[i], base)
	}
	for i := s.added; i < s.marked; i++ {
		s.mark(&s.asked[i], base)
	}
	for _, at := range s.found[:s.n] {
		at &= window - 1
		sum, extra := s.sums[at], s.extra[at]
		s.sums[at], s.extra[at], s.seen[at>>6] = 0, 0, 0
		most := sum + extra
		for i := s.added; i < len(s.asked); i++ {
			a := &s.asked[i]
			most += a.adds[a.may(base+at)]
		}
		if most >= s.needs[len(s.asked)] {
			s.score(base+at, sum, extra)
		}
	}
}

// score adds the other terms to the sum of the added terms, and offers the document.
func (s *Searcher) score(doc int32, sum, extra float64) {
	for i := s.added; i < len(s.asked); i++ {
		if sum+extra < s.needs[i] {
			return
		}
		a := &s.asked[i]
		if posting := s.ix.find(a, doc); posting >= 0 {
			w := s.ix.addOne(a, posting, doc)
			if sum += w; i < s.marked && w > a.light*(1+slack) { // no light one, however it was rounded
				extra -= a.most - a.light
			}
		}
	}
	if sum < s.needs[len(s.asked)] {
		return
	}
	if s.ix.small != nil {
		sum = float64(float32(sum))
	}
	if sum += s.offset; sum != 0 {
		s.best.Offer(topk.Hit{Doc: doc, Score: sum})
		if low, full := s.best.Threshold(); full && low > s.low {
			s.low = low
			s.raise()
		}
	}
}

// add adds a term to the sums of the window's documents that have it.
func (s *Searcher) add(a *asked, base int32) {
	ix := s.ix
	docs, frequencies := ix.docs[a.at:a.stop], ix.tf[a.at:a.stop]
	frequencies = frequencies[:len(docs)]
	limit := int64(base) + window
	n := 0
	switch w := &ix.weighting; {
	case ix.small != nil:
		for ; n < len(docs) && int64(docs[n]) < limit; n++ {
			d, tf := docs[n], float32(frequencies[n])
			if tf == manyTimes {
				tf = float32(ix.frequency(a.at + int64(n)))
			}
			s.sums[s.see(d-base)] += float64(smallWeight(a.small, ix.small.saturation(tf, d)))
		}
	case !w.long:
		factor, bonus := a.weight*w.factor, float64(a.weight*(w.bonus-w.absent))
		for ; n < len(docs) && int64(docs[n]) < limit; n++ {
			d, tf := docs[n], float64(frequencies[n])
			if tf == manyTimes {
				tf = ix.frequency(a.at + int64(n))
			}
			s.sums[s.see(d-base)] += float64(factor*tf)/(tf+ix.norms[d]) + bonus
		}
	default:
		for ; n < len(docs) && int64(docs[n]) < limit; n++ {
			s.sums[s.see(docs[n]-base)] += float64(a.weight * (w.of(ix.frequency(a.at+int64(n)), ix.norms[docs[n]]) - w.absent))
		}
	}
	a.at += int64(n)
}

// mark notes the window's documents with a heavy posting of a term.
func (s *Searcher) mark(a *asked, base int32) {
	n := 0
	for ; n < len(a.heavy) && int64(a.heavy[n]) < int64(base)+window; n++ {
		s.extra[s.see(a.heavy[n]-base)] += a.most - a.light
	}
	a.heavy = a.heavy[n:]
}

// see finds a document of the window, once.
func (s *Searcher) see(at int32) int32 {
	at &= window - 1
	word := &s.seen[at>>6]
	s.found[s.n] = at
	s.n += int(^*word >> (at & 63) & 1)
	*word |= 1 << (at & 63)
	return at
}

// addOne is what a term adds to the score of the document of a posting.
func (ix *Index) addOne(a *asked, posting int64, doc int32) float64 {
	tf := ix.frequency(posting)
	switch w := &ix.weighting; {
	case ix.small != nil:
		return float64(smallWeight(a.small, ix.small.saturation(float32(tf), doc)))
	case !w.long:
		return float64(a.weight*w.factor*tf)/(tf+ix.norms[doc]) + float64(a.weight*(w.bonus-w.absent))
	default:
		return float64(a.weight * (w.of(tf, ix.norms[doc]) - w.absent))
	}
}

// may is 0 if a document does not have the term; it has no branch that a processor could mispredict.
func (a *asked) may(doc int32) uint64 {
	if a.frequent == nil {
		return 1
	}
	at := uint32(doc) >> a.shift
	return a.has[at>>6] >> (at & 63) & 1
}

// find is the posting of a term that a document has, or -1.
func (ix *Index) find(a *asked, doc int32) int64 {
	from := ix.starts[a.term]
	if f := a.frequent; f != nil {
		if a.may(doc) == 0 {
			return -1
		}
		at := uint32(doc) >> f.shift
		from += int64(f.before[at>>6]) + int64(bits.OnesCount64(f.has[at>>6]&(1<<(at&63)-1)))
		if f.shift == 0 {
			return from
		}
	}
	for from < a.stop && ix.docs[from] < doc {
		from++
	}
	if from < a.stop && ix.docs[from] == doc {
		return from
	}
	return -1
}

// SearchAll answers queries on all processors, in their order.
func (ix *Index) SearchAll(ctx context.Context, queries []string, depth int) ([][]topk.Hit, error) {
	out := make([][]topk.Hit, len(queries))
	var next atomic.Int64
	var g sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(queries)) {
		g.Go(func() {
			s := ix.NewSearcher()
			for i := next.Add(1) - 1; i < int64(len(queries)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				out[i] = s.Search(queries[i], depth)
			}
		})
	}
	g.Wait()
	return out, ctx.Err()
}
