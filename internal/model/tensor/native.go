package tensor

import (
	"unsafe"

	lib "github.com/sugarme/gotch/libtch"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// ownNative takes the result of an operation of package native.
func (s *Scope) ownNative(op string, c native.Tensor, msg string, operands ...*Tensor) *Tensor {
	must(op, msg, operands...)
	return s.own(op, lib.Ctensor(c), operands...)
}

func float32s(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

func (t *Tensor) n(op string) native.Tensor { return native.Tensor(t.use(op)) }
