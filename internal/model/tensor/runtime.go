package tensor

import (
	"golang.org/x/sys/cpu"

	"github.com/redsi/redsi/internal/model/tensor/native"
)

// SetNumThreads sets how many threads one operation may use, for the process: in
// this Run, and in every one that begins later, on whichever OS thread.
// It may be called at any time: what runs continues with the number that it began with. Where not
// SameForAnyThreads, results of matrix products may differ in the last bit between numbers.
func SetNumThreads(n int) { native.SetNumThreads(n) }

// NumThreads is how many threads one operation uses.
func NumThreads() int { return native.NumThreads() }

// SameForAnyThreads reports whether what is computed on this processor has the same
// bytes for any number of threads: on Intel's with AVX2 or later, where MKL promises it, and
// on AMD's with AVX-512, where products are our own.
func SameForAnyThreads() bool { return native.SameForAnyThreads() }

// MultipliesBF16 says whether this processor has instructions for products of BF16, AVX512-BF16 or AMX: others compute them
// of float32, and take longer than for products of F32.
func MultipliesBF16() bool { return cpu.X86.HasAVX512BF16 || cpu.X86.HasAMXBF16 }

// Version is that of the libtorch that is loaded, "2.11.0" for example.
func Version() string { return native.Version() }

// CPUCapability is the instruction set that libtorch computes with on this processor,
// "AVX512" or "AVX2" for example; ATEN_CPU_CAPABILITY may ask for less than there is.
func CPUCapability() string { return native.CPUCapability() }
