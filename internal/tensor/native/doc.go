// Package native holds the operations that libtorch has no single fast call for,
// in C++ and C: dropout from a counter, RMS norm, T5 attention over sequences
// without padding, cross entropy of a language-model head; and matrix products for
// processors on which libtorch's are slow (gemm.h). Only package tensor
// uses it. It is a package of its own because Go compiles all C++ of a package
// again when any file of the package changes.
//
// A tensor is a pointer to a torch::Tensor, owned by the caller. A function's
// string is libtorch's error, empty when there was none.
package native
