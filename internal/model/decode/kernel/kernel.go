package kernel

// #cgo CFLAGS: -Wno-psabi
// #cgo linux CFLAGS: -fopenmp
// #cgo linux LDFLAGS: -fopenmp
// #cgo LDFLAGS: -lm
// #include "kernel.h"
import "C"

import (
	"fmt"
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
	vocab, depth int
	packed       []float32 // [ceil(vocab/16), depth, 16]
}

// Pack copies weights, [vocab, depth].
func Pack(weights []float32, vocab, depth int) (*Head, error) {
	if vocab < 1 || depth < 1 || len(weights) != vocab*depth {
		return nil, fmt.Errorf("%d weights for %d tokens of %d numbers", len(weights), vocab, depth)
	}
	h := &Head{vocab: vocab, depth: depth, packed: make([]float32, (vocab+tileColumns-1)/tileColumns*tileColumns*depth)}
	pack(h.packed, weights, vocab, depth, tileColumns)
	return h, nil
}

// pack lays rows out in groups of n, within which the same column's numbers stand
// side by side; dst ends in zeros.
func pack(dst, src []float32, rows, depth, n int) {
	for r := 0; r < rows; r += n {
		group := dst[r*depth : r*depth+n*depth]
		for i := range min(n, rows-r) {
			for k, v := range src[(r+i)*depth : (r+i+1)*depth] {
				group[k*n+i] = v
			}
		}
	}
}

// Vocab is the number of tokens.
func (h *Head) Vocab() int { return h.vocab }

// Logits are the scores of rows; its slices are used again by the next Scores.
type Logits struct {
	Values []float32 // [rows, vocab]
	Norms  []float32 // [rows]: logarithm of the sum of the row's exponentials
	Maxima []float32 // [rows, Blocks(vocab)]: of each Block of a row

	states []float32
}

// Blocks is the number of maxima of a row.
func Blocks(vocab int) int { return (vocab + Block - 1) / Block }

// Scores multiplies states, [rows, depth], with the matrix. Rows with a number that
// is not finite have a norm that is not finite. The work is shared among threads;
// neither their number nor the other rows change a row's result.
func (h *Head) Scores(l *Logits, states []float32, threads int) error {
	return h.scores(l, states, threads, C.redsi_decode_openmp() != 0)
}

// scores shares the work by OpenMP or among goroutines.
func (h *Head) scores(l *Logits, states []float32, threads int, openmp bool) error {
	rows := len(states) / h.depth
	if rows < 1 || len(states) != rows*h.depth {
		return fmt.Errorf("%d states of %d numbers", len(states), h.depth)
	}
	l.Values, l.Norms, l.Maxima = resize(l.Values, rows*h.vocab), resize(l.Norms, rows), resize(l.Maxima, rows*Blocks(h.vocab))
	l.states = resize(l.states, (rows+tileRows-1)/tileRows*tileRows*h.depth)
	clear(l.states)
	pack(l.states, states, rows, h.depth, tileRows)
	if openmp {
		C.redsi_decode_scores(c(l.states), c(h.packed), C.int64_t(rows), C.int64_t(h.depth), C.int64_t(h.vocab), C.int(max(threads, 1)),
			c(l.Values), c(l.Maxima), c(l.Norms))
		return nil
	}
	share(Blocks(h.vocab), 4, threads, func(from, to int) {
		C.redsi_decode_multiply(c(l.states), c(h.packed), C.int64_t(rows), C.int64_t(h.depth), C.int64_t(h.vocab),
			C.int64_t(from), C.int64_t(to), c(l.Values), c(l.Maxima))
	})
	share(rows, 8, threads, func(from, to int) {
		C.redsi_decode_normalize(c(l.Values[from*h.vocab:]), C.int64_t(to-from), C.int64_t(h.vocab), c(l.Maxima[from*Blocks(h.vocab):]), c(l.Norms[from:]))
	})
	return nil
}

func c(s []float32) *C.float { return (*C.float)(unsafe.Pointer(&s[0])) }

func resize(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
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
