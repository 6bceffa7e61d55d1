// Package native holds the operations that libtorch has no single fast call for,
// in C++ and C: dropout from a counter, RMS norm, T5 attention over sequences
// without padding, cross entropy of a language-model head; and matrix products for
// processors on which libtorch's are slow (gemm.h); and updates of all parameters at once, for
// cards (multi.h, classes.h). Only package tensor uses it: it calls the functions of native.h, composed.h and autograd.h. It is a
// package of its own because Go compiles all C++ of a package again when any file of the package changes.
//
// oneDNN's products, which libtorch has too (mkldnn::_linear_pointwise), take 0.8 to 1.1
// of the time of gemm.h's, at T5's shapes on one thread of a Xeon with AVX-512. But their
// last bits depend on the number of threads (37 rows of 1024 by 256 columns: two threads
// or more against one), also where MKL is told to keep its own.
//
// What a card computes is composed of libtorch's operations (composed.h): packed rows are padded by
// one gather, attended to by libtorch's memory-efficient kernel in half precision and by products in
// float32, and put back by one gather; without a bias that kernel takes packed rows as they are, by
// cumulative lengths, which it refuses together with a bias. The head's loss holds logits of a slice
// of rows. Nothing of it copies between host and device or waits. A CPU computes the same way in float16 only: its
// bfloat16 is widened by blocks to the kernels' float32 (half.h), and multiplied by libtorch, which gives it to oneDNN.
// Operators that only CUDA has get kernels for the CPU here, for it and for the card of software. docs/card.md says what
// of it has run on a card.
//
// A tensor is a pointer to a torch::Tensor, owned by the caller. A function returns libtorch's error, NULL when there was none.
package native
