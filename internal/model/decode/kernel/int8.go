package kernel

// #include "kernel.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// deepest is how many numbers a row of int8 has at most: sums of their products, with one factor unsigned, fit into 32
// bits.
const deepest = (1<<31 - 1) / (127 * 255)

// PackInt8 copies weights, [vocab, depth], as integers from -127 to 127 and a scale for each of the vocab rows, which
// is set by the row's largest magnitude. States that they are multiplied with are rounded in the same way, and sums are
// exact: results are the same bytes on every processor, and other rows do not change a row's results.
func PackInt8(weights []float32, vocab, depth int) (*Head, error) {
	if vocab < 1 || depth < 1 || len(weights) != vocab*depth {
		return nil, fmt.Errorf("%d weights for %d rows of %d numbers", len(weights), vocab, depth)
	}
	if depth > deepest {
		return nil, fmt.Errorf("rows of %d numbers; int8 is summed up to %d: use another precision", depth, deepest)
	}
	return &Head{Vocab: vocab, depth: depth, per: 4, of: C.redsi_int8_best(), pairs: round8(nil, weights, depth, C.REDSI_INT8_COLUMNS, 0x80808080, 1)}, nil
}

// Int8 reports whether the processor has instructions with which products of int8 take no longer than float32's.
func Int8() bool { return C.redsi_int8_best() != plain8 }

// plain8 is the form of int8 for processors without any instruction for it.
const plain8 = C.REDSI_INT8_PLAIN

// round8 is redsi_int8_round, into dst if that has room.
func round8(dst []uint32, x []float32, depth, width int, flip uint32, threads int) []uint32 {
	n := len(x) / depth
	dst = resize(dst, (n+width-1)/width*width*((depth+3)/4+2))
	C.redsi_int8_round(c(x), C.int64_t(n), C.int64_t(depth), C.int64_t(width), C.uint32_t(flip), C.int(max(threads, 1)), (*C.uint32_t)(&dst[0]))
	return dst
}

// Rows are rounded to int8, to be multiplied by several matrices; Set reuses their memory.
type Rows struct {
	depth, n int
	words    []uint32
}

// Set rounds x, [rows, depth], shared among threads.
func (r *Rows) Set(x []float32, depth, threads int) {
	r.depth, r.n = depth, len(x)/depth
	r.words = round8(r.words, x, depth, C.REDSI_INT8_ROWS, 0, threads)
}

// Product is the product of rows with a matrix of PackInt8, [rows, vocab], plus bias [vocab] or nil, shared among threads.
func (h *Head) Product(out []float32, x *Rows, bias []float32, threads int) error {
	if h.of < C.REDSI_INT8_VNNI || x.depth != h.depth || len(out) != x.n*h.Vocab || len(bias) != h.Vocab && bias != nil {
		return fmt.Errorf("%d rows of %d numbers by a matrix of int8 [%d, %d] into %d", x.n, x.depth, h.Vocab, h.depth, len(out))
	}
	if 2*x.n*h.Vocab*h.depth < 1<<24 {
		threads = 1
	}
	var plus *C.float
	if bias != nil {
		plus = c(bias)
	}
	C.redsi_int8_product(unsafe.Pointer(&x.words[0]), unsafe.Pointer(&h.pairs[0]), h.of, C.int64_t(x.n), C.int64_t(h.steps()), C.int64_t(h.Vocab), C.int(max(threads, 1)), plus, c(out))
	return nil
}
