// Package dense finds the documents whose vectors have the greatest inner products, or
// cosines, with those of queries, by computing all of them. It must not know where vectors
// come from.
package dense

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/ranking/topk"
)

// Rows are documents' vectors, which are read once, in order.
type Rows interface{ Read(to []float32) error }

// Options of a search.
type Options struct {
	Depth    int
	Cosine   bool                // products are divided by both lengths; with a vector of zeros a cosine is 0
	Progress func(documents int) // or nil
}

// block is how many documents are in memory, and strip how many stay in a processor's cache.
const (
	block = 1 << 12
	strip = 1 << 6
)

// Search returns the hits of every query, the best first, equal ones by number. Products are
// float32, and bits do not depend on the processor or the number of threads. In memory are the
// queries, their hits and a block of documents.
func Search(ctx context.Context, documents Rows, n int, queries npy.Matrix, o Options) ([][]topk.Hit, error) {
	if err := queries.Check(); err != nil {
		return nil, fmt.Errorf("query vectors: %w", err)
	}
	s := &search{products: kmeans.NewProducts(queries), queries: queries, best: make([]topk.Best, queries.Rows), cosine: o.Cosine}
	for i := range s.best {
		s.best[i].Reset(o.Depth)
	}
	if o.Cosine {
		s.lengths = make([]float64, queries.Rows)
	}
	for i := range queries.Rows {
		length, err := lengthOf(queries.Row(i))
		if err != nil {
			return nil, fmt.Errorf("query vectors: row %d: %w", i, err)
		}
		if o.Cosine {
			s.lengths[i] = length
		}
	}
	width := s.products.Width()
	raw := make([]float32, block*queries.Cols)
	s.rows, s.rowLengths = make([]float32, (block+1)*width), make([]float64, block)
	for from := 0; from < n; from += block {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		some := min(block, n-from)
		if err := documents.Read(raw[:some*queries.Cols]); err != nil {
			return nil, err
		}
		for i := range some {
			row := raw[i*queries.Cols : (i+1)*queries.Cols]
			copy(s.rows[i*width:], row)
			var err error
			if s.rowLengths[i], err = lengthOf(row); err != nil {
				return nil, fmt.Errorf("document vectors: row %d: %w", from+i, err)
			}
		}
		s.block(int32(from), some)
		if o.Progress != nil {
			o.Progress(from + some)
		}
	}
	out := make([][]topk.Hit, len(s.best))
	for i := range out {
		out[i] = s.best[i].List()
	}
	return out, nil
}

type search struct {
	products   *kmeans.Products
	queries    npy.Matrix
	best       []topk.Best // of queries
	cosine     bool
	lengths    []float64 // of queries, for cosines
	rows       []float32 // a block of documents, and a row to pair the last one with
	rowLengths []float64
}

// block scores so many documents, each thread for some of the queries.
func (s *search) block(first int32, n int) {
	groups := s.products.Groups()
	threads := min(runtime.GOMAXPROCS(0), groups)
	var g sync.WaitGroup
	for t := range threads {
		g.Go(func() {
			for from := 0; from < n; from += strip {
				to := min(n, from+strip)
				for group := t * groups / threads; group < (t+1)*groups/threads; group++ {
					s.strip(first, from, to, group)
				}
			}
		})
	}
	g.Wait()
}

// strip scores documents for the queries of a group.
func (s *search) strip(first int32, from, to, group int) {
	width := s.products.Width()
	queries := min(kmeans.Group, s.queries.Rows-group*kmeans.Group)
	for d := from; d < to; d += 2 {
		a, b := s.products.Of(s.rows[d*width:(d+1)*width], s.rows[(d+1)*width:(d+2)*width], group)
		for k := range queries {
			q := group*kmeans.Group + k
			s.offer(q, first, d, a[k])
			if d+1 < to {
				s.offer(q, first, d+1, b[k])
			}
		}
	}
}

func (s *search) offer(query int, first int32, at int, product float32) {
	score := float64(product)
	if s.cosine {
		if by := s.lengths[query] * s.rowLengths[at]; by > 0 {
			score /= by
		}
	}
	best := &s.best[query]
	if low, full := best.Threshold(); !full || score > low {
		best.Offer(topk.Hit{Doc: first + int32(at), Score: score})
	}
}

// lengthOf is the length of a vector of finite numbers.
func lengthOf(row []float32) (float64, error) {
	sum := 0.0
	for i, v := range row {
		w := float64(v)
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return 0, fmt.Errorf("column %d is %v; vectors have finite numbers", i, v)
		}
		sum += float64(w * w)
	}
	return math.Sqrt(sum), nil
}
