package tensor

// #include "native/native.h"
// #include "native/autograd.h"
import "C"

import (
	"math"

	lib "github.com/sugarme/gotch/libtch"
)

// AdafactorOptions are transformers' arguments of the same names.
type AdafactorOptions struct {
	ScaleParameter bool    // multiply the rate by max(Eps2, rms(parameter))
	Eps1, Eps2     float64 // eps
	ClipThreshold  float64
	DecayRate      float64
	WeightDecay    float64
}

// c are the options of an update at a rate, which weighs the running means by beta2.
func (o AdafactorOptions) c(rate, beta2 float64) *C.redsi_adafactor_args {
	return &C.redsi_adafactor_args{
		lr: C.double(rate), beta2: C.double(beta2), eps1: C.double(o.Eps1), eps2: C.double(o.Eps2),
		clip: C.double(o.ClipThreshold), weight_decay: C.double(o.WeightDecay), scale_parameter: C.int(flag(o.ScaleParameter)),
	}
}

// AdafactorInPlace updates p with its gradient g, for the step-th time. The running means of squares are
// row and col of a matrix, full of a vector, and change too; the others are nil.
func (s *Scope) AdafactorInPlace(p, g, row, col, full *Tensor, o AdafactorOptions, rate float64, step int64) {
	const op = "AdafactorInPlace"
	args := o.c(rate, 1-math.Pow(float64(step), o.DecayRate))
	must(op, C.redsi_adafactor(p.n(op), g.n(op), row.optional(op), col.optional(op), full.optional(op), args), p, g, row, col, full)
}

// AdamWOptions are torch's arguments of the same names.
type AdamWOptions struct {
	Beta1, Beta2 float64 // betas
	Eps          float64
	WeightDecay  float64
}

func (o AdamWOptions) c(rate float64, step int64) *C.redsi_adamw_args {
	return &C.redsi_adamw_args{lr: C.double(rate), beta1: C.double(o.Beta1), beta2: C.double(o.Beta2), eps: C.double(o.Eps),
		weight_decay: C.double(o.WeightDecay), step: C.int64_t(step)}
}

// AdamWInPlace updates p with its gradient g, for the step-th time. The running means of g and of its squares
// change too.
func (s *Scope) AdamWInPlace(p, g, mean, square *Tensor, o AdamWOptions, rate float64, step int64) {
	const op = "AdamWInPlace"
	must(op, C.redsi_adamw_update(p.n(op), g.n(op), mean.n(op), square.n(op), o.c(rate, step)), p, g, mean, square)
}

// SquareSum is the sum of the squares of t's elements; on a CPU the same for any number of threads.
func (s *Scope) SquareSum(t *Tensor) float64 {
	const op = "SquareSum"
	var sum C.double
	must(op, C.redsi_square_sum(&sum, t.n(op)), t)
	return float64(sum)
}

// AddRowsInPlace is to[index[i]] += from[i]: to [n, d], index I64 [m], from [m, d]. On a card
// too sums have one order: rows are sorted by their index first.
func (s *Scope) AddRowsInPlace(to, index, from *Tensor) {
	const op = "AddRowsInPlace"
	must(op, C.redsi_add_rows(to.n(op), index.n(op), from.n(op)), to, index, from)
}

// What follows changes many tensors by few operations, for a card: the numbers that decide about an update stay on the
// device, and the host does not wait for it. A CPU computes the same. The host's numbers that they take, in options,
// are the same in all updates: calls may be recorded and replayed, with other values in the same tensors.
//
// Found, float32 [1], is 1 where an update must change nothing, and 0 elsewhere; divisor, float32
// [1], is what gradients are divided by. Both may be nil. Rate, float32 [1], is the learning rate. All
// lie on the device of the tensors that are changed.

// pairs are two lists of as many tensors.
func pairs(op string, a, b []*Tensor) (x, y *handle, n C.int64_t) {
	if len(a) != len(b) {
		Failf(op, "lists of %d and %d tensors", len(a), len(b))
	}
	x, n = list(op, a)
	y, _ = list(op, b)
	return x, y, n
}

// CopyAll copies from[i] to to[i], of the same shapes, whatever the types: one operation for
// all tensors of a pair of types. It takes no memory.
func (s *Scope) CopyAll(to, from []*Tensor) {
	const op = "CopyAll"
	if x, y, n := pairs(op, to, from); n > 0 {
		must(op, C.redsi_copy_all(x, y, n))
	}
}

// AddAll is to[i] += from[i], on a card by few launches for all of them.
func (s *Scope) AddAll(to, from []*Tensor) {
	const op = "AddAll"
	if x, y, n := pairs(op, to, from); n > 0 {
		must(op, C.redsi_add_all(x, y, n), to...)
	}
}

