//go:build !notorch

package activities

import "github.com/redsi/redsi/internal/tensor"

// UseThreads sets how many threads an operation on the CPU may use, for all steps
// of this process: libtorch and the libraries below it have one such number, so a
// step cannot have its own. It must be called before the first step.
func UseThreads(n int) { tensor.SetNumThreads(n) }
