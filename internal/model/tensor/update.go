package tensor

import "github.com/redsi/redsi/internal/model/tensor/native"

// AdafactorOptions are the numbers of one update; package adafactor says what they mean.
type AdafactorOptions = native.AdafactorOptions

// AdafactorInPlace updates p with its gradient g. The running means of squares are
// row and col of a matrix, full of a vector, and change too; the others are nil.
func (s *Scope) AdafactorInPlace(p, g, row, col, full *Tensor, o AdafactorOptions) {
	const op = "AdafactorInPlace"
	must(op, native.Adafactor(p.n(op), g.n(op), row.optional(op), col.optional(op), full.optional(op), o), p, g, row, col, full)
}

// AdamWOptions are the numbers of one update; package adamw says what they mean.
type AdamWOptions = native.AdamWOptions

// AdamWInPlace updates p with its gradient g. The running means of g and of its squares
// change too.
func (s *Scope) AdamWInPlace(p, g, mean, square *Tensor, o AdamWOptions) {
	const op = "AdamWInPlace"
	must(op, native.AdamW(p.n(op), g.n(op), mean.n(op), square.n(op), o), p, g, mean, square)
}

// SquareSum is the sum of the squares of t's elements; on a CPU the same for any number
// of threads.
func (s *Scope) SquareSum(t *Tensor) float64 {
	const op = "SquareSum"
	sum, msg := native.SquareSum(t.n(op))
	must(op, msg, t)
	return sum
}

// AddRowsInPlace is to[index[i]] += from[i]: to [n, d], index I64 [m], from [m, d]. On a card
// too sums have one order: rows are sorted by their index first.
func (s *Scope) AddRowsInPlace(to, index, from *Tensor) {
	const op = "AddRowsInPlace"
	must(op, native.AddRows(to.n(op), index.n(op), from.n(op)), to, index, from)
}
