package native

// #include "autograd.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// pinned is what C reads an array of tensors from.
func pinned(pin *runtime.Pinner, all []Tensor) *unsafe.Pointer {
	if len(all) == 0 {
		return nil
	}
	pin.Pin(&all[0])
	return &all[0]
}

// Backward is the gradients of the sum of outs times grads with respect to leaves; nil where nothing
// depends on one.
func Backward(outs, grads, leaves []Tensor) (all []Tensor, msg string) {
	var pin runtime.Pinner
	defer pin.Unpin()
	all = make([]Tensor, len(leaves))
	msg = message(C.redsi_backward(pinned(&pin, outs), pinned(&pin, grads), C.int64_t(len(outs)),
		pinned(&pin, leaves), C.int64_t(len(leaves)), pinned(&pin, all)))
	return all, msg
}

// Split is t's parts along dim, views of it.
func Split(t Tensor, sizes []int64, dim int64) (parts []Tensor, msg string) {
	var pin runtime.Pinner
	defer pin.Unpin()
	if len(sizes) == 0 {
		return nil, "no sizes"
	}
	parts = make([]Tensor, len(sizes))
	pin.Pin(&sizes[0])
	msg = message(C.redsi_split(pinned(&pin, parts), t, (*C.int64_t)(&sizes[0]), C.int64_t(len(sizes)), C.int64_t(dim)))
	return parts, msg
}

// PutAt makes t's memory that of at.
func PutAt(t, at Tensor) (msg string) { return message(C.redsi_place(t, at)) }

// AddAll is to[i] += from[i].
func AddAll(to, from []Tensor) (msg string) {
	if len(to) != len(from) {
		return "lists of different lengths"
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	return message(C.redsi_add_all(pinned(&pin, to), pinned(&pin, from), C.int64_t(len(to))))
}
