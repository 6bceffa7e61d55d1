// Package dense finds the documents whose vectors have the greatest inner products, or cosines, with queries' vectors,
// by computing all of them. It must not know where vectors come from.
package dense

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/ranking/topk"
)

type Options struct {
	Depth    int
	Cosine   bool                // products are divided by both lengths; with a vector of zeros a cosine is 0
	Progress func(documents int) // or nil
}

// block is how many documents are in memory, and strip how many stay in a processor's cache.
const (
	block = 1 << 12
	strip = 64
)

// Search returns the hits of every query among n documents, the best first, equal ones by number. read reads the next of
// the documents' vectors, each once, in their order. Products are float32, and bits do not depend on the processor or
// the number of threads. In memory are the queries, their hits and a block of documents.
func Search(ctx context.Context, read func(to []float32) error, n int, queries npy.Matrix, o Options) ([][]topk.Hit, error) {
	if err := queries.Check(); err != nil {
		return nil, fmt.Errorf("query vectors: %w", err)
	}
	s := &search{products: kmeans.NewProducts(queries), queries: queries, best: make([]topk.Best, queries.Rows), lengths: make([]float64, queries.Rows), cosine: o.Cosine}
	for i := range s.best {
		s.best[i].Reset(o.Depth)
	}
	for i := range queries.Rows {
		var err error
		if s.lengths[i], err = s.divisor(queries.Row(i)); err != nil {
			return nil, fmt.Errorf("query vectors: row %d: %w", i, err)
		}
	}
	width := s.products.Width
	raw := make([]float32, block*queries.Cols)
	s.bounds = newBounds(queries, width, s.products.Groups)
	s.rows, s.rowLengths = make([]float32, (block+1)*width), make([]float64, block)
	s.shortest, s.longest = make([]float64, block/strip), make([]float64, block/strip)
	for from := 0; from < n; from += block {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		some := min(block, n-from)
		if err := read(raw[:some*queries.Cols]); err != nil {
			return nil, err
		}
		err := share(some, func(i, to int) (err error) {
			for ; i < to; i++ {
				row := raw[i*queries.Cols : (i+1)*queries.Cols]
				copy(s.rows[i*width:], row)
				if s.rowLengths[i], err = s.divisor(row); err != nil {
					return fmt.Errorf("document vectors: row %d: %w", from+i, err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if s.bounds != nil && from == 0 {
			first := min(some, span)
			s.bounds.between(queries, s.rows[:first*width], s.rowLengths[:first])
		}
		s.block(int32(from), some)
		if o.Progress != nil {
			o.Progress(from + some)
		}
	}
	out := make([][]topk.Hit, len(s.best))
	return out, share(len(out), func(i, to int) error {
		for ; i < to; i++ {
			out[i] = s.best[i].List()
		}
		return nil
	})
}

// share calls f for parts of 0 … n-1, each on a thread of its own, and returns the error of the first part that has one.
func share(n int, f func(from, to int) error) error {
	errs := make([]error, min(runtime.GOMAXPROCS(0), n))
	var g sync.WaitGroup
	for t := range errs {
		g.Go(func() { errs[t] = f(t*n/len(errs), (t+1)*n/len(errs)) })
	}
	g.Wait()
	return cmp.Or(errs...)
}

type search struct {
	bounds     *bounds // or nil
	products   *kmeans.Products
	queries    npy.Matrix
	best       []topk.Best // of queries
	cosine     bool
	lengths    []float64 // of queries: what products are divided by
	rows       []float32 // a block of documents, and a row to pair the last one with
	rowLengths []float64 // and what theirs are divided by
	shortest   []float64 // of a strip's
	longest    []float64
}

// block scores so many documents, each thread for some of the queries.
func (s *search) block(first int32, n int) {
	width := s.products.Width
	_ = share((n+strip-1)/strip, func(i, end int) error {
		for ; i < end; i++ {
			from, to := i*strip, min(n, (i+1)*strip)
			lengths := s.rowLengths[from:to]
			s.shortest[i], s.longest[i] = slices.Min(lengths), slices.Max(lengths)
			if s.bounds != nil {
				s.bounds.replace(i, s.rows[from*width:to*width], lengths)
			}
		}
		return nil
	})
	_ = share(s.products.Groups, func(low, high int) error {
		products := make([]kmeans.Pair, strip/2)
		for from := 0; from < n; from += span {
			to := min(n, from+span)
			for group := low; group < high; group++ {
				if s.bounds != nil && s.few(group, first, from, to) {
					continue
				}
				for at := from; at < to; at += strip {
					some := products[:(min(to-at, strip)+1)/2]
					s.products.Of(some, s.rows[at*width:], group)
					for q := group * kmeans.Group; q < min(s.queries.Rows, (group+1)*kmeans.Group); q++ {
						s.offer(q, first, at, min(to, at+strip), some)
					}
				}
			}
		}
		return nil
	})
}

// slack covers that a bound is rounded otherwise than a score.
const slack = 1e-9

// offer gives a query's products with some documents to its best.
func (s *search) offer(query int, first int32, from, to int, pairs []kmeans.Pair) {
	// NOTE nearly all products end here, in a comparison each: in float32, with a number that is not above any of those documents'.
	low := s.low(query, from/strip)
	a, b := kmeans.Places(query % kmeans.Group)
	for i := range pairs {
		p := &pairs[i]
		if x, y := p[a], p[b]; x >= low || y >= low {
			s.take(query, first, from+2*i, float64(x))
			if from+2*i+1 < to {
				s.take(query, first, from+2*i+1, float64(y))
			}
		}
	}
}

// take gives a query's product with a row of a block to its best.
func (s *search) take(query int, first int32, row int, product float64) {
	if length := s.rowLengths[row]; product >= s.hopeless(query)*length {
		s.best[query].Offer(topk.Hit{Doc: first + int32(row), Score: product / (s.lengths[query] * length)})
	}
}

// low is a number below which a query's products with documents of a strip are hopeless: the greatest float32 that is
// not above the bound, or the one before it.
func (s *search) low(query, strip int) float32 {
	hopeless := s.hopeless(query)
	return math.Nextafter32(float32(min(hopeless*s.shortest[strip], hopeless*s.longest[strip])), float32(math.Inf(-1)))
}

// hopeless is a product below which a document of length 1 is not among a query's best.
func (s *search) hopeless(query int) float64 {
	low, full := s.best[query].Threshold()
	if !full {
		return math.Inf(-1)
	}
	return (low - math.Abs(low)*slack) * s.lengths[query]
}

// divisor is the length of a vector of finite numbers if scores are cosines and it has one, else 1.
func (s *search) divisor(row []float32) (float64, error) {
	if i := slices.IndexFunc(row, func(v float32) bool { return v-v != 0 }); i >= 0 {
		return 0, fmt.Errorf("column %d is %v; vectors have finite numbers", i, row[i])
	}
	sum := 0.0
	if s.cosine {
		for _, v := range row {
			sum += float64(float64(v) * float64(v))
		}
	}
	if sum == 0 {
		return 1, nil
	}
	return math.Sqrt(sum), nil
}
