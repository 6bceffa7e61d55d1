package dense

import (
	"math"
	"math/bits"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
)

// notBelow multiplies the bytes of a strip of documents, [steps][strip][4] without a sign, with the bytes of a group of
// queries, [steps][kmeans.Group][4] with a sign, and returns for each query a bit for each document whose sum is not
// below the query's number. It is nil where the processor has no instruction for such sums (VPDPBUSD).
var notBelow func(documents, queries []byte, low *[kmeans.Group]int32) [kmeans.Group]uint64

const (
	manyQueries = 512       // rounding a document takes longer than it saves with fewer queries
	manyColumns = 1 << 16   // from which on sums of bytes may overflow
	hugeProduct = 1e38      // of lengths, from which on sums of float32 may overflow
	span        = 4 * strip // documents at once
	few         = 2 * span  // of their products with a group: more take less time all at once
)

// rounded describes vectors that were replaced by integers from -127 to 127, times a scale.
type rounded struct {
	scale  float64
	length float64 // the greatest of theirs
	lost   float64 // the greatest length of what they differ by
	sum    int     // of the last one's numbers
	middle float64 // of a query: its product with the middle of documents
}

// bounds tell, by products of bytes, which documents cannot be among a query's best. Documents are
// divided by their lengths, and then lessened by a middle, whose product each query has apart: vectors
// of models often have more in common than they differ by.
type bounds struct {
	middle    []float64 // of the first span
	length    float64   // of the middle
	queries   []byte    // [groups][width/4][kmeans.Group][4]
	asked     []rounded
	documents []byte // of a block: [block/strip][width/4][strip][4]
	strips    []rounded
}

// newBounds returns nil where bounds do not pay.
func newBounds(queries npy.Matrix, width, groups int) *bounds {
	if notBelow == nil || queries.Rows < manyQueries || width >= manyColumns {
		return nil
	}
	b := &bounds{middle: make([]float64, width), queries: make([]byte, groups*kmeans.Group*width), asked: make([]rounded, queries.Rows),
		documents: make([]byte, block*width), strips: make([]rounded, block/strip)}
	row := make([]float32, width)
	for i := range b.asked {
		copy(row, queries.Row(i))
		b.asked[i] = round(b.queries[i/kmeans.Group*kmeans.Group*width+i%kmeans.Group*4:], kmeans.Group, row, []float64{1}, b.middle, 128)
	}
	return b
}

// between makes the mean of rows, divided by their lengths, the middle.
func (b *bounds) between(queries npy.Matrix, rows []float32, lengths []float64) {
	for i, length := range lengths {
		for j := range b.middle {
			b.middle[j] += float64(rows[i*len(b.middle)+j]) / length / float64(len(lengths))
		}
	}
	square := 0.0
	for _, v := range b.middle {
		square += v * v
	}
	b.length = math.Sqrt(square)
	for i := range b.asked {
		for j, v := range queries.Row(i) {
			b.asked[i].middle += float64(v) * b.middle[j]
		}
	}
}

// replace makes the bytes of a strip.
func (b *bounds) replace(number int, rows []float32, lengths []float64) {
	b.strips[number] = round(b.documents[number*strip*len(b.middle):], strip, rows, lengths, b.middle, 0)
}

// round replaces rows, divided by their lengths and less the middle, by bytes, interleaved by fours with the bytes of
// so many rows: 128 and shift more than the integers.
func round(to []byte, of int, rows []float32, lengths, middle []float64, shift byte) rounded {
	r, most, width := rounded{scale: 1}, 0.0, len(middle)
	for i, length := range lengths {
		row, by := rows[i*width:(i+1)*width], 1/length
		for j, v := range row {
			if v := math.Abs(float64(v)*by - middle[j]); v > most {
				most = v
			}
		}
	}
	if most > 0 {
		r.scale = most / 127
	}
	for i, length := range lengths {
		square, lost, by, many := 0.0, 0.0, 1/length, 1/r.scale
		row := rows[i*width : (i+1)*width]
		r.sum = 0
		for at := 0; at+4 <= len(row); at += 4 {
			out, mid := to[at*of+4*i:][:4], middle[at:at+4]
			for j, v := range row[at : at+4] {
				v := float64(v)*by - mid[j]
				n := int(v*many+128.5) - 128
				out[j] = byte(n) + 128 + shift
				r.sum += n
				d := v - float64(n)*r.scale
				square += v * v
				lost += d * d
			}
		}
		r.length, r.lost = max(r.length, math.Sqrt(square)), max(r.lost, math.Sqrt(lost))
	}
	return r
}

// low is a number such that the sum of bytes of a query and any document of a strip is below it only if their product,
// divided by the document's length, is below product.
//
// With m the middle, x = m + s·q + r and y = t·p + u for a document and a query (q and p integers, s
// and t their scales), the product is x·y = m·y + s·t·(q·p) + r·y + s·q·u. The last two are at most |r||y|
// and (|x-m|+|r|)|u| (Cauchy and Schwarz). The product in float32 differs from it by at most
// (width/8+3)·2^-24·|x||y|, for what multiplications and additions round, and width·2^-150, for what
// is too small; 5·2^-24 more are for what is rounded in float64. Rounding down is worth up to 1.
func (b *bounds) low(strip, query int, product, shortest, longest float64) int32 {
	x, y, width := &b.strips[strip], &b.asked[query], float64(len(b.middle))
	both := (x.length + b.length) * y.length
	if both*longest >= hugeProduct {
		return math.MinInt32
	}
	off := x.lost*y.length + (x.length+x.lost)*y.lost + (width/8+8)*0x1p-24*both + width*0x1p-149/shortest
	low := math.Floor((product-y.middle-off)/(x.scale*y.scale)) + 128*float64(y.sum)
	switch {
	case low >= math.MaxInt32:
		return math.MaxInt32
	case low > math.MinInt32:
		return int32(low)
	}
	return math.MinInt32
}

// few offers what may be among the best of a group's queries in documents from … to-1 of a block, a span
// at most, or returns false where all products take less time.
func (s *search) few(group int, first int32, from, to int) bool {
	var found [span / strip][kmeans.Group]uint64
	query, size, count := group*kmeans.Group, kmeans.Group*len(s.bounds.middle), 0
	queries := min(kmeans.Group, s.queries.Rows-query)
	for at := from; at < to; at += strip {
		var low [kmeans.Group]int32
		for i := range low {
			if low[i] = math.MaxInt32; i < queries {
				low[i] = s.bounds.low(at/strip, query+i, s.hopeless(query+i), s.shortest[at/strip], s.longest[at/strip])
			}
			if low[i] == math.MinInt32 {
				return false
			}
		}
		in := &found[(at-from)/strip]
		*in = notBelow(s.bounds.documents[at*len(s.bounds.middle):], s.bounds.queries[group*size:(group+1)*size], &low)
		for i := range in {
			in[i] &= math.MaxUint64 >> max(0, strip-(to-at))
			count += bits.OnesCount64(in[i])
		}
	}
	if count > few {
		return false
	}
	for i := range queries {
		var rows [4]int
		n := 0
		offer := func() {
			products := s.products.Four(s.rows, &rows, query+i)
			for j, row := range rows[:n] {
				s.take(query+i, first, row, float64(products[j]))
			}
			n = 0
		}
		for at := range found {
			for left := found[at][i]; left != 0; left &= left - 1 {
				rows[n] = from + at*strip + bits.TrailingZeros64(left)
				if n++; n == len(rows) {
					offer()
				}
			}
		}
		if n > 0 {
			offer()
		}
	}
	return true
}
