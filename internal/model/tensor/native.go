package tensor

// #include <stdlib.h>
// #include "native/native.h"
import "C"

import (
	"unsafe"

	lib "github.com/sugarme/gotch/libtch"

	_ "github.com/redsi/redsi/internal/model/tensor/native" // the functions that are called here as C's

	"github.com/redsi/redsi/internal/system/lists"
)

// handle is a torch::Tensor*.
type handle = unsafe.Pointer

// n is the tensor as functions of package native take it.
func (t *Tensor) n(op string) handle { return handle(t.use(op)) }

// optional is nil for nil.
func (t *Tensor) optional(op string) handle {
	if t == nil {
		return nil
	}
	return t.n(op)
}

// list is where a list of tensors begins, and how many there are.
func list(op string, tensors []*Tensor) (*handle, C.int64_t) {
	out := lists.Map(tensors, func(t *Tensor) handle { return t.n(op) })
	return unsafe.SliceData(out), C.int64_t(len(out))
}

// native is the result of a function of package native, which puts it into out.
func (s *Scope) native(op string, f func(out *handle) *C.char, operands ...*Tensor) *Tensor {
	var out handle
	must(op, f(&out), operands...)
	return s.own(op, lib.Ctensor(out), operands...)
}

// must panics with what a function of package native says that failed; nil: nothing did.
func must(op string, msg *C.char, operands ...*Tensor) {
	if msg != nil {
		fail(op, text(unsafe.Pointer(msg)), operands)
	}
}

// text copies and frees a text that C allocated.
func text(c unsafe.Pointer) string {
	defer C.free(c)
	return C.GoString((*C.char)(c))
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
