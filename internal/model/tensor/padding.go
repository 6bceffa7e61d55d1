package tensor

// #include "native/native.h"
// #include "native/composed.h"
import "C"

// Padding is how the rows of packed sequences lie in a padded batch on a card: in [n, most] places, a sequence a row.
// It belongs to a scope, and holds indexes on the card, which all layers share.
type Padding struct {
	scope         *Scope
	n, most, rows int64
	unique        bool    // each row belongs to one sequence: it has a place, and gradients
	pad, back     *Tensor // [n*most] row of each place, [rows] place of each row
	len           *Tensor // [n]
	ends          *Tensor // [n+1] I32: cumulative lengths, of sequences that follow one another; else nil
	lines         map[lines]*Tensor
}

// lines name an index of single heads' lines.
type lines struct{ heads, count, step int64 } // step 0: back

// PaddingIndexes are what NewPadding reads on the card, of sequences of packed rows: sequence i has length[i] rows from
// row start[i] on, and most places, 0 being as many as the longest has rows. They need no card, and any goroutine may
// compute them.
func PaddingIndexes(start, length []int64, rows, most int64) (array []int64) {
	most = places(start, length, rows, most)
	back := make([]int64, rows)
	for i, at := range start {
		for j := range most {
			if j >= length[i] {
				array = append(array, at) // what is there is finite, and hidden
				continue
			}
			array = append(array, at+j)
			back[at+j] = int64(i)*most + j
		}
	}
	array, end := append(append(append(array, back...), length...), 0), int64(0)
	for _, n := range length {
		end += n
		array = append(array, end)
	}
	return array
}

// places is what most is, of sequences that fit.
func places(start, length []int64, rows, most int64) int64 {
	const op = "PaddingIndexes"
	if len(start) == 0 || len(start) != len(length) {
		Failf(op, "%d starts and %d lengths of sequences", len(start), len(length))
	}
	longest := int64(0)
	for i, n := range length {
		if n <= 0 || start[i] < 0 || start[i]+n > rows {
			Failf(op, "sequence %d has %d rows from row %d on, of %d", i, n, start[i], rows)
		}
		longest = max(longest, n)
	}
	if most != 0 && most < longest {
		Failf(op, "%d places for %d rows of a sequence", most, longest)
	}
	return max(most, longest)
}

// NewPadding is the padding of sequences, whose PaddingIndexes came up as indexes (Upload).
func (s *Scope) NewPadding(start, length []int64, rows, most int64, indexes *Tensor) *Padding {
	const op = "NewPadding"
	n := int64(len(start))
	most = places(start, length, rows, most)
	if want := n*most + rows + n + n + 1; indexes.Numel() != want {
		Failf(op, "%d indexes, want %d", indexes.Numel(), want)
	}
	p := &Padding{scope: s, n: n, most: most, rows: rows, lines: map[lines]*Tensor{}}
	p.pad, p.back = s.Narrow(indexes, 0, 0, n*most), s.Narrow(indexes, 0, n*most, rows)
	p.len = s.Narrow(indexes, 0, n*most+rows, n)
	seen, sum, follow := make([]bool, rows), int64(0), true
	p.unique = true
	for i, at := range start {
		follow = follow && at == sum
		for j := at; j < at+length[i]; j++ {
			p.unique = p.unique && !seen[j]
			seen[j] = true
		}
		sum += length[i]
	}
	p.unique = p.unique && sum == rows
	if follow && p.unique {
		p.ends = s.ToDType(s.Narrow(indexes, 0, n*most+rows+n, n+1), I32)
	}
	return p
}

// index is the padding's index of count matrices side by side, whose rows are step lines of a head apart; by places
// where step is 0. For rows that are not split into heads it is pad and back.
func (p *Padding) index(op string, heads, count, step int64) *Tensor {
	key := lines{heads: heads, count: count, step: step}
	if p.lines[key] == nil {
		n, most, heads, count := C.int64_t(p.n), C.int64_t(p.most), C.int64_t(heads), C.int64_t(count)
		p.lines[key] = p.scope.native(op, func(out *handle) *C.char {
			if step > 0 {
				return C.redsi_head_lines(out, p.pad.n(op), n, most, heads, count, C.int64_t(step))
			}
			return C.redsi_head_places(out, p.back.n(op), n, most, heads, count)
		}, p.pad)
	}
	return p.lines[key]
}
