package tensor

// #include "native/native.h"
import "C"

import (
	"runtime"
	"unsafe"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/cpu"
)

// SetNumThreads sets how many threads one operation may use, for the process: in this Run, and in every later Run, on
// whichever OS thread. It may be called at any time: another Run that is under way keeps the number that it began with.
// Unless SameForAnyThreads, results of matrix products may differ in the last bit between numbers.
func SetNumThreads(n int) { C.redsi_set_num_threads(C.int(n)) }

// NumThreads is how many threads one operation uses.
func NumThreads() int { return int(C.redsi_num_threads()) }

// SameForAnyThreads reports whether what is computed on this processor has the same bytes for any number of threads: on
// Intel's with AVX2 or later, where MKL promises it, and on AMD's with AVX-512, where products are our own.
func SameForAnyThreads() bool { return C.redsi_same_for_any_threads() != 0 }

// SameForAnyRows reports whether a row of a matrix product has the same bytes whatever rows are beside it: on
// AMD's processors with AVX-512, where products are our own.
func SameForAnyRows() bool { return C.redsi_k_wide() != 0 }

// Share calls f on n OS threads at once, which share the process's threads, and returns the first error. For one it
// is f, on the caller's.
func Share(n int, f func() error) error {
	if n < 2 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return f()
	}
	each := max(NumThreads()/n, 1)
	var all errgroup.Group
	for range n {
		all.Go(func() error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			C.redsi_share_threads(C.int(each))
			defer C.redsi_share_threads(0)
			return f()
		})
	}
	return all.Wait()
}

// MultipliesBF16 says whether this processor has instructions for products of BF16, AVX512-BF16 or AMX: others compute them
// of float32, and take longer than for products of F32.
func MultipliesBF16() bool { return cpu.X86.HasAVX512BF16 || cpu.X86.HasAMXBF16 }

// SlowBF16 is what a user should know who has products of a type computed on a device whose processor has no
// instructions for them; "" if it has them.
func SlowBF16(compute DType, device Device) string {
	if compute != BF16 || device.IsCUDA() || MultipliesBF16() {
		return ""
	}
	return `this processor has no instructions for bf16, AVX512-BF16 or AMX: its products are computed of widened numbers, ` +
		`and take longer than products of fp32, in a training 2.4 times as long; precision = "fp32" is the faster one here`
}

// Version is the version of the loaded libtorch, "2.11.0" for example.
func Version() string { return C.GoString(C.redsi_version()) }

// CPUCapability is the instruction set that libtorch computes with on this processor,
// "AVX512" or "AVX2" for example; ATEN_CPU_CAPABILITY may ask for less than there is.
func CPUCapability() string { return text(unsafe.Pointer(C.redsi_cpu_capability())) }
