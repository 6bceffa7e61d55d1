package tensor

// #include "native/native.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	lib "github.com/sugarme/gotch/libtch"
)

// Try calls f on a locked OS thread and returns the *Error that an operation in
// it panicked with. Any other panic goes on.
func Try(f func()) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	Card()
	C.redsi_adopt_num_threads()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Error:
			err = p
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// Failf panics with an *Error of the caller's own, for model code that finds a shape or a value it cannot work with.
func Failf(op, format string, args ...any) {
	panic(&Error{Op: op, Message: fmt.Sprintf(format, args...)})
}

// check panics if the last libtorch call on this thread failed.
func check(op string, operands ...*Tensor) {
	if msg := lib.GetAndResetLastErr(); msg != nil {
		fail(op, text(unsafe.Pointer(msg)), operands)
	}
}

func fail(op, msg string, operands []*Tensor) {
	e := &Error{Op: op, Message: trim(msg)}
	for _, t := range operands {
		if t != nil && t.c != nil {
			e.Shapes = append(e.Shapes, t.String())
		}
	}
	panic(e)
}

// trim drops the C++ stack that libtorch appends; its allocator appends only the frames.
func trim(msg string) string {
	for _, stack := range []string{"\nException raised from", "\nframe #"} {
		if i := strings.Index(msg, stack); i >= 0 {
			msg = msg[:i]
		}
	}
	return strings.TrimSpace(msg)
}
