package kernel

// #cgo CFLAGS: -Wno-psabi
// #cgo linux CFLAGS: -fopenmp
// #cgo linux LDFLAGS: -fopenmp
// #cgo LDFLAGS: -lm
// #include "kernel.h"
import "C"

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Block is how many neighbouring logits share a maximum.
const Block = 128

const (
	tileRows    = C.REDSI_ROWS
	tileColumns = C.REDSI_COLUMNS
)

// Head is an output matrix, packed for Scores.
type Head struct {
	Vocab  int // tokens
	depth  int
	of     C.int     // what a step is
	per    int       // numbers of a step
	packed []float32 // [ceil(vocab/16), depth, 16]; nil: pairs
	pairs  []uint32  // of bfloat16, [ceil(vocab/16), ceil(depth/2), 16]; of int8 what redsi_int8_round gives
}

// Pack copies weights, [vocab, depth]. With half, the weights and the states that they are multiplied with are rounded
// to bfloat16.
func Pack(weights []float32, vocab, depth int, half bool) (*Head, error) {
	if vocab < 1 || depth < 1 || len(weights) != vocab*depth {
		return nil, fmt.Errorf("%d weights for %d tokens of %d numbers", len(weights), vocab, depth)
	}
	h := &Head{Vocab: vocab, depth: depth, per: 1}
	if half {
		if h.per, h.of = 2, widened; C.redsi_decode_bf16() != 0 {
			h.of = C.REDSI_PAIRS
		}
		h.pairs = pack(nil, pairs(nil, weights, depth), h.steps(), tileColumns)
	} else {
		h.packed = pack(nil, weights, depth, tileColumns)
	}
	return h, nil
}

// steps are the numbers of a row, or pairs or fours of them.
func (h *Head) steps() int {
	return (h.depth + h.per - 1) / h.per
}

// widened is a step of bfloat16 where the processor has no instruction for its products, or the compiler knew none.
const widened = C.REDSI_WIDENED

// pairs rounds rows to the nearest bfloat16, the even one of two, two numbers in one; the last of an odd row is with a zero.
func pairs(dst []uint32, src []float32, depth int) []uint32 {
	dst = dst[:0]
	for row := range slices.Chunk(src, depth) {
		for of := range slices.Chunk(row, 2) {
			pair := round(of[0])
			if len(of) > 1 {
				pair |= round(of[1]) << 16
			}
			dst = append(dst, pair)
		}
	}
	return dst
}

func round(x float32) uint32 {
	if x != x {
		return 0x7fc0
	}
	u := math.Float32bits(x)
	return (u + 0x7fff + u>>16&1) >> 16
}

// pack lays rows out in groups of n, within which the same column's numbers stand
// side by side, in dst if that has room; it ends in zeros.
func pack[T any](dst, src []T, depth, n int) []T {
	rows := len(src) / depth
	dst = resize(dst, (rows+n-1)/n*n*depth)
	clear(dst)
	for r := 0; r < rows; r += n {
		group := dst[r*depth : r*depth+n*depth]
		for i := range min(n, rows-r) {
			for k, v := range src[(r+i)*depth : (r+i+1)*depth] {
				group[k*n+i] = v
			}
		}
	}
	return dst
}

// Logits are the scores of rows; the next Scores reuses its slices.
type Logits struct {
	Values []float32 // [rows, vocab]
	Norms  []float32 // [rows]: logarithm of the sum of the row's exponentials
	Maxima []float32 // [rows, Blocks(vocab)]: of each Block of a row

	states         []float32
	rounded, pairs []uint32
}

// Blocks is the number of maxima of a row.
func Blocks(vocab int) int { return (vocab + Block - 1) / Block }

// Scores multiplies states, [rows, depth], with the matrix. Rows with a number that is not finite have a norm that is
// not finite. The work is shared among threads; neither their number nor the other rows change a row's result.
func (h *Head) Scores(l *Logits, states []float32, threads int) error {
	return h.scores(l, states, threads, C.redsi_decode_openmp() != 0)
}

// scores shares the work by OpenMP or among goroutines.
func (h *Head) scores(l *Logits, states []float32, threads int, openmp bool) error {
	rows := len(states) / h.depth
	if rows < 1 || len(states) != rows*h.depth {
		return fmt.Errorf("%d states of %d numbers", len(states), h.depth)
	}
	l.Values, l.Norms, l.Maxima = resize(l.Values, rows*h.Vocab), resize(l.Norms, rows), resize(l.Maxima, rows*Blocks(h.Vocab))
	steps := h.steps()
	var of, with unsafe.Pointer
	switch {
	case h.of == C.REDSI_FLOATS:
		l.states = pack(l.states, states, steps, tileRows)
		of, with = unsafe.Pointer(&l.states[0]), unsafe.Pointer(&h.packed[0])
	case h.of >= C.REDSI_INT8_VNNI:
		l.pairs = round8(l.pairs, states, h.depth, C.REDSI_INT8_ROWS, 0, threads)
		of, with = unsafe.Pointer(&l.pairs[0]), unsafe.Pointer(&h.pairs[0])
	default:
		l.rounded = pairs(l.rounded, states, h.depth)
		l.pairs = pack(l.pairs, l.rounded, steps, tileRows)
		of, with = unsafe.Pointer(&l.pairs[0]), unsafe.Pointer(&h.pairs[0])
	}
	if openmp {
		C.redsi_decode_scores(of, with, h.of, C.int64_t(rows), C.int64_t(steps), C.int64_t(h.Vocab), C.int(max(threads, 1)),
			c(l.Values), c(l.Maxima), c(l.Norms))
		return nil
	}
	share(Blocks(h.Vocab), 4, threads, func(from, to int) {
		C.redsi_decode_multiply(of, with, h.of, C.int64_t(rows), C.int64_t(steps), C.int64_t(h.Vocab),
			C.int64_t(from), C.int64_t(to), c(l.Values), c(l.Maxima))
	})
	share(rows, 8, threads, func(from, to int) {
		C.redsi_decode_normalize(c(l.Values[from*h.Vocab:]), C.int64_t(to-from), C.int64_t(h.Vocab), c(l.Maxima[from*Blocks(h.Vocab):]), c(l.Norms[from:]))
	})
	return nil
}

func c(s []float32) *C.float { return (*C.float)(unsafe.Pointer(&s[0])) }

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// share calls f for 0 … n-1, some at a time, on several threads.
func share(n, some, threads int, f func(from, to int)) {
	var next atomic.Int64
	work := func() {
		for {
			to := int(next.Add(int64(some)))
			if to-some >= n {
				return
			}
			f(to-some, min(to, n))
		}
	}
	var wait sync.WaitGroup
	for range min(threads, (n+some-1)/some) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}
