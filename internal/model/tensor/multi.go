package tensor

import (
	lib "github.com/sugarme/gotch/libtch"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// What follows changes many tensors by few operations, for a card: the numbers that decide about an
// update stay on the device, and nothing waits for it. A CPU computes the same. The host's numbers that
// they take, in options, are the same in all updates: calls may be recorded and replayed, with
// other values in the same tensors.
//
// Found, float32 [1], is 1 where an update must change nothing, and 0 elsewhere; divisor, float32
// [1], is what gradients are divided by. Both may be nil. Rate, float32 [1], is the learning rate. All
// lie on the device of the tensors that are changed.

// CopyAll copies from[i] to to[i], of the same shapes, whatever the types: one operation for
// all tensors of a pair of types. It takes no memory.
func (s *Scope) CopyAll(to, from []*Tensor) {
	const op = "CopyAll"
	if len(to) != len(from) {
		Failf(op, "%d tensors to copy to %d", len(from), len(to))
	}
	if len(to) == 0 {
		return
	}
	must(op, native.CopyAll(list(op, to), list(op, from)))
}

// ScalerOptions are the numbers of one check; package amp says what they mean.
type ScalerOptions = native.CheckOptions

// ScalerWords is how many numbers a scaler's state has before its ring.
const ScalerWords = native.ScalerWords

// CheckInPlace takes an update's loss, one number, and its gradients, of any float types, into a
// scaler's state, float32 [ScalerWords + 2*Ring], at a slot of its ring, int64 [1], which is below Ring.
func (s *Scope) CheckInPlace(state, loss *Tensor, grads []*Tensor, slot *Tensor, o ScalerOptions) {
	const op = "CheckInPlace"
	must(op, native.Check(state.n(op), loss.n(op), list(op, grads), slot.n(op), o), state, loss, slot)
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
type AdafactorClass = native.AdafactorClass

// Means is how many running means the class has.
func Means(c AdafactorClass) int64 { return c.Members * (c.Rows + c.Columns) }

// AdafactorAt is what AdafactorAllInPlace takes beside parameters and gradients.
type AdafactorAt struct {
	Classes []AdafactorClass // of the parameters, in their order
	// Means are the running means of squares, one class behind the other: over columns,
	// [Members, Rows], then over rows, [Members, Columns], or a vector's squares, [Members, Rows].
	Means *Tensor
	// Inverse has for each of Means 1/√n, n being how many squares it is over.
	Inverse *Tensor
	Steps   *Tensor // float32 [1]: updates, with this one
	Power   float64 // of Steps: the weight of the present squares, negative
}

// AdafactorAllInPlace updates all parameters, float32, with their gradients, of any float types.
// AdafactorOptions.Rate and Beta2 are not read. The gradients of a class with several members, of up to 2²⁷
// elements at once, are copied, and beside them there are 4 bytes for each element of the
// largest class.
func (s *Scope) AdafactorAllInPlace(p, g []*Tensor, at AdafactorAt, rate, found, divisor *Tensor, o AdafactorOptions) {
	const op = "AdafactorAllInPlace"
	must(op, native.AdafactorAll(list(op, p), list(op, g), at.Classes, at.Means.n(op), at.Inverse.n(op), at.Steps.n(op), at.Power,
		rate.n(op), found.optional(op), divisor.optional(op), o))
}

// AdamWAllInPlace updates parameters, float32, with their gradients, of any float types; the running
// means change too, and gradients in float32 may. AdamWOptions.Rate and Step are not read: steps,
// float32 [1], counts from 1. Of gradients of other types, up to 2²⁷ elements at once are copied to float32.
func (s *Scope) AdamWAllInPlace(p, g, mean, square []*Tensor, steps, rate, found, divisor *Tensor, o AdamWOptions) {
	const op = "AdamWAllInPlace"
	must(op, native.AdamWAll(list(op, p), list(op, g), list(op, mean), list(op, square), steps.n(op), rate.n(op), found.optional(op), divisor.optional(op), o))
}

func list(op string, tensors []*Tensor) []native.Tensor {
	out := make([]native.Tensor, len(tensors))
	for i, t := range tensors {
		out[i] = t.n(op)
	}
	return out
}

// optional is nil for nil.
func (t *Tensor) optional(op string) native.Tensor {
	if t == nil {
		return nil
	}
	return t.n(op)
}
