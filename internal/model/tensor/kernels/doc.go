// Package kernels asks libtorch which operators are called, and whether CUDA has kernels for them: for
// tests, on machines without a card. The CUDA half of libtorch registers its kernels when it is loaded,
// and needs no driver for that.
//
// It must not know which operators redsi calls, nor compute anything.
package kernels
