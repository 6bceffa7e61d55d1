//go:build linux

package kernels

// #cgo CXXFLAGS: -std=c++17 -DREDSI_NATIVE
// #cgo LDFLAGS: -ltorch_cpu -lc10 -lstdc++ -ldl
// #include <stdlib.h>
// #include "kernels.h"
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
func Log(f func()) []string {
	C.redsi_kernels_log_begin()
	names := ""
	func() {
		defer func() { names = take(C.redsi_kernels_log_end()) }()
		f()
	}()
	return strings.Fields(names)
}

// insteadOf is what CUDA calls where a CPU calls an operator that is only a CPU's: all of them must have
// kernels there.
var insteadOf = map[string][]string{
	"aten::_scaled_dot_product_flash_attention_for_cpu": {
		"aten::_scaled_dot_product_efficient_attention", "aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_attention_math"},
	"aten::_scaled_dot_product_flash_attention_for_cpu_backward": {
		"aten::_scaled_dot_product_efficient_attention_backward", "aten::_scaled_dot_product_flash_attention_backward"},
}

// Check returns an error that names each operator that a card could not run: one without a kernel for CUDA,
// composed for every device or its own, or one whose derivative only a CPU has.
func Check(operators []string) error {
	var errs []error
	for _, name := range operators {
		for _, on := range slices.Concat([]string{name}, insteadOf[name]) {
			if on == name && len(insteadOf[name]) > 0 {
				continue
			}
			if err := check(on); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func check(operator string) error {
	kernels := of(operator)
	switch {
	case slices.Contains(kernels, "unknown"):
		return fmt.Errorf("libtorch has no operator %s", operator)
	case !slices.Contains(kernels, "CUDA") && !slices.Contains(kernels, "composite"):
		return fmt.Errorf("%s has no kernel for CUDA", operator)
	case slices.Contains(kernels, "autograd-CPU") && !slices.Contains(kernels, "autograd"):
		return fmt.Errorf("%s has a derivative on the CPU only", operator)
	}
	return nil
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

// Fakes makes operators that fail Check: redsi_test::on_cpu, which has a kernel for the CPU alone, and
// redsi_test::no_grad, whose derivative only the CPU has.
func Fakes() { C.redsi_kernels_fakes() }

// take copies and frees a text that C allocated; NULL is "".
func take(text *C.char) string {
	if text == nil {
		return ""
	}
	defer C.free(unsafe.Pointer(text))
	return C.GoString(text)
}
