//go:build linux && cgo

package cudalib

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "loader.h"
import "C"

import (
	"errors"
	"unsafe"
)

// loaded is the file of a library in this process; "" if no library has that name.
func loaded(name string) string {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return take(C.redsi_lib_loaded(n))
}

// open loads a library whose symbols all others see.
func open(path string) error {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	if msg := take(C.redsi_lib_open(p)); msg != "" {
		return errors.New(msg)
	}
	return nil
}

// number calls a function of a library that stores an int, and returns what it returns.
func number(library, function string) (value, status int, err error) {
	l, f := C.CString(library), C.CString(function)
	defer C.free(unsafe.Pointer(l))
	defer C.free(unsafe.Pointer(f))
	var v, s C.int
	if msg := take(C.redsi_lib_number(l, f, &v, &s)); msg != "" {
		return 0, 0, errors.New(msg)
	}
	return int(v), int(s), nil
}

// text calls a function of a library that makes a text of an int.
func text(library, function string, n int) string {
	l, f := C.CString(library), C.CString(function)
	defer C.free(unsafe.Pointer(l))
	defer C.free(unsafe.Pointer(f))
	return take(C.redsi_lib_text(l, f, C.int(n)))
}

// take copies and frees a text that C allocated; NULL is "".
func take(text *C.char) string {
	if text == nil {
		return ""
	}
	defer C.free(unsafe.Pointer(text))
	return C.GoString(text)
}
