//go:build !notorch

package device

import "github.com/redsi/redsi/internal/tensor"

// UseThreads sets how many threads an operation on the CPU may use from now on, for all
// steps of this process: libtorch and the libraries below it have one such number.
func UseThreads(n int) { tensor.SetNumThreads(n) }

// ThreadsMatter reports whether results here depend on the number of threads, in the
// last bit.
func ThreadsMatter() bool { return !tensor.SameForAnyThreads() }

// Threads is how many an operation on the CPU uses.
func Threads() int { return tensor.NumThreads() }

// Capability is the instruction set that libtorch computes with here, such as "AVX512".
func Capability() string { return tensor.CPUCapability() }
