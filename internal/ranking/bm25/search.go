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
	seen   [window / 64]uint64
	asked  []asked
	rest   []float64 // rest[i]: the most that asked[i:] can add
	needs  []float64 // needs[i]: a sum of asked[:i] below which a document is none of the best
	low    float64   // the threshold that needs are of
	best   topk.Best
	offset float64 // what documents without any of the terms score
}

// asked is a term of a query.
type asked struct {
	term     int32
	weight   float64 // idf x how often the query has it
	small    float32
	most     float64 // that it adds to a score
	at, stop int64   // postings not looked at
}

// NewSearcher makes one.
func (ix *Index) NewSearcher() *Searcher { return &Searcher{ix: ix} }

// Search returns the depth best documents that have a word of the query and a score other
// than 0, by score and then by number. Every score is summed in the same order, that of the
// most that terms can add, so the result is that of scoring every document.
func (s *Searcher) Search(query string, depth int) []topk.Hit {
	s.ask(query)
	s.best.Reset(depth)
	s.needs = s.needs[:0]
	for range s.rest {
		s.needs = append(s.needs, math.Inf(-1))
	}
	s.low = math.Inf(-1)
	for base := s.first(len(s.asked)); base >= 0; {
		essential := s.essential()
		if essential == 0 {
			break
		}
		s.window(base, essential)
		base = s.first(essential)
	}
	return s.best.List()
}

// ask looks the query's terms up, the one that adds most first.
func (s *Searcher) ask(query string) {
	ix := s.ix
	s.offset = 0
	s.asked = s.asked[:0]
	times := map[int32]float64{}
	ix.analyzer.Split(query, func(segment string) {
		if name := ix.analyzer.Term(segment); name != "" {
			if t, ok := ix.terms[name]; ok {
				if times[t]++; times[t] == 1 {
					s.asked = append(s.asked, asked{term: t, at: ix.starts[t], stop: ix.starts[t+1]})
				}
			}
		}
	})
	for i := range s.asked {
		a := &s.asked[i]
		a.weight = ix.idfs[a.term] * times[a.term]
		absent := a.weight * ix.weighting.absent
		s.offset += absent
		switch {
		case ix.small != nil:
			a.small = float32(times[a.term]) * float32(ix.idfs[a.term])
			a.most = float64(smallWeight(a.small, float32(ix.best[a.term])))
		case a.weight > 0:
			a.most = a.weight*ix.best[a.term] - absent
		}
	}
	s.asked = slices.DeleteFunc(s.asked, func(a asked) bool { return a.weight == 0 })
	slices.SortStableFunc(s.asked, func(a, b asked) int { return cmp.Compare(b.most, a.most) })
	s.rest = slices.Grow(s.rest[:0], len(s.asked)+1)[:len(s.asked)+1]
	s.rest[len(s.asked)] = 0
	for i := len(s.asked) - 1; i >= 0; i-- {
		s.rest[i] = s.rest[i+1] + s.asked[i].most
	}
}

// slack covers that bounds and scores are rounded in different orders.
const slack = 1e-9

// raise computes what is needed by a threshold. All numbers of a search may be negative.
func (s *Searcher) raise(low float64) {
	s.low = low
	for i, more := range s.rest {
		s.needs[i] = low - s.offset - more - slack*(math.Abs(low)+math.Abs(s.offset)+more)
	}
}

// essential is how many of the first terms a document needs one of to be among the best.
func (s *Searcher) essential() int {
	n := len(s.asked)
	for n > 0 && s.needs[n-1] > 0 {
		n--
	}
	return n
}

// first is where the window begins that has the next document of the first n terms; -1:
// there is none.
func (s *Searcher) first(n int) int32 {
	first := int32(-1)
	for _, a := range s.asked[:n] {
		if a.at < a.stop && (first < 0 || s.ix.docs[a.at] < first) {
			first = s.ix.docs[a.at]
		}
	}
	if first < 0 {
		return first
	}
	return first &^ (window - 1)
}

// window scores the documents of a window that have one of the essential terms.
func (s *Searcher) window(base int32, essential int) {
	for i := range s.asked[:essential] {
		s.add(&s.asked[i], base)
	}
	optional, needs := s.asked[essential:], s.needs[essential:]
	for w, word := range s.seen {
		if word == 0 {
			continue
		}
		s.seen[w] = 0
		for ; word != 0; word &= word - 1 {
			at := w<<6 + bits.TrailingZeros64(word)
			sum, doc := s.sums[at], base+int32(at)
			s.sums[at] = 0
			lost := false
			for i := range optional {
				if lost = sum < needs[i]; lost {
					break
				}
				sum += s.addOne(&optional[i], doc)
			}
			if lost || sum < needs[len(optional)] {
				continue
			}
			if s.ix.small != nil {
				sum = float64(float32(sum))
			}
			if sum += s.offset; sum != 0 {
				s.best.Offer(topk.Hit{Doc: doc, Score: sum})
				if low, full := s.best.Threshold(); full && low != s.low {
					s.raise(low)
				}
			}
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
			s.mark(d-base, float64(smallWeight(a.small, ix.small.saturation(tf, d))))
		}
	case !w.long:
		factor, bonus := a.weight*w.factor, float64(a.weight*(w.bonus-w.absent))
		for ; n < len(docs) && int64(docs[n]) < limit; n++ {
			d, tf := docs[n], float64(frequencies[n])
			if tf == manyTimes {
				tf = ix.frequency(a.at + int64(n))
			}
			s.mark(d-base, float64(factor*tf)/(tf+ix.norms[d])+bonus)
		}
	default:
		for ; n < len(docs) && int64(docs[n]) < limit; n++ {
			s.mark(docs[n]-base, float64(a.weight*(w.of(ix.frequency(a.at+int64(n)), ix.norms[docs[n]])-w.absent)))
		}
	}
	a.at += int64(n)
}

func (s *Searcher) mark(at int32, score float64) {
	at &= window - 1
	s.sums[at] += score
	s.seen[at>>6] |= 1 << (at & 63)
}

// addOne is what a term adds to the score of one document.
func (s *Searcher) addOne(a *asked, doc int32) float64 {
	ix := s.ix
	a.at = seek(ix.docs, a.at, a.stop, doc)
	if a.at == a.stop || ix.docs[a.at] != doc {
		return 0
	}
	tf := ix.frequency(a.at)
	switch w := &ix.weighting; {
	case ix.small != nil:
		return float64(smallWeight(a.small, ix.small.saturation(float32(tf), doc)))
	case !w.long:
		return float64(a.weight*w.factor*tf)/(tf+ix.norms[doc]) + float64(a.weight*(w.bonus-w.absent))
	default:
		return float64(a.weight * (w.of(tf, ix.norms[doc]) - w.absent))
	}
}

// seek is the first posting from at on whose document is not before doc.
func seek(docs []int32, at, stop int64, doc int32) int64 {
	step := int64(1)
	for at+step < stop && docs[at+step] < doc {
		at += step
		step *= 2
	}
	end := min(stop, at+step+1)
	i, _ := slices.BinarySearch(docs[at:end], doc)
	return at + int64(i)
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
