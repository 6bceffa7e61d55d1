//go:build linux

package kernels

// #cgo CXXFLAGS: -std=c++17 -DREDSI_NATIVE
// #cgo LDFLAGS: -ltorch_cpu -lc10 -lstdc++ -ldl
// #include <stdlib.h>
// #include "kernels.h"
import "C"

import (
	"errors"
	"path/filepath"
	"strings"
	"unsafe"
)

// Load loads libtorch's CUDA half of a folder as `make cuda` makes it, or of one with empty libraries
// of NVIDIA's. A driver need not be there. It stays for the rest of the process.
func Load(folder string) error {
	path := C.CString(filepath.Join(folder, "torch", "lib", "libtorch_cuda.so"))
	defer C.free(unsafe.Pointer(path))
	if msg := take(C.redsi_kernels_load(path)); msg != "" {
		return errors.New(msg)
	}
	return nil
}

// Log returns the names of the operators that are called while f runs, by whichever thread,
// sorted: "aten::add.Tensor". One at a time in a process.
func Log(f func()) (names []string) {
	C.redsi_kernels_log_begin()
	defer func() { names = strings.Fields(take(C.redsi_kernels_log_end())) }()
	f()
	return names
}

// of says where an operator has kernels.
func of(operator string) []string {
	space, rest, _ := strings.Cut(operator, "::")
	base, overload, _ := strings.Cut(rest, ".")
	n, o := C.CString(space+"::"+base), C.CString(overload)
	defer C.free(unsafe.Pointer(n))
	defer C.free(unsafe.Pointer(o))
	return strings.Fields(take(C.redsi_kernels_of(n, o)))
}

// fakes makes operators that its test refuses: redsi_test::on_cpu, which has a kernel for the CPU alone, and
// redsi_test::no_grad, whose derivative only the CPU has.
func fakes() { C.redsi_kernels_fakes() }

// take copies and frees a text that C allocated; NULL is "".
func take(text *C.char) string {
	if text == nil {
		return ""
	}
	defer C.free(unsafe.Pointer(text))
	return C.GoString(text)
}