// ScalerOptions are what a scaler does with updates.
type ScalerOptions struct {
	// Scaled says that the loss is multiplied by a factor that adapts, which float16 needs. A bad update is left out,
	// and the next one is tried with half the factor, unless the loss itself is not finite: no factor mends that.
	// Without Scaled the first bad update is the last: nothing changes from there on.
	Scaled bool
	// ClipNorm bounds the norm of all gradients together; 0: it is not bounded.
	ClipNorm float64
	// Ring is how many updates are kept until they are read.
	Ring int
}

// How a scaler's factor adapts: the defaults of torch's GradScaler.
const (
	growth   = 2
	backoff  = 0.5
	interval = 2000
)

// ScalerWords is how many numbers a scaler's state has before its ring: the scale, how many updates it
// stood (an int32), what is NaN once an update was bad, the divisor, and the last update's loss and flag.
const ScalerWords = 6

// CheckInPlace takes an update's loss, one number, and its gradients, of any float types, into a
// scaler's state, float32 [ScalerWords + 2*Ring], at a slot of its ring, int64 [1], which is below Ring.
func (s *Scope) CheckInPlace(state, loss *Tensor, grads []*Tensor, slot *Tensor, o ScalerOptions) {
	const op = "CheckInPlace"
	args := &C.redsi_check_args{ring: C.int64_t(o.Ring), interval: interval, clip: C.double(o.ClipNorm), growth: growth, backoff: backoff, scaled: C.int(flag(o.Scaled))}
	all, n := list(op, grads)
	must(op, C.redsi_check(state.n(op), loss.n(op), all, n, slot.n(op), args), state, loss, slot)
}

// CountUpdateInPlace is steps += 1 - found: an update that changed nothing does not count.
func (s *Scope) CountUpdateInPlace(steps, found *Tensor) {
	const op = "CountUpdateInPlace"
	s.scalarInPlace(op, lib.AtgAddScalar_, steps, 1)
	if found != nil {
		s.binaryInPlace(op, lib.AtgSub_, steps, found)
	}
}

// AdafactorClass is a number of parameters of one shape: matrices of Rows and Columns, or vectors of
// Rows numbers where Columns is 0.
type AdafactorClass struct{ Members, Rows, Columns int64 }

// Means is how many running means the class has.
func (c AdafactorClass) Means() int64 { return c.Members * (c.Rows + c.Columns) }

// AdafactorAt is what AdafactorAllInPlace takes beside parameters and gradients.
type AdafactorAt struct {
	Classes []AdafactorClass // of the parameters, in their order
	// Means are the running means of squares, one class behind the other: over columns,
	// [Members, Rows], then over rows, [Members, Columns], or a vector's squares, [Members, Rows].
	Means *Tensor
	// Inverse has for each of Means 1/√n, n being how many squares it is over.
	Inverse *Tensor
	Steps   *Tensor // float32 [1]: updates, with this one
}

// AdafactorAllInPlace updates all parameters, float32, with their gradients, of any float types. The gradients of a
// class with several members, of up to 2²⁷ elements at once, are copied, and beside them there are 4 bytes for each
// element of the largest class.
func (s *Scope) AdafactorAllInPlace(p, g []*Tensor, at AdafactorAt, rate, found, divisor *Tensor, o AdafactorOptions) {
	const op = "AdafactorAllInPlace"
	params, grads, n := pairs(op, p, g)
	must(op, C.redsi_adafactor_all(params, grads, n, (*C.int64_t)(&at.Classes[0].Members), C.int64_t(len(at.Classes)), at.Means.n(op), at.Inverse.n(op),
		at.Steps.n(op), C.double(o.DecayRate), rate.n(op), found.optional(op), divisor.optional(op), o.c(0, 0))) // rate and steps are on the device
}

// AdamWAllInPlace updates parameters, float32, with their gradients, of any float types; the running
// means change too, and gradients in float32 may. Steps, float32 [1], counts from 1. Of gradients of other types, up to 2²⁷ elements at once are copied to float32.
func (s *Scope) AdamWAllInPlace(p, g, mean, square []*Tensor, steps, rate, found, divisor *Tensor, o AdamWOptions) {
	const op = "AdamWAllInPlace"
	params, grads, n := pairs(op, p, g)
	means, squares, m := pairs(op, mean, square)
	if m != n {
		Failf(op, "%d parameters and %d means", n, m)
	}
	must(op, C.redsi_adamw_all(params, grads, means, squares, n, steps.n(op), rate.n(op), found.optional(op), divisor.optional(op), o.c(0, 0)))
}
