package native

// #include "autograd.h"
import "C"

// Backward is the gradients of the sum of outs times grads with respect to leaves; nil where nothing
// depends on one.
func Backward(outs, grads, leaves []Tensor) (all []Tensor, msg string) {
	all = make([]Tensor, len(leaves))
	msg = message(C.redsi_backward(first(outs), first(grads), C.int64_t(len(outs)), first(leaves), C.int64_t(len(leaves)), first(all)))
	return all, msg
}

// Split is t's parts along dim, views of it.
func Split(t Tensor, sizes []int64, dim int64) (parts []Tensor, msg string) {
	if len(sizes) == 0 {
		return nil, "no sizes"
	}
	parts = make([]Tensor, len(sizes))
	msg = message(C.redsi_split(first(parts), t, (*C.int64_t)(&sizes[0]), C.int64_t(len(sizes)), C.int64_t(dim)))
	return parts, msg
}

// PutAt makes t's memory that of at.
func PutAt(t, at Tensor) (msg string) { return message(C.redsi_place(t, at)) }

// AddAll is to[i] += from[i].
func AddAll(to, from []Tensor) (msg string) {
	if len(to) != len(from) {
		return "lists of different lengths"
	}
	return message(C.redsi_add_all(first(to), first(from), C.int64_t(len(to))))
}
